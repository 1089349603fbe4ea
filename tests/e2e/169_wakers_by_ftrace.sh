#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# By the ftrace backend, where interrupts are recorded, wakings tell what they come from as 452 has it of the module's: a
# timer, the softirq of the network, the disk's interrupt or softirq, or a thread. Where the kernel dropped records of
# interrupts they say that it is not known, and nothing wrong.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
reason=$BUILD/tests/lab/jisreason
tracing=/sys/kernel/tracing
[ -d $tracing/events ] || tracing=/sys/kernel/debug/tracing
for e in irq/irq_handler_entry irq/softirq_exit timer/hrtimer_expire_entry timer/timer_expire_exit; do
	[ -d $tracing/events/$e ] || skip "this kernel has no event $e"
done
unknown=4294967295 n=200

instances() { find $tracing/instances -maxdepth 1 -name "jis-$1-*" | wc -l; }
wakings() { "$JIS" dump -q --raw --event sched_waking "$1" >"$1.wakings"; }
who() { sed -n "s/^$2 //p" "$1.out"; }
# count NAME TID CONTEXT SOURCE [WAKER]: wakings recorded; "" is any
count() {
	awk -F '[ ,{}]+' 'function v(name, i) { for (i = 1; i < NF; i++) if ($i == name && $(i + 1) == "=") return $(i + 2) }
		v("tid") == tid && (context == "" || v("context") == context) && (source == "" || v("source") == source) &&
		(waker == "" || v("waker_tid") == waker) { n++ } END { print n + 0 }' \
		tid="$2" context="$3" source="$4" waker="${5:-}" "$1.wakings"
}

