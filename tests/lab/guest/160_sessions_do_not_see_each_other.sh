#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Eight sessions at once, each with other targets, and with clocks, system calls, families and buffers of its own: each
# has all of its own - as many sleeps as the kernel counted of each thread, each read and write where calls are recorded -
# and nothing of the others', and a ninth, which records everybody and is killed, does not disturb them.
# lab-suite: bookworm
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

rounds=600
options=("-b $((16 << 20))" "-r -b $((16 << 20))" "-S io -b $((32 << 20))" "-e 8 -b $((16 << 20))"
	"-C -f 20 -b $((16 << 20))" "-s -b $((32 << 20))" "-S all -r -b $((64 << 20))" "-n -b $((32 << 20))")
works=(pingpong cross pingpong cross pingpong cross pingpong cross)
pids=()
for s in "${!works[@]}"; do
	read -ra o <<<"${options[s]}"
	# shellcheck disable=SC2016
	start_raw "$s" "${o[@]}" bash -c 'until [ -e "$0" ]; do sleep 0.2; done; exec "$@"' "$LAB_TMP/go" "$load" "${works[s]}" $rounds
	pids+=("$raw_pid")
	[ "$s" != 3 ] || { start_raw killed -a; killed=$raw_pid; }
done
touch "$LAB_TMP/go" # all record now
begun() { [ "$(grep -l '^thread ' "$LAB_OUT"/[0-7] | wc -l)" -ge 1 ]; }
wait_for 120 "the end of a load" begun # in the midst of the others'
kill -KILL "$killed"
for s in "${!works[@]}"; do
	wait "${pids[s]}" || fail "session $s: $(cat "$LAB_OUT/$s")"
done
# exact NAME: of each of its threads as many sleeps as the kernel counted, and each read and write that its session records
exact()
{
	local tid voluntary calls=0 told

	[[ " ${options[$1]} " != *" -S "* ]] || calls=$rounds
	while read -r _ tid _ voluntary _; do
		told=$(awk -v tid="$tid" "$awk_fields"'
		$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
		!on { next }
		$3 == "sched_switch" && v("prev_tid") == tid && v("prev_state") != "0x100" { slept++ }
		$3 == "syscall_io" && v("tid") == tid && v("nr") < 2 { enter[v("nr")]++ }
		$3 == "syscall_exit" && v("tid") == tid && v("nr") < 2 && v("result") == 1 { leave[v("nr")]++ }
		END { print slept + 0, enter[0] + 0, leave[0] + 0, enter[1] + 0, leave[1] + 0 }' "$LAB_TMP/sorted")
		[ "$told" = "$voluntary $calls $calls $calls $calls" ] ||
			fail "session $1, thread $tid: it slept $voluntary times, reads and writes to record $calls each;" \
				"sleeps, reads begun and ended, writes begun and ended in the trace: $told"
		echo "session $1: $tid $told"
	done < <(grep '^thread ' "$LAB_OUT/$1")
}
# threads NAME: those that its own load says it had
threads() { sed -n 's/^thread \([0-9]*\) .*/\1/p' "$LAB_OUT/$1"; }
for s in "${!works[@]}"; do
	own=$(threads "$s" | paste -sd'|')
	for o in "${!works[@]}"; do
		[ "$o" = "$s" ] || threads "$o"
	done >"$LAB_TMP/others"
	others=$(paste -sd'|' "$LAB_TMP/others")
	[ "$(threads "$s" | wc -l)" -ge 2 ] && [ "$(wc -l <"$LAB_TMP/others")" -ge 14 ] || fail "session $s: the loads do not tell their threads"
	[ "$(lost_of "$s")" = 0 ] || fail "session $s: records were lost"
	sort -s -n -k2,2 "$records.$s" >"$LAB_TMP/sorted"
	exact "$s"
	awk -v own="$own" -v others="$others" "$awk_fields"'
	BEGIN {
		n = split(own, t, "|"); for (i = 1; i <= n; i++) mine[t[i]] = 1
		n = split(others, t, "|"); for (i = 1; i <= n; i++) other[t[i]] = 1
	}
	$3 == "sched_switch" && (v("prev_tid") in mine || v("next_tid") in mine) { switches++ }
	$3 == "sched_process_fork" || $3 == "thread_state" { known[v("tid")] = 1 }
	$3 ~ /^sched_(waking|wakeup|wakeup_new|process_exit)$/ && !(v("tid") in known) { print; bad++ }
	# who had the CPU before or after one of mine has a name
	$3 != "sched_switch" && $3 != "task_name" && v("tid") in other { print; bad++ }
	END { print switches " switches"; exit bad > 0 }' "$LAB_TMP/sorted" >"$LAB_OUT/own.$s" || fail "session $s: $(tail -n 3 "$LAB_OUT/own.$s")"
	between_others "$s" >"$LAB_OUT/others.$s" || fail "session $s, switches of others: $(head -n 3 "$LAB_OUT/others.$s")"
	ok "session $s (${options[s]}): $(cat "$LAB_OUT/own.$s")"
done
