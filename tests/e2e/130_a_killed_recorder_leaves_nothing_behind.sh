#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of a recorder leaves a tracefs instance and a socket; the next session removes them, and leaves none
# itself.
# What was on disk before is recovered.
. "$(dirname "$0")/lib_jisctl.sh"

before=$(instances | sort)
"$TESTPROG/minirec" -b ftrace "$TESTDIR/t" -- sh -c "for i in \$(seq 3000); do [ ! -e $TESTDIR/end ] || break; sleep 0.01; done" >"$TESTDIR/out" 2>&1 &
recorder=$!
wait_for 10 test -s "$TESTDIR/t/kernel/cpu-0"
wait_for 10 sh -c "[ \$(stat -c %s $TESTDIR/t/kernel/recorder) -gt 800 ]"
mine=$(instances | grep "jis-$recorder-") || fail "no instance of recorder $recorder"
socket=$(echo /run/jis/"$recorder"-*)
[ -d "$socket" ] || fail "no directory of recorder $recorder in /run/jis"
kill -9 $recorder
wait $recorder 2>/dev/null || true
[ -d "$mine" ] || fail "the instance has gone by itself: the test is no test"
touch "$TESTDIR/end"
"$TESTPROG/minirec" -b ftrace "$TESTDIR/t2" -- true >/dev/null
[ ! -d "$mine" ] || fail "the instance of the dead recorder is still there"
[ ! -d "$socket" ] || fail "the socket of the dead recorder is still there"
for i in $(instances); do
	grep -qx "$i" <<<"$before" || kill -0 "$(basename "$i" | cut -d- -f2)" || fail "left behind: $i"
done
"$JIS" recover "$TESTDIR/t" || fail "jis recover"
[ "$(records "$TESTDIR/t" sched_switch)" -gt 0 ] || fail "nothing recovered"
[ ! -s "$TESTDIR/babeltrace.err" ] || fail "babeltrace2 complains"
