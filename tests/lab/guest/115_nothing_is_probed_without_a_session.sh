#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The module loaded costs nothing: as long as no session is set up no tracepoint and no function has a probe that
# had none before; and none is left when a session ends, in order or killed.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

# probes: what has probes, as the kernel's own memory and debugfs say it
probes()
{
	"$JIS_BUILD/tests/lab/jistracepoints" || fail "the kernel's tracepoints cannot be looked at" >&2
	awk '{ print $2, $3 }' /sys/kernel/debug/kprobes/list | sort
}
same_as_before()	# WHEN
{
	probes >"$LAB_OUT/now"
	diff "$LAB_TMP/before" "$LAB_OUT/now" || fail "$1: other probes than before the module was loaded"
	ok "$1: as before"
}

probes >"$LAB_TMP/before"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
same_as_before "loaded"
exec 5<>/dev/jis || fail "/dev/jis does not open"
same_as_before "opened"
exec 5>&-

everything=(-x all -a -e 0x1f -S all -b $((16 << 20)))
start_raw ended "${everything[@]}"
probes >"$LAB_OUT/during"
for t in sched_switch sched_wakeup sched_process_exec task_rename sys_enter sys_exit irq_handler_entry softirq_exit \
	timer_expire_entry signal_generate block_rq_issue cgroup_attach_task cpu_idle; do
	grep -q "^$t [1-9]" "$LAB_OUT/during" || fail "$t has no probe in a session that records everything"
done
stop_raw ended "$raw_pid"
same_as_before "a session has ended"

# A recording must be under way when its recorder is killed.
start_raw killed "${everything[@]}"
kill -KILL "$raw_pid"
wait "$raw_pid" 2>/dev/null
same_as_before "a recorder was killed"
