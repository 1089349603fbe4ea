#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Beside the agents of JaCoCo and of a program that uses ByteBuddy, which rewrite the same classes, each call is
# recorded once, and they see what they would: loaded before ours, after it, and with ours attached later; on each
# JDK that is here. Three count the calls: the program, ByteBuddy's code, and the recording.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR"

jars=/usr/share/java
for jar in org.jacoco.agent org.jacoco.core byte-buddy asm asm-commons asm-tree asm-analysis; do
	[ -e "$jars/$jar.jar" ] || skip "no $jar.jar: install libjacoco-java and libbyte-buddy-java"
done
JDK=$(dirname "$(dirname "$(readlink -f "$REAL_JAVA")")")
[ -x "$JDK/bin/javac" ] || skip "no javac beside $JAVA"

jacoco_path=$jars/org.jacoco.core.jar:$jars/asm.jar:$jars/asm-commons.jar:$jars/asm-tree.jar:$jars/asm-analysis.jar
"$JDK/bin/jar" --extract --file "$jars/org.jacoco.agent.jar" jacocoagent.jar
# This JaCoCo does not know sealed classes, which javac makes of enums from 17 on.
"$JDK/bin/javac" --release 16 -cp "$jars/byte-buddy.jar:$jacoco_path" -d classes "$here/java/Calls.java" \
	"$here/java/CallsTold.java" "$here/agents/"*.java
printf 'Premain-Class: BuddyAgent\nClass-Path: file://%s/byte-buddy.jar\nCan-Retransform-Classes: true\n' $jars >manifest
(cd classes && "$JDK/bin/jar" --create --file ../buddy.jar --manifest ../manifest BuddyAgent*.class)
others="-javaagent:$TESTDIR/jacocoagent.jar=sessionid=jis,destfile=$TESTDIR/jacoco.exec,includes=Calls*,excludes=CallsTold:Calls\$Own"
# This ByteBuddy does not know the class files of JDKs after 20 otherwise.
others+=" -javaagent:$TESTDIR/buddy.jar -Dnet.bytebuddy.experimental=true"
methods='Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow,!**.$jacocoInit'

run() { # ORDER JAVA
	case $1 in
	before)
		JAVA_TOOL_OPTIONS=$others "${RECORD[@]}" -q --pool 16M --methods-budget 0 --methods "$methods" -o trace -- \
			"$2" -cp classes CallsTold 5 2 >out 2>err ;;
	after)
		# shellcheck disable=SC2086 # several options
		"${RECORD[@]}" -q --pool 16M --methods-budget 0 --methods "$methods" -o trace -- \
			"$2" $others -cp classes CallsTold 5 2 >out 2>err ;;
	attached)
		rm -f in
		mkfifo in
		# shellcheck disable=SC2086
		"$2" $others -cp classes CallsTold 5 2 wait <in >out 2>err &
		program=$!
		exec 8>in
		wait_for 100 grep -q READY out
		"${RECORD[@]}" -o trace -p $program --pool 16M --methods-budget 0 --methods "$methods" 2>rec.err &
		recorder=$!
		ready() { "$JIS" attach -q -o trace "$program" 2>/dev/null; }
		wait_for 100 ready
		echo >&8
		exec 8>&-
		wait $program || return 1
		wait $recorder || { cat rec.err; return 1; } ;;
	esac
}

while read -r version java; do
	for order in before after attached; do
		rm -rf trace jacoco.exec
		run $order "$java" || { cat err; fail "JDK $version, $order: exit status $?"; }
		! grep -E 'refused|cannot be|Exception|ERROR' err || fail "JDK $version, $order: see above"
		"$JIS" dump trace >dump
		"$REAL_JAVA" -cp "classes:$jacoco_path" JacocoTold jacoco.exec classes 'Calls{,$*}.class' | grep -v ' Calls\$Own' >coverage
		echo "JDK $version, the others $order:"
		python3 "$CHECKERS/methods.py" out dump || fail "JDK $version, $order"
		python3 "$CHECKERS/agents.py" out coverage dump || fail "JDK $version, $order"
	done
done < <(jdks)