# One instance of tracefs without interrupts, two with them; none is left.
for how in "" irq; do
	events=() name=plain
	[ -z "$how" ] || { events=(--events "$how") name=$how; }
	"$JIS" record -q --backend ftrace --no-agent "${events[@]}" --buffer 32M -o $name -- "$reason" wakers $n >$name.out &
	recorder=$!
	wait_for 60 test -s $name/kernel/cpu-0
	there=$(instances $recorder)
	wait $recorder || fail "$name: the recording failed"
	[ "$there" = $((1 + ${#events[@]} / 2)) ] || fail "$name: $there instances"
	[ "$(instances $recorder)" = 0 ] || fail "$name: an instance is left"
	"$JIS" info --strict -q $name >$name.info || fail "$name: records were lost"
	wakings $name
done

# Of a killed recorder both go with the next session.
"$JIS" record -q --backend ftrace --no-agent --events irq -o killed -- sleep 60 >killed.out &
recorder=$!
wait_for 60 test -s killed/kernel/cpu-0
kill -KILL $recorder
wait $recorder || true
[ "$(instances $recorder)" = 2 ] || fail "killed: $(instances $recorder) instances"
"$JIS" record -q --backend ftrace --no-agent -o next -- true || fail "next: the recording failed"
[ "$(instances $recorder)" = 0 ] || fail "an instance of a killed recorder is left"

most=$((n * 8 / 10))
for t in sleeper timer; do
	tid=$(who irq $t)
	got=$(count irq "$tid" 4 0)
	[ "$got" -ge $most ] || fail "$t: $got wakings by timers, $n waits: $(grep -m 5 "tid = $tid," irq.wakings)"
	# where none are recorded it is an interrupt, and that is all
	got=$(count plain "$(who plain $t)" 2 $unknown)
	[ "$got" -ge $most ] && [ "$(count plain "$(who plain $t)" 4 "")" = 0 ] || fail "$t: without interrupts recorded: $got wakings by unnamed ones"
done
tid=$(who irq reader) writer=$(who irq writer)
got=$(count irq "$tid" 0 0 "${writer% *}")
[ "$got" -ge $most ] || fail "reader: $got wakings by the writer, of $n writes"
tid=$(who irq receiver)
got=$(count irq "$tid" 1 3) # NET_RX of linux/interrupt.h
[ "$got" -ge $most ] || fail "receiver: $got wakings by the network's softirq, of $n datagrams: $(grep -m 5 "tid = $tid," irq.wakings)"
[ "$(count plain "$(who plain receiver)" 1 $unknown)" -ge $most ] || fail "receiver: without interrupts recorded"

# The disk's completions come from its interrupt, or from the softirq it raises.
head -c 4M /dev/urandom >data
sync data
if dd if=data of=/dev/null bs=4096 count=1 iflag=direct 2>dd.err; then
	awk '/^ *[0-9]+:/ { sub(":", "", $1); print $1 }' /proc/interrupts >interrupts
	"$JIS" record -q --backend ftrace --no-agent --events irq --buffer 32M -o disk -- "$reason" disk data 200 >disk.out || fail "disk: the recording failed"
	tid=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' disk.out) waits=$(sed -n 's/^tid .* waits //p' disk.out)
	wakings disk
	got=$(count disk "$tid" 1 4) # BLOCK
	while read -r irq; do
		got=$((got + $(count disk "$tid" 2 "$irq")))
	done <interrupts
	echo "disk: $got wakings by interrupts and the softirq, $waits waits"
	by_task=$(count disk "$tid" 0 "") # of a disk that a thread answers for
	[ $((got + by_task)) -ge $((waits * 8 / 10)) ] || fail "disk: $got wakings by interrupts, $by_task by threads, of $waits"
fi

# Two threads that send to each other all the time; the recorder stands still until the kernel has dropped many. The program,
# whose own wakings have another ring, begins only then and has the second part of its life when the recorder goes on. All of
# them are on one CPU: the program's interrupts are to fall where some are dropped.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$cpu" python3 - <<'PY' &
import socket, threading
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
for s in a, b:
    s.bind(("127.0.0.1", 0))
def answer():
    while True:
        b.sendto(b.recv(8), a.getsockname())
threading.Thread(target=answer, daemon=True).start()
while True:
    a.sendto(b"x", b.getsockname())
    a.recv(8)
PY
storm=$!
trap 'kill $storm 2>/dev/null || true' EXIT
# shellcheck disable=SC2016 # $0 is the inner shell's
"$JIS" record -q --backend ftrace --no-agent --events irq --buffer 2M -o lossy -- \
	sh -c 'until [ -e go ]; do sleep 0.05; done; exec taskset -c "$1" "$0" wakers 1000' "$reason" "$cpu" >lossy.out &
recorder=$!
wait_for 60 test -s lossy/kernel/cpu-0
kill -STOP $recorder
dropped() { awk '/^dropped events:/ { n += $3 } END { exit n < 1000 }' $tracing/instances/jis-$recorder-*/per_cpu/cpu"$cpu"/stats; }
wait_for 180 dropped
touch go
waited() {
	local program
	program=$(pgrep -P $recorder -x jisreason) &&
		awk '/^voluntary_ctxt_switches/ { n += $2 } END { exit n < 300 }' /proc/"$program"/task/*/status
}
wait_for 60 waited
kill -CONT $recorder
wait $recorder || fail "lossy: the recording failed"
kill $storm
expect_status 3 "$JIS" info --strict -q lossy
wakings lossy
known=0 not_known=0
for what in "sleeper 4 0 2" "timer 4 0 2" "receiver 1 3 1"; do
	read -r t context source context_unknown <<<"$what"
	tid=$(who lossy "$t")
	right=$(count lossy "$tid" "$context" "$source") blank=$(count lossy "$tid" "$context_unknown" $unknown)
	all=$(count lossy "$tid" "" "") by_threads=$(count lossy "$tid" 0 0)
	[ "$all" = $((right + blank + by_threads)) ] ||
		fail "$t: $all wakings, $right right, $blank not known, $by_threads by threads: $(grep "tid = $tid," lossy.wakings | sort -k 10 | uniq -c -f 10 | head -n 9)"
	known=$((known + right)) not_known=$((not_known + blank))
done
echo "with records dropped: $known sources known, $not_known not"
[ $not_known -gt 0 ] && [ $known -gt 0 ] || fail "the gap is not seen: $known known, $not_known not"
