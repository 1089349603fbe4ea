#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process that becomes a target before the start, or while the session runs, is described thread by
# thread: the tids of /proc/PID/task, names, states, and start times as /proc has them.
# lab-timeout: 900
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

mkfifo "$LAB_TMP/in"
"$load" threads 60 <"$LAB_TMP/in" >"$LAB_TMP/tids" &
pid=$!
exec 5>"$LAB_TMP/in"
all_there() { [ "$(wc -l <"$LAB_TMP/tids")" = 61 ]; }
wait_for 60 "61 threads" all_there
sleep 0.3

# what /proc says: tid, state, start time in ticks of 10 ms
proc()
{
	local stat

	for stat in /proc/"$1"/task/*/stat; do
		sed 's/(.*)/comm/' "$stat" | awk '{ print $1, $3 == "S" ? 1 : $3 == "R" ? 0 : $3, $22 }'
	done | sort -n
}

proc "$pid" >"$LAB_TMP/proc"
start_raw dump -p "$pid"
stop_raw dump "$raw_pid"
awk "$awk_fields"'$3 == "thread_state" { print v("tid"), v("state"), int(v("start_time") / 10000000) }' \
	"$records.dump" | sort -n >"$LAB_TMP/dumped"
diff "$LAB_TMP/proc" "$LAB_TMP/dumped" >"$LAB_OUT/diff" || fail "the dump is not what /proc has: $(head "$LAB_OUT/diff")"
ok "$(wc -l <"$LAB_TMP/dumped") threads: tids, states, start times"

awk "$awk_fields"'$3 == "thread_state" && (v("pid") != pid || v("ns_tid") != v("tid") || v("comm") != "jisload") {
	print; bad++ } END { exit bad > 0 }' pid="$pid" "$records.dump" || fail "pid, ns_tid or comm"
ok "pid, ns_tid, comm"

start_raw later -s -p "$pid"
stop_raw later "$raw_pid"
[ "$(grep -c ' thread_state ' "$records.later")" = 61 ] ||
	fail "a target added while recording: $(grep -c ' thread_state ' "$records.later") threads dumped, not 61"
ok "a target added while recording"
exec 5>&-
wait "$pid"

# fits NAME: in time order, a dumped thread leaves a CPU only where the dump has it running, and gets one only
# when the dump, or what followed, has it ready; the first thousands of switches tell
fits()
{
	LC_ALL=C sort -s -n -k2,2 "$records.$1" >"$LAB_TMP/sorted"
	awk "$awk_fields"'
	$3 == "thread_state" { state[v("tid")] = v("state"); cpu[v("tid")] = v("cpu"); seen = 0 }
	++seen > 4000 { exit }
	$3 == "sched_switch" {
		p = v("prev_tid"); n = v("next_tid")
		if (p in state) {
			if (state[p] != 0 || cpu[p] != $1) { print $0 ": " p " is " state[p] " on " cpu[p]; bad++ }
			state[p] = v("prev_state") == "0x100" ? 256 : 1
		}
		if (n in state) {
			if (state[n] != 256) { print $0 ": " n " is " state[n]; bad++ }
			state[n] = 0; cpu[n] = $1
		}
	}
	$3 == "sched_wakeup" && v("tid") in state && state[v("tid")] != 0 { state[v("tid")] = 256 }
	END { exit bad > 0 }' "$LAB_TMP/sorted" >"$LAB_OUT/after" || { cp "$records.$1" "$LAB_OUT/records"; fail "the dump does not fit what follows: $(head -n 5 "$LAB_OUT/after")"; }
}

for what in "burn 600" "cross 1000000000" "pingpong 1000000000"; do
	# shellcheck disable=SC2086 # a command and its argument
	"$load" $what &
	pid=$!
	sleep 0.5
	for ((i = 0; i < (LAB_SLOW > 2 ? 8 : 1); i++)); do
		start_raw fits -n -b $((64 << 20)) -p "$pid"
		sleep 0.05
		stop_raw fits "$raw_pid"
		[ "$(lost_of fits)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/fits")"
		fits fits
	done
	kill "$pid"
	wait "$pid"
	ok "dumps of '$what' fit the switches that follow"
done
