#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The threads a process has when it becomes a target are dumped with their states, and recorded from
# then on; the recording ends with the process.
. "$(dirname "$0")/lib_jisctl.sh"

mkfifo "$TESTDIR/fifo"
python3 - "$TESTDIR/fifo" <<'PY' &
import sys, threading, time
stop = threading.Event()
def work():
    while not stop.is_set():
        time.sleep(0.005)
threads = [threading.Thread(target=work) for i in range(20)]
for t in threads: t.start()
open(sys.argv[1]).read()
stop.set()
PY
pid=$!
wait_for 10 sh -c "[ \$(ls /proc/$pid/task | wc -l) = 21 ]"
minirec -p $pid "$TESTDIR/t" >"$TESTDIR/out" &
recorder=$!
wait_for 10 test -e "$TESTDIR/t/kernel/cpu-0"
sleep 0.5 # time to record, not a condition
echo >"$TESTDIR/fifo"
wait $recorder || fail "the recorder ended with $?"
wait $pid || true
counts "$TESTDIR/t"
[ "$(records "$TESTDIR/t" thread_state)" = 21 ] || fail "21 threads expected in the dump"
[ "$(records "$TESTDIR/t" sched_process_exit)" -ge 20 ] || fail "the end of the threads is missing"
[ "$(records "$TESTDIR/t" sched_wakeup)" -ge 200 ] || fail "too few wake-ups for 20 threads"
[ "$(records "$TESTDIR/t" target_added "pid=$pid")" = 1 ] || fail "target_added is missing"
