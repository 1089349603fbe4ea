#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The switches recorded of two threads that wake each other are as many as the kernel itself counted,
# voluntary and not; each time a thread is put on a CPU is there; and each time it slept it was woken:
# waking, then ready, then running.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

# count TID: voluntary, involuntary switches off, arrivals on a CPU, wakings, wakeups between the renames
count()
{
	sort -s -n -k2,2 "$records.$1" | awk -v tid="$2" "$awk_fields"'
	$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
	!on { next }
	$3 == "sched_switch" && v("prev_tid") == tid { if (v("prev_state") == "0x100") i++; else vol++ }
	$3 == "sched_switch" && v("next_tid") == tid { a++ }
	$3 == "sched_waking" && v("tid") == tid { wg++ }
	$3 == "sched_wakeup" && v("tid") == tid { wp++ }
	END { print vol + 0, i + 0, a + 0, wg + 0, wp + 0 }'
}

near()	# A B SLACK
{
	[ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]
}

# A thread may be preempted between its rename and its looking at its counters: hence the slack of those.
for how in pingpong cross; do
	try_raw $how -b $((32 << 20)) "$load" $how 3000
	[ "$(lost_of $how)" = 0 ] || fail "$how: records were lost: $(cat "$LAB_OUT/$how")"
	grep '^thread ' "$LAB_OUT/$how" >"$LAB_TMP/threads"
	[ "$(wc -l <"$LAB_TMP/threads")" = 2 ] || fail "$how: not two threads: $(cat "$LAB_OUT/$how")"
	while read -r _ tid _ voluntary _ involuntary _ arrivals; do
		read -r v i a waking wakeup < <(count $how "$tid")
		echo "$how $tid: kernel $voluntary $involuntary $arrivals, recorded $v $i $a, waking $waking ready $wakeup"
		[ "$v" = "$voluntary" ] || fail "$how: $tid slept $voluntary times, $v are recorded"
		near "$i" "$involuntary" 2 || fail "$how: $tid was preempted $involuntary times, $i are recorded"
		near "$a" $((v + i)) 1 || fail "$how: $tid left a CPU $((v + i)) times and got one $a times"
		# The kernel does not count who is preempted on its way to sleep.
		[ "$a" -ge $((arrivals - 3)) ] || fail "$how: $tid got a CPU $arrivals times, $a are recorded"
		if [ "$waking" -lt "$v" ] || [ "$wakeup" -lt "$v" ]; then
			fail "$how: $tid slept $v times but was woken $waking times and ready $wakeup times"
		fi
	done <"$LAB_TMP/threads"
	ok "$how"
done

# Each thread: off asleep -> ready -> on; off preempted -> on. Wake-ups of a thread that is on a CPU change nothing.
sort -s -n -k2,2 "$records.cross" | awk "$awk_fields"'
$3 == "sched_switch" {
	p = v("prev_tid"); n = v("next_tid")
	if (p in state && state[p] != "on") bad(p " leaves the CPU and is " state[p])
	if (n in state && state[n] != "ready") bad(n " gets the CPU and is " state[n])
	state[p] = v("prev_state") == "0x100" ? "ready" : "asleep"
	state[n] = "on"
}
$3 == "sched_wakeup" || $3 == "sched_wakeup_new" { if (state[v("tid")] != "on") state[v("tid")] = "ready" }
function bad(text) { if (text !~ /^0 /) { print $0 ": " text; failed++ } }
END { exit failed > 0 }' >"$LAB_OUT/contradictions" 2>&1 || {
	# foreign threads are woken unseen: only targets count
	pid=$(sed -n 's/^thread \([0-9]*\) .*/\1/p' "$LAB_OUT/cross" | paste -sd'|')
	grep -E ": ($pid) " "$LAB_OUT/contradictions" && fail "states do not follow each other"
}
ok "states follow each other"
