#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flight recorder's process whose threads' names alone are more than what is kept of processes that have ended: its calls are in
# the trace all the same, whether the recording ends while it lives or with it.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
n=7000
check() { # TRACE
	"$JIS" stats -q --csv "$1" >stats.csv
	python3 - stats.csv <<'EOP' || fail "$1"
import csv, sys
calls = [int(r["calls"]) for r in csv.DictReader(open(sys.argv[1])) if "ManyNames.last" in r["method"]]
assert calls == [100], calls
EOP
	# else this test shows nothing
	[ "$(cat "$1"/jvm-*/dict | wc -c)" -gt $((4 * 256 * 1024)) ] || fail "$1: too few names"
}
record=("${RECORD[@]}" -q --flight-recorder --pool 256K --methods 'ManyNames.last')

"${record[@]}" -o ends -- "$REAL_JAVA" -cp "$CLASSES" ManyNames $n >out 2>err || { cat err; fail "exit status $?"; }
check ends

mkfifo in
: >out
"$REAL_JAVA" -cp "$CLASSES" ManyNames $n wait <in >out 2>err &
jvm=$!
exec 9>in
wait_for 60 grep -q READY out
"${record[@]}" -o lives -p $jvm 2>rec.err &
recorder=$!
attached() { "$JIS" attach -q -o lives $jvm 2>/dev/null; }
wait_for 60 attached
echo >&9
wait_for 60 grep -q DONE out
kill -INT $recorder
wait $recorder || { cat rec.err; fail "the recorder ended with $?"; }
exec 9>&-
wait $jvm || { cat err; fail "the program ended with $?"; }
check lives
