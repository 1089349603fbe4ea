#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What doctor says of ftrace's events is what tracefs has; each family it names can be recorded, and each it leaves out
# is refused.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
"$JIS" doctor >said || fail "doctor: $(cat said)"
line=$(grep '^ftrace-events ' said) || fail "not a word of ftrace's events: $(cat said)"
echo "$line"
events=/sys/kernel/tracing/events
[ -d $events ] || events=/sys/kernel/debug/tracing/events
families=$(sed 's/.*for --events: \([^;]*\);.*/\1/' <<<"$line")
has() { case ", $families," in *", $1,"*) ;; *) return 1 ;; esac }

check() { # FAMILY EVENT...: named if all the events are there
	local e there=1
	for e in "${@:2}"; do
		[ -d "$events/$e" ] || there=0
	done
	if [ $there = 1 ]; then has "$1" || fail "$1 is there, doctor has: $families"; else ! has "$1" || fail "$1 is not there, doctor has: $families"; fi
	if has "$1"; then
		"$JIS" record -q --backend ftrace --no-agent --events "$1" -o "$1" -- true || fail "--events $1 is refused"
	else
		expect_status 1 "$JIS" record -q --backend ftrace --no-agent --events "$1" -o "$1" -- true
	fi
}
check block block/block_rq_issue block/block_rq_complete
check irq irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit
check signal signal/signal_generate signal/signal_deliver
check power power/cpu_frequency power/cpu_idle
check fault none # no event tells its end

if [ -d $events/raw_syscalls/sys_enter ]; then want="in part"; else want=no; fi
grep -q "; system calls: $want; " <<<"$line" || fail "system calls are recorded $want"
if [ -d $events/cgroup/cgroup_attach_task ]; then want=", cgroups"; else want=""; fi
grep -q "; targets: processes, threads$want\$" <<<"$line" || fail "targets: processes, threads$want"

# Without rights it says what is missing, and does not end well.
setpriv --reuid 65534 --regid 65534 --clear-groups "$JIS" doctor >nobody && fail "all is well for nobody: $(cat nobody)"
grep -q '^root  *no ' nobody || fail "nobody: $(cat nobody)"
