#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Thousands of wake-ups by a timer while another thread of the same CPU makes recorded calls without a pause:
# every call has its entry and its exit, every wake-up is there, as many as the kernel counted; and at least
# 1,000 of them came inside a probe. Each call finds its two descriptors become other files', so that the probe at its
# entry and that at its exit write two records each: what the descriptor is, and the call (kmod/syscalls.c: enter_record,
# exit_selected). What lies between those two, with the caller interrupted, came while that probe ran.
# lab-timeout: 600

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

block=$JIS_BUILD/tests/lab/jisblock

# Caller and sleeper are on CPU 0, and so are their records, in order. Fields are by their place: there are many.
count='
$1 != 0 { next }
$3 == "task_rename" && $4 == sleeper { on = $6 == "comm=begin" }
$3 == "fd_file" && $4 == process { if (told) astray++; told = 1 }
$3 == "syscall_io" && $4 == caller { enter++; probes += told; told = 0 }
$3 == "syscall_exit" && $4 == caller { leave++; probes += told; told = 0 }
!on { next }
$3 == "sched_switch" && $4 == "prev_" sleeper && $6 == "prev_state=0x1" { slept++ }
$3 == "sched_waking" && $4 == sleeper {
	waking++
	nested += told && $5 == "waker_" caller && ($6 == "context=2" || $6 == "context=4")
}
$3 == "sched_wakeup" && $4 == sleeper { ready++ }
END { print enter + 0, leave + 0, probes + 0, astray + 0, slept + 0, waking + 0, ready + 0, nested + 0 }'
# A slow machine makes few of them at once.
total=0
for round in {1..20}; do
	try_raw nest -S dup3 -b $((256 << 20)) "$block" nest 8000
	[ "$(lost_of nest)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/nest")"
	read -r _ caller _ made < <(grep '^caller ' "$LAB_OUT/nest")
	read -r _ sleeper _ voluntary < <(grep '^sleeper ' "$LAB_OUT/nest")
	awk -v caller="tid=$caller" -v process="pid=$caller" -v sleeper="tid=$sleeper" "$count" "$records.nest" >"$LAB_OUT/counts"
	read -r enter leave probes astray slept waking ready nested <"$LAB_OUT/counts"
	echo "calls $made: entries $enter exits $leave, with a descriptor $probes; slept $voluntary: $slept, waking $waking, ready $ready, nested $nested"
	[ "$enter" = "$made" ] || fail "$made calls were made, $enter entries are recorded"
	[ "$leave" = "$made" ] || fail "$made calls were made, $leave exits are recorded"
	[ "$probes" = $((2 * made)) ] || fail "$made calls with 2 new files each, $probes records of a call come behind one of a file"
	[ "$astray" = 0 ] || fail "$astray descriptors are told not just before the record of a call"
	[ "$slept" = "$voluntary" ] || fail "it slept $voluntary times, $slept are recorded"
	[ "$waking" -ge "$slept" ] || fail "it slept $slept times and was woken $waking times"
	[ "$ready" -ge "$slept" ] || fail "it slept $slept times and was ready $ready times"
	total=$((total + nested))
	[ $total -lt 1000 ] || break
done
[ $total -ge 1000 ] || fail "only $total wake-ups came while a call's probes ran"
ok "nothing lost in $round rounds, $total came inside a probe"
