#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Between pause and resume there is no record but the marks, threads born meanwhile are known afterwards,
# and commands out of order are refused.
. "$(dirname "$0")/lib_jisctl.sh"

minirec "$TESTDIR/t" -- sh -c "for i in \$(seq 3000); do [ ! -e $TESTDIR/end ] || break; sleep 0.01; done" >"$TESTDIR/out" &
recorder=$!
wait_for 10 test -S "$TESTDIR/t/.control"
wait_for 10 test -s "$TESTDIR/t/kernel/cpu-0"
expect_status 1 "$JIS" resume "$TESTDIR/t"
expect_status 0 "$JIS" pause "$TESTDIR/t"
expect_status 1 "$JIS" pause "$TESTDIR/t"
sleep 0.5 # a pause in which much would have been recorded
expect_status 0 "$JIS" resume "$TESTDIR/t"
sleep 0.3
touch "$TESTDIR/end"
wait $recorder || fail "the recorder ended with $?"
counts "$TESTDIR/t"
expect_status 1 "$JIS" pause "$TESTDIR/t"
babeltrace2 --clock-seconds "$TESTDIR/t" >"$TESTDIR/all"
python3 - "$TESTDIR/all" <<'PY'
import re, sys
lines = [(float(l[1:l.index("]")]), l) for l in open(sys.argv[1])]
mark = {int(re.search(r"mark = (\d)", l)[1]): t for t, l in lines if "session_mark" in l}
print(mark)
assert mark[3] - mark[2] > 0.4
inside = [l for t, l in lines if mark[2] < t < mark[3] and "clock_sync" not in l]
after = [l for t, l in lines if t > mark[3]]
print(len(inside), len(after))
assert not inside, inside[:3]
assert any("thread_state" in l for l in after), "no dump after the pause"
assert any("sched_switch" in l for l in after)
assert any("sched_process_exit" in l for l in after)
PY
