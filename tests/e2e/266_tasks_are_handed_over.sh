#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tasks of executors of each kind: how many, who gave them to whom, how long they waited and ran, how many were
# refused, and how long a worker had none; the program says what it did. From the start and after an attach, on
# every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

# The first task after an attach runs the hooks for the first time, which a JVM that checks each call of JNI takes longer to.
[ "${JIS_TEST_CHECK_JNI:-0}" = 0 ] || export LAB_SLOW=${LAB_SLOW:-3}
read -ra PROGRAM <<<"${JVM_OPTIONS:-} -cp $CLASSES Tasks ${TASKS:-5 20}"
attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }

started() { # NAME JAVA
	"${RECORD[@]}" -q -o "$TESTDIR/$1" -- "$2" -Xcheck:jni "${PROGRAM[@]}" >"$TESTDIR/$1.out" 2>"$TESTDIR/$1.err" ||
		{ cat "$TESTDIR/$1.err"; fail "$1: exit status $?"; }
}

joined() { # NAME JAVA
	local jvm host
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$2" -Dwait=true "${PROGRAM[@]}" <"$TESTDIR/in" >"$TESTDIR/$1.out" 2>"$TESTDIR/$1.err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/$1.out"
	"${RECORD[@]}" -q -o "$TESTDIR/$1" -p $jvm 2>"$TESTDIR/$1.rec" &
	host=$!
	wait_for 60 attached "$TESTDIR/$1" $jvm
	echo >&9
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/$1.err"; fail "$1: the program ended with $?"; }
	wait $host || { cat "$TESTDIR/$1.rec"; fail "$1: jis record ended with $?"; }
}

check() { # NAME: leaves what times differ in NAME.late
	local status=0
	grep -q '^END$' "$TESTDIR/$1.out" || { cat "$TESTDIR/$1.out"; fail "$1: the program did not end"; }
	! grep -v '^POOL\|^TASK\|^IDLE\|^END$\|^READY$' "$TESTDIR/$1.out" || fail "$1: the JVM says something"
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	python3 "$CHECKERS/prv_records.py" "$TESTDIR/$1" "$TESTDIR/$1.prv" 30 31 || fail "$1: events and records differ"
	python3 "$CHECKERS/tasks.py" "$TESTDIR/$1.out" "$TESTDIR/$1.json" "$TESTDIR/$1.prv" >"$TESTDIR/$1.compared" || status=$?
	cat "$TESTDIR/$1.compared"
	[ $status != 1 ] || fail "$1"
	sed -n 's/^late: \(.*\): .* ms, the program says .*/\1/p' "$TESTDIR/$1.compared" | sort >"$TESTDIR/$1.late"
	[ $status = 0 ] || [ -s "$TESTDIR/$1.late" ] || fail "$1: the checker ended with $status"
}

# The program's clock is read a little before and after the hooks: it may be off the CPU between, on a busy host. So
# each time is to be right in one run; counts are in each.
run() { # HOW NAME JAVA
	local try late=''
	for try in 1 2 3 4; do
		"$1" "$2-$try" "$3"
		check "$2-$try"
		if [ $try = 1 ]; then
			late=$(cat "$TESTDIR/$2-$try.late")
		else
			late=$(comm -12 <(echo "$late") "$TESTDIR/$2-$try.late")
		fi
		[ -n "$late" ] || return 0
	done
	fail "$2: times differ, each time: $late"
}

n=0
while read -r version java; do
	run started "jdk$version" "$java"
	run joined "jdk$version-attached" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

# Chosen away, there is none.
"${RECORD[@]}" -q --java -tasks -o "$TESTDIR/none" -- "$JAVA" -cp "$CLASSES" Tasks 2 1 fixed >"$TESTDIR/none.out"
[ "$("$JIS" report -q --json "$TESTDIR/none" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["pools"]))')" = 0 ] ||
	fail "tasks that nobody asked for"
