#!/bin/bash
# SPDX-License-Identifier: MIT
#
# No record of any kind names a thread before another says who that is: with all families, system calls and all
# switches, for processes, cgroups and everything as targets.
# lab-suite: trixie
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

mine=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir "$mine/in" "$mine/in/deep" "$mine/out" || fail "no cgroups below $mine"
# Reads and writes of the disk, signals, births, names, moves, and threads that come and go.
cat >"$LAB_TMP/script" <<EOF
for i in 1 2; do
	echo 3 >/proc/sys/vm/drop_caches
	dd if=/dev/zero of="$LAB_OUT/file" bs=64k count=16 conv=fsync
	sleep 10 & kill -TERM \$!
	(echo \$BASHPID >"$mine/in/cgroup.procs"; "$load" family; echo \$BASHPID >"$mine/out/cgroup.procs"; "$load" pingpong 20)
	(echo \$BASHPID >"$mine/in/deep/cgroup.procs"; exec "$load" cross 20)
	"$sleeper" 3 20
	find /usr/share -name '*.jar' -exec cat {} + >/dev/null
done
wait
rm "$LAB_OUT/file"
exit 0
EOF
busy=(bash "$LAB_TMP/script")

# all_kinds NAME KIND...: these name threads in it
all_kinds()
{
	local name=$1 kind

	shift
	for kind; do
		grep -q " $kind$" "$LAB_OUT/used.$name" || fail "$name: no $kind"
	done
}

sched="sched_switch sched_waking sched_wakeup sched_wakeup_new sched_process_exec sched_process_exit sched_process_free
task_rename thread_attributes"
other="irq_entry irq_exit signal_generate signal_deliver syscall_io syscall_exit syscall_path"
calls=(-S "io,lock,time,file" -e 0x1f -b $((96 << 20)))

try_raw everything -a "${calls[@]}" -C "${busy[@]}"
introduced_first everything
# shellcheck disable=SC2086 # lists
all_kinds everything $sched $other sched_process_fork sched_migrate_task cgroup_attach block_rq_issue
ok "all switches: $(wc -l <"$records.everything") records"

# One that is not forked: a worker of io_uring.
try_raw worker -C "$JIS_BUILD/tests/lab/jisuring"
introduced_first worker
worker=$(sed -n 's/^worker //p' "$LAB_OUT/worker")
[ -n "$worker" ] || fail "there is no worker: $(cat "$LAB_OUT/worker")"
grep -q " thread_state tid=$worker " "$records.worker" || fail "the worker $worker is not introduced"
grep -q " sched_switch .*prev_tid=$worker " "$records.worker" || fail "the worker $worker has not run"
ok "a worker of io_uring"

start_raw anybody "${calls[@]}" -x all
"${busy[@]}" >/dev/null 2>&1 || fail "the load ended with $?"
stop_raw anybody "$raw_pid"
introduced_first anybody
# shellcheck disable=SC2086
all_kinds anybody $sched $other cgroup_attach block_rq_issue
ok "all as targets: $(wc -l <"$records.anybody") records"

start_raw members "${calls[@]}" -x "cgroup:$mine/in"
"${busy[@]}" >/dev/null 2>&1 || fail "the load ended with $?"
stop_raw members "$raw_pid"
introduced_first members
# shellcheck disable=SC2086
all_kinds members $sched cgroup_attach irq_entry syscall_exit
ok "members of a cgroup: $(wc -l <"$records.members") records"
rmdir "$mine/in/deep" "$mine/in" "$mine/out"
