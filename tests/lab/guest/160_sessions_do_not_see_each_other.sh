#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two sessions at once with different targets: each has all of its own and nothing of the other's, and one
# that ends does not disturb the other.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

start_raw a -b $((16 << 20)) "$load" pingpong 4000
a=$raw_pid
start_raw b -r -b $((16 << 20)) "$load" cross 4000
b=$raw_pid
start_raw c -a
c=$raw_pid
kill -KILL "$c"
wait "$a" || fail "session a: $(cat "$LAB_OUT/a")"
wait "$b" || fail "session b: $(cat "$LAB_OUT/b")"
for s in a b; do
	own=$(sed -n 's/^thread \([0-9]*\) .*/\1/p' "$LAB_OUT/$s" | paste -sd'|')
	awk "$awk_fields"'
	BEGIN { n = split(own, t, "|"); for (i = 1; i <= n; i++) mine[t[i]] = 1 }
	$3 == "thread_state" || $3 == "sched_process_fork" { mine[v("tid")] = 1 }
	$3 == "sched_switch" && (v("prev_tid") in mine || v("next_tid") in mine) { switches++ }
	$3 ~ /^sched_(waking|wakeup|process_exit)/ && !(v("tid") in mine) { print; bad++ }
	END { print switches " switches"; exit bad > 0 || switches < 4000 }' own="$own" \
		<(grep -E 'thread_state|sched_process_fork' "$records.$s") "$records.$s" >"$LAB_OUT/own.$s" ||
		fail "session $s: $(tail -n 3 "$LAB_OUT/own.$s")"
	between_others $s >"$LAB_OUT/others.$s" || fail "session $s, switches of others: $(head -n 3 "$LAB_OUT/others.$s")"
	ok "session $s: $(cat "$LAB_OUT/own.$s")"
done
