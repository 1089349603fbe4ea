#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each chosen method that is left as it is is told by name and reason, by the dry run and by a recording: all that the JDK's
# class files mark for the VM, java.lang.Object, the probes, classes in which the JVM switches stacks, hidden classes
# and those of lambdas, and what the JVM refuses to rewrite; no other is. Of the others the dictionary has source file and
# lines as javap has. On every JDK that is here.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"

printf 'Premain-Class: MethodsLeft\nCan-Retransform-Classes: true\n' >MANIFEST.MF
python3 - "$CLASSES" <<'END'
import sys, zipfile
with zipfile.ZipFile("left.jar", "w") as jar:
    jar.write("MANIFEST.MF", "META-INF/MANIFEST.MF")
    for name in ("MethodsLeft", "MethodsLeft$Damage"):
        jar.write(f"{sys.argv[1]}/{name}.class", name + ".class")
END
JAVAP=$(dirname "$(readlink -f "$REAL_JAVA")")/javap
[ -x "$JAVAP" ] || skip "no javap beside $REAL_JAVA"
list='annotation:jdk.internal.misc.ScopedMemoryAccess$Scoped,java.lang.Object,java.lang.JProbe$,java.lang.VirtualThread'
list+=',jdk.internal.vm.Continuation,MethodsLeft**'
marked=
for mark in Hidden IntrinsicCandidate ReservedStackAccess ChangesCurrentThread JvmtiMountTransition; do
	marked+=annotation:jdk.internal.vm.annotation.$mark,
done
refused='MethodsLeft$Refused.refused(I)I  not traced: the JVM refuses to rewrite its class (JVMTI error 60)'

# dry_late: the JVM is there, and a dry run of it begins.
dry_late() { # JAVA
	: >out
	rm -f in
	mkfifo in
	"$1" -javaagent:left.jar -cp "$CLASSES" MethodsLeft files <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 60 grep -q READY out
	jvm=$(jvm_below $program)
	record_start trace -p "$jvm" --methods "java.lang.Object,MethodsLeft**" --methods-dry-run >late
	ready() { "$JIS" attach -q -o trace "$jvm" 2>/dev/null; }
	wait_for 60 ready
	echo >&8
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
	wait "$recorder" || { cat rec.err; fail "the recorder ended with $?"; }
}

# recorded METHODS ON COMMAND...: a recording, in which further methods are switched on.
recorded() {
	local methods=$1 on=$2
	shift 2
	rm -rf trace in
	mkfifo in
	: >out
	"${RECORD[@]}" --methods "$methods" -o trace -- "$@" <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 60 grep -q READY out
	"$JIS" methods -q -o trace --on "$on" "$(jvm_below $program)"
	echo >&8
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
	"$JIS" methods --list trace >list
}

for line in "${JDKS[@]}"; do
	read -r version java <<<"$line"
	echo "== $version"
	rm -rf files trace
	mkdir files
	"${RECORD[@]}" -q --methods "annotation:jdk.internal.vm.annotation.*,$list" --methods-dry-run -o trace -- \
		"$java" -cp "$CLASSES" MethodsLeft files </dev/null >dry 2>err || { cat err; fail "dry: exit status $?"; }
	python3 "$CHECKERS/left.py" dry files dry || fail "the dry run"
	"$JIS" dump -q --raw trace >dump
	"$JAVAP" -p -l -s files/*.class >javap 2>javap.err || { head javap.err; fail "javap fails"; }
	python3 "$CHECKERS/methods_about.py" javap dump dry 1000 || fail "the dictionary"

	recorded "$marked$list,!MethodsLeft\$Refused,!MethodsLeft\$Kept" 'MethodsLeft$Refused' "$java" -javaagent:left.jar -cp "$CLASSES" \
		MethodsLeft files
	python3 "$CHECKERS/left.py" list files out only || fail "the recording"
	grep -qxF "$refused" list || { grep -F '$Refused' list; fail "a class that the JVM refused is not told"; }
	"$JIS" dump --event method_refused trace >dump
	grep -qF 'MethodsLeft$Refused.refused' dump || fail "dump does not tell it"
	[ "$(wc -l <dump)" = "$(grep -c ' not traced: ' list)" ] || fail "dump tells others"

	# Where others' damage comes before our agent; what has been traced, and still is, is not told.
	JAVA_TOOL_OPTIONS=-javaagent:left.jar recorded 'MethodsLeft$Kept.kept' 'MethodsLeft$Kept,MethodsLeft$Refused.refused' \
		"$java" -cp "$CLASSES" MethodsLeft
	grep -qxF "$refused" list || { cat list; fail "a class damaged before is not told"; }
	grep -q '^MethodsLeft$Kept.more(I)I  not traced: the JVM refuses' list || { cat list; fail "a further method is not told"; }
	! grep '^MethodsLeft$Kept.kept.*not traced' list || fail "what is traced is told as left"
	[ "$(counts trace)" = 'MethodsLeft$Kept.kept 2' ] || { counts trace; fail "what was traced is no more"; }

	rm -rf trace
	dry_late "$java"
	grep -qxF "$refused" late || { cat late; fail "the dry run does not tell a class that the JVM refused"; }
	while read -r what name; do
		grep -qF "$name.applyAsInt(I)I  not traced: its class is hidden" late ||
			{ cat late; fail "the dry run of a JVM that is there does not tell the $what $name"; }
	done < <(grep '^HIDDEN\|^LAMBDA' out)
	[ "$(grep -c '^java.lang.Object.* not traced: java.lang.Object is never rewritten$' late)" -ge 4 ] || fail "Object is not told"
done
