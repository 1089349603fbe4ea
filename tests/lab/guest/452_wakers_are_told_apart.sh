#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that sleeps, or waits for a timer, is woken by a timer; one that waits for a pipe by who writes, on that one's
# CPU; one that waits for a datagram by the softirq of the network, which ran on the sender; one that reads the disk by the
# disk's interrupt, or the softirq that it raises.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

n=100
try_raw wakers -b $((32 << 20)) "$reason" wakers $n
[ $(($(awk '$1 == "features" { print $2 }' "$LAB_OUT/wakers") & 0x1000)) != 0 ] || fail "the module does not tell sources: $(grep features "$LAB_OUT/wakers")"
who() { sed -n "s/^$1 //p" "$LAB_OUT/wakers"; }
count()	# TID CONTEXT SOURCE [WAKER [CPU]]: wakings recorded
{
	awk "$awk_fields"'$3 == "sched_waking" && v("tid") == tid && v("context") == context && v("source") == source &&
		(waker == "" || v("waker_tid") == waker) && (cpu == "" || $1 == cpu) { n++ } END { print n + 0 }' \
		tid="$1" context="$2" source="$3" waker="${4:-}" cpu="${5:-}" "$records.wakers"
}
for t in sleeper timer; do
	got=$(count "$(who $t)" 4 0)
	# the one that takes too long to come back finds its timer run out without sleeping
	[ "$got" -ge $((n * 8 / 10)) ] || fail "$t: $got wakings by timers, $n waits: $(grep sched_waking "$records.wakers" | grep "tid=$(who $t) " | head -n 5)"
	ok "$t: $got wakings by timers"
	[ "$(count "$(who $t)" 2 0)$(count "$(who $t)" 1 0)" = 00 ] || fail "$t: wakings by unnamed interrupts"
done
read -r writer cpu < <(who writer)
got=$(count "$(who reader)" 0 0 "$writer" "$cpu")
[ "$got" -ge $((n * 8 / 10)) ] || fail "reader: $got wakings by the writer, on CPU $cpu, of $n writes"
ok "reader: $got wakings by the writer on CPU $cpu"
[ "$(count "$(who reader)" 0 0 "$writer")" -le $((got + n / 50)) ] || fail "reader: wakings by the writer on another CPU"
# 3 is NET_RX of linux/interrupt.h; a CPU with much to do leaves it to its ksoftirqd
got=$(count "$(who receiver)" 1 3 "" "$cpu")
[ "$got" -ge $((n * 8 / 10)) ] || fail "receiver: $got wakings by the network's softirq on CPU $cpu, of $n datagrams: $(
	grep sched_waking "$records.wakers" | grep "tid=$(who receiver) " | head -n 5)"
[ "$(count "$(who receiver)" 1 3 "$writer" "$cpu")" -ge $((n / 2)) ] || fail "receiver: the softirq did not run on the sender"
ok "receiver: $got wakings by the network's softirq"

# the disk's completions come from its interrupt, or from the softirq it raises; both have numbers
disk=$(findmnt -no SOURCE /)
try_raw disk "$reason" disk "$disk" 200
tid=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' "$LAB_OUT/disk")
awk "$awk_fields"'$3 == "sched_waking" && v("tid") == tid { print v("context"), v("source") }' tid="$tid" \
	"$records.disk" | sort | uniq -c >"$LAB_TMP/sources"
by_disk=0 other=0
while read -r count context source; do
	case $context:$source in
	2:*)
		by_disk=$((by_disk + count))
		[ "$count" -lt 20 ] || grep -q "^ *$source:.*${disk##*/dev/}\|^ *$source:.*nvme" /proc/interrupts ||
		fail "interrupt $source is not the disk's: $(grep "^ *$source:" /proc/interrupts)" ;;
	1:4) by_disk=$((by_disk + count)) ;; # BLOCK
	*) other=$((other + count)) ;;
	esac
done <"$LAB_TMP/sources"
waits=$(sed -n 's/^tid .* waits //p' "$LAB_OUT/disk")
[ $by_disk -ge $((waits * 8 / 10)) ] && [ "$waits" -ge 20 ] ||
	fail "the disk's interrupt and softirq woke it $by_disk times of $waits, others $other: $(tr '\n' ';' <"$LAB_TMP/sources")"
ok "disk, by context and source: $(tr '\n' ';' <"$LAB_TMP/sources")"
