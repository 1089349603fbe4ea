#!/bin/bash
# SPDX-License-Identifier: MIT
#
# While a target waits for a CPU, each switch of that CPU is recorded, also between threads that are no targets:
# the same ones, in the same order, as a session beside it has that records all switches.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

mkfifo "$LAB_TMP/gate"
"$reason" spin 40 1 >"$LAB_TMP/busy1" &
busy1=$!
"$reason" spin 40 1 >"$LAB_TMP/busy2" &
busy2=$!
bash -c 'read -r <"$1"; exec "$0" spin 6 1' "$reason" "$LAB_TMP/gate" >"$LAB_TMP/target" &
pid=$!
start_raw some -b $((32 << 20)) -p $pid
some=$raw_pid
start_raw all -a -b $((64 << 20)) -p $pid
all=$raw_pid
echo go >"$LAB_TMP/gate"
wait $pid
stop_raw some $some
stop_raw all $all
kill $busy1 $busy2

# intervals NAME: one line for each wait of the target that began with its being preempted on CPU 1 and ended there;
# before it keeps to that CPU, it may be moved to the other and run there
intervals()
{
	LC_ALL=C sort -s -n -k2,2 "$records.$1" | awk "$awk_fields"'
	$3 ~ /^sched_migrate/ && v("tid") == tid { waits = 0 }
	$1 == 1 && $3 == "sched_switch" {
		if (waits) line = line " " v("prev_tid") ">" v("next_tid")
		if (waits && last != v("prev_tid")) line = line " BROKEN"
		last = v("next_tid")
		if (v("prev_tid") == tid && v("prev_state") == "0x100") { waits = 1; line = v("next_tid") }
		if (v("next_tid") == tid && waits) { print line; waits = 0 }
	}' tid=$pid
}
intervals some >"$LAB_OUT/waits.some"
intervals all >"$LAB_OUT/waits.all"
n=$(wc -l <"$LAB_OUT/waits.some")
diff "$LAB_OUT/waits.all" "$LAB_OUT/waits.some" >"$LAB_OUT/diff" || fail "the waits differ (<: all switches): $(head -n 5 "$LAB_OUT/diff")"
! grep BROKEN "$LAB_OUT/waits.some" || fail "a switch is missing"
[ "$n" -ge 20 ] || fail "only $n waits"
foreign=$(grep -c " $busy1>$busy2\| $busy2>$busy1" "$LAB_OUT/waits.some")
[ "$foreign" -ge 5 ] || fail "hardly any switch between the two that are no targets: $foreign in $n waits"
ok "$n waits, $foreign of them behind both others"

# when nobody waits nothing of the others is recorded
(while :; do /bin/true; done) &
"$reason" spin 30 1 >"$LAB_TMP/busy3" &
busy3=$!
sleep 1000 &
pid=$!
start_raw idle -p $pid
sleep 2
stop_raw idle "$raw_pid"
kill %?true $busy3 $pid 2>/dev/null || kill $busy3 $pid
switches=$(grep -c ' sched_switch ' "$records.idle")
[ "$switches" = 0 ] || fail "$switches switches recorded though no target runs or waits"
ok "no target waits: no switch"
