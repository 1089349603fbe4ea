#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The views of Paraver ask for what traces have: event types, states, tags; each is told of in docs/paraver.md.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
cd "$TESTDIR" || exit 1
top=$(cd "$here/../.." && pwd)
"$BUILD/tests/bench/gentrace" --out trace --kernel-streams 2 --user-streams 2 --threads 4 --events 10000 >said || fail "no trace"
"$JIS" export paraver -q trace -o x.prv || fail "no export"
python3 "$CHECKERS/cfg_check.py" "$top/paraver-export/cfg" x.pcf "$top/docs/paraver.md" || fail "see above"

# It finds what is wrong.
cp -r "$top/paraver-export/cfg" cfg
sed -i 's/^window_filter_module evt_type 1 77000030/window_filter_module evt_type 1 77000032/' cfg/tasks.cfg
sed -i 's/{ 1, { 1 1.000000 } }/{ 1, { 1 3.000000 } }/' cfg/parallelism.cfg
sed -i '/^Analyzer2D.ControlWindow/d' cfg/lock_time.cfg
cp cfg/runs.cfg cfg/untold.cfg
python3 "$CHECKERS/cfg_check.py" cfg x.pcf "$top/docs/paraver.md" >wrong && fail "faults are not found"
for name in tasks parallelism lock_time untold; do
	grep "^$name: " wrong || fail "the fault of $name is not found: $(cat wrong)"
done
