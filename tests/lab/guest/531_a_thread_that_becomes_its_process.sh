#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread as target that executes a program takes its process's number, and is the target as before: its exec
# and each of its switches is there, and it is introduced under its new number before that is used.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

all=(1 2 3 4 5 6 7 8 9 10 11 12)
targets=()
pids=()
for i in "${all[@]}"; do
	"$JIS_BUILD/tests/lab/jistakeover" "$sleeper" 0 100 >"$LAB_OUT/taken$i" 2>&1 &
	pids[i]=$!
	wait_for 60 "thread $i" grep -q '^ready' "$LAB_OUT/taken$i"
	threads[i]=$(threads_of "taken$i")
	targets+=(-x "thread:${threads[i]}")
done
start_raw taken "${targets[@]}"
kill -USR1 "${pids[@]}"
for i in "${all[@]}"; do
	wait "${pids[i]}" || fail "process $i ended with $?"
done
stop_raw taken "$raw_pid"

for i in "${all[@]}"; do
	pid=${pids[i]}
	grep -q " sched_process_exec tid=$pid old_tid=${threads[i]} pid=$pid .*jissleep" "$records.taken" ||
		fail "the exec of ${threads[i]}, now $pid, is missing"
	grep -q " sched_process_exit tid=$pid " "$records.taken" || fail "the end of $pid is missing"
	all_there taken "taken$i"
done
introduced_first taken
ok "${#all[@]} threads that became their processes"
