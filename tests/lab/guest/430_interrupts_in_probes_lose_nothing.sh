#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Thousands of wake-ups by a timer while another thread of the same CPU makes recorded calls without a pause:
# every call has its entry and its exit, every wake-up is there, as many as the kernel counted; and at least
# 1,000 of them came between the record of an entry and that of its exit, where the probes are.
# lab-timeout: 600

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

block=$JIS_BUILD/tests/lab/jisblock

# A slow machine makes few of them at once.
total=0
for round in {1..20}; do
	try_raw nest -S getppid -b $((256 << 20)) "$block" nest 12000
	[ "$(lost_of nest)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/nest")"
	read -r _ caller _ made < <(grep '^caller ' "$LAB_OUT/nest")
	read -r _ sleeper _ voluntary < <(grep '^sleeper ' "$LAB_OUT/nest")
	sort -s -n -k2,2 "$records.nest" | awk -v caller="$caller" -v sleeper="$sleeper" "$awk_fields"'
	$3 == "task_rename" && v("tid") == sleeper { on = v("comm") == "begin" }
	$3 == "syscall_enter" && v("tid") == caller { enter++; inside = 1 }
	$3 == "syscall_exit" && v("tid") == caller { leave++; inside = 0 }
	!on { next }
	$3 == "sched_switch" && v("prev_tid") == sleeper && v("prev_state") == "0x1" { slept++ }
	$3 == "sched_waking" && v("tid") == sleeper { waking++; if (inside && v("waker_tid") == caller && (v("context") == 2 || v("context") == 4)) nested++ }
	$3 == "sched_wakeup" && v("tid") == sleeper { ready++ }
	END { print enter + 0, leave + 0, slept + 0, waking + 0, ready + 0, nested + 0 }' >"$LAB_OUT/counts"
	read -r enter leave slept waking ready nested <"$LAB_OUT/counts"
	echo "calls $made: entries $enter exits $leave; slept $voluntary: $slept, waking $waking, ready $ready, nested $nested"
	[ "$enter" = "$made" ] || fail "$made calls were made, $enter entries are recorded"
	[ "$leave" = "$made" ] || fail "$made calls were made, $leave exits are recorded"
	[ "$slept" = "$voluntary" ] || fail "it slept $voluntary times, $slept are recorded"
	[ "$waking" -ge "$slept" ] || fail "it slept $slept times and was woken $waking times"
	[ "$ready" -ge "$slept" ] || fail "it slept $slept times and was ready $ready times"
	total=$((total + nested))
	[ $total -lt 1000 ] || break
done
[ $total -ge 1000 ] || fail "only $total wake-ups came while a call's probes ran"
ok "nothing lost in $round rounds, $total nested"
