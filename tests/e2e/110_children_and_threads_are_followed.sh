#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Processes and threads a target starts become part of the recording, without one when it is not asked
# for; each birth has its death, an exec its name.
. "$(dirname "$0")/lib_jisctl.sh"

minirec "$TESTDIR/all" -- sh -c 'for i in $(seq 200); do /bin/true; done; (sleep 0.1 & sleep 0.1; wait)' \
	>/dev/null
counts "$TESTDIR/all"
forks=$(records "$TESTDIR/all" sched_process_fork)
exits=$(records "$TESTDIR/all" sched_process_exit)
execs=$(records "$TESTDIR/all" sched_process_exec)
[ "$forks" -ge 202 ] || fail "$forks births, 202 or more expected"
[ "$exits" = $((forks + 1)) ] || fail "$exits exits of $forks children and their parent"
[ "$execs" -ge 203 ] || fail "$execs execs"
[ "$(babeltrace2 "$TESTDIR/all" | grep sched_process_exec | grep -c '/true"')" = 200 ] || fail "execs of true"
[ "$(manifest "$TESTDIR/all" processes | grep -o "'pid'" | wc -l)" = $((forks + 1)) ] || fail "processes in the manifest"

minirec -n "$TESTDIR/one" -- sh -c '/bin/true; /bin/true; exit 0' >/dev/null
[ "$(records "$TESTDIR/one" sched_process_fork)" = 0 ] || fail "a child was recorded"
[ "$(records "$TESTDIR/one" sched_process_exit)" = 1 ] || fail "one exit expected"

minirec -n "$TESTDIR/threads" -- "$WITNESS" 8 10 10 >/dev/null
[ "$(records "$TESTDIR/threads" sched_process_fork)" = 16 ] || fail "16 threads expected"
[ "$(records "$TESTDIR/threads" sched_process_exit)" = 17 ] || fail "17 exits expected"
