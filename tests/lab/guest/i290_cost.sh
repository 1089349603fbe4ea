#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What recording costs: ns of a pipe round trip (2 switches, 2 wake-ups), and of a system call, untraced, with the
# module, with ftrace.
# Asserts nothing. With ICOUNT=1 (and SMP=1 on bookworm) a ns is a guest instruction and the figures repeat:
#   ICOUNT=1 SMP=1 tests/lab/run.sh trixie i290
# lab-timeout: 1200

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

tracing=/sys/kernel/tracing
# The scheduler does not preempt in the same way in each run: the least is what to compare.
least()	# COMMAND...: the least of 10 runs
{
	local best=999999999 v

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		v=$("$@" | grep -oE '^[0-9]+$')
		[ "$v" -ge "$best" ] || best=$v
	done
	echo "$best"
}
ftrace()	# EVENT...: switched on in an instance with a large buffer
{
	local e

	mkdir -p $tracing/instances/cost
	echo 65536 >$tracing/instances/cost/buffer_size_kb
	echo x86-tsc >$tracing/instances/cost/trace_clock
	for e; do echo 1 >"$tracing/instances/cost/events/$e/enable"; done
}
row()	# NAME NS
{
	echo "$2 $1" >>"$LAB_TMP/rows"
}

sleep 3 # for what the boot left to do
row "untraced" "$(least "$load" rate 1000)"
raw_rate() { "$raw" -C -f 60000 -b $((256 << 20)) "$@" "$load" rate 1000; }
row "module, targets (switch, waking, wakeup)" "$(least raw_rate)"
row "module, CLOCK_MONOTONIC_RAW" "$(least raw_rate -r)"
pool_rate()
{
	rm -rf "$LAB_TMP/trace"
	"$JIS" record -q -o "$LAB_TMP/trace" --backend kmod --flush 60000 --buffer 256M -- \
		"$JIS_BUILD/tests/lab/jispool" "$1" 1000
}
row "module, threads of a program with a pool" "$(least pool_rate rate-bare)"
row "module, the same with two words each" "$(least pool_rate rate)"
start_raw all -b $((64 << 20)) -f 60000 -x all
row "module, all threads" "$(least "$load" rate 1000)"
stop_raw all "$raw_pid"
start_raw idle -b $((64 << 20)) -f 60000 -p 1
row "module, no target runs" "$(least "$load" rate 1000)"
stop_raw idle "$raw_pid"
ftrace sched/sched_switch sched/sched_wakeup
row "ftrace switch, wakeup" "$(least "$load" rate 1000)"
ftrace sched/sched_switch sched/sched_wakeup sched/sched_waking
row "ftrace switch, waking, wakeup" "$(least "$load" rate 1000)"
echo 0 >$tracing/instances/cost/events/enable
rmdir $tracing/instances/cost
row "untraced again" "$(least "$load" rate 1000)"

# table: the rows until now, against the least of those untraced
table()
{
	base=$(awk '/untraced/ { print $1 }' "$LAB_TMP/rows" | sort -n | head -n 1)
	while read -r ns name; do
		printf '%-44s %8s  %+d\n' "$name" "$ns" $((ns - base))
	done <"$LAB_TMP/rows"
	rm "$LAB_TMP/rows"
}

table | tee "$LAB_OUT/cost"

# One call: an entry and an exit. getppid() has no arguments, read() of /dev/zero a descriptor and a size.
raw_calls() { "$raw" -C -f 60000 -b $((256 << 20)) -S "$1" "$load" "$2" 3000; }
for call in getppid read; do
	row "$call, untraced" "$(least "$load" $call 3000)"
	row "$call, module, not selected" "$(least raw_calls lseek $call)"
	row "$call, module" "$(least raw_calls $call $call)"
	ftrace raw_syscalls/sys_enter raw_syscalls/sys_exit
	row "$call, ftrace" "$(least "$load" $call 3000)"
	echo 0 >$tracing/instances/cost/events/enable
	rmdir $tracing/instances/cost
	row "$call, untraced again" "$(least "$load" $call 3000)"
	table
done | tee -a "$LAB_OUT/cost"
