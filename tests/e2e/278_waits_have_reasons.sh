#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the program waited for is what the report says: by thread and reason, by lock with owner and waker, with no
# contradiction and no impossible order; and the same in Paraver and in collapsed stacks. On every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
check() { # NAME JAVA
	"${RECORD[@]}" -q --stacks 'blocked>1ms' -o "$TESTDIR/$1" -- "$2" "$OPENS" -cp "$CLASSES" Waits 4 25 \
		>"$TESTDIR/$1.out" 2>"$TESTDIR/$1.err" || { cat "$TESTDIR/$1.err"; fail "$1: exit status $?"; }
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	python3 "$CHECKERS/reasons.py" "$TESTDIR/$1.out" "$TESTDIR/$1.json" || fail "$1"
	"$JIS" report -q "$TESTDIR/$1" >"$TESTDIR/$1.report"
	grep -q 'monitor Waits$Thing; held by main' "$TESTDIR/$1.report" || fail "$1: the report names no owner"

	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	grep -q '^41 Blocked: monitor$' "$TESTDIR/$1.pcf" || fail "$1: no state of monitors"
	# The JVM starts, is initialised, ends; the thread that was jis executed it.
	python3 "$CHECKERS/prv_records.py" "$TESTDIR/$1" "$TESTDIR/$1.prv" 03+3 05 || fail "$1: events and records differ"

	"$JIS" export collapsed -q --off-cpu "$TESTDIR/$1" >"$TESTDIR/$1.collapsed"
	grep -q ';java.lang.Thread.sleep.*;\[sleep\] [0-9]*$' "$TESTDIR/$1.collapsed" || fail "$1: no stack of a sleep"
	"$JIS" export collapsed -q --off-cpu --by-reason "$TESTDIR/$1" >"$TESTDIR/$1.by"
	python3 "$CHECKERS/collapsed.py" "$TESTDIR/$1.json" "$TESTDIR/$1.collapsed" "$TESTDIR/$1.by" || fail "$1: collapsed stacks hold another time"
	! grep -v '^[^;]*\(;[^;]*\)*;\[[^;]*\] [0-9]*$' "$TESTDIR/$1.collapsed" || fail "$1: lines of another shape"
}
n=0
while read -r version java; do
	check "jdk$version" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
