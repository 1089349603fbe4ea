#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that sleeps, or waits for a timer, is woken by a timer; one that waits for a pipe by who writes.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

n=100
try_raw wakers -b $((32 << 20)) "$reason" wakers $n
[ $(($(awk '$1 == "features" { print $2 }' "$LAB_OUT/wakers") & 0x1000)) != 0 ] || fail "the module does not tell sources: $(grep features "$LAB_OUT/wakers")"
who() { sed -n "s/^$1 //p" "$LAB_OUT/wakers"; }
count()	# TID CONTEXT [WAKER]: wakings recorded
{
	awk "$awk_fields"'$3 == "sched_waking" && v("tid") == tid && v("context") == context && v("source") == 0 &&
		(waker == "" || v("waker_tid") == waker) { n++ } END { print n + 0 }' \
		tid="$1" context="$2" waker="${3:-}" "$records.wakers"
}
for t in sleeper timer; do
	got=$(count "$(who $t)" 4)
	# the one that takes too long to come back finds its timer run out without sleeping
	[ "$got" -ge $((n * 8 / 10)) ] || fail "$t: $got wakings by timers, $n waits: $(grep sched_waking "$records.wakers" | grep "tid=$(who $t) " | head -n 5)"
	ok "$t: $got wakings by timers"
	[ "$(count "$(who $t)" 2)$(count "$(who $t)" 1)" = 00 ] || fail "$t: wakings by unnamed interrupts"
done
got=$(count "$(who reader)" 0 "$(who writer)")
[ "$got" -ge $((n * 8 / 10)) ] || fail "reader: $got wakings by the writer of $n writes"
ok "reader: $got wakings by the writer"

# the disk's completions come from its interrupt, or from the softirq it raises; both have numbers
disk=$(findmnt -no SOURCE /)
try_raw disk "$reason" disk "$disk" 200
tid=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' "$LAB_OUT/disk")
awk "$awk_fields"'$3 == "sched_waking" && v("tid") == tid { print v("context"), v("source") }' tid="$tid" \
	"$records.disk" | sort | uniq -c >"$LAB_TMP/sources"
while read -r count context source; do
	case $context in
	2) [ "$count" -lt 20 ] || grep -q "^ *$source:.*${disk##*/dev/}\|^ *$source:.*nvme" /proc/interrupts ||
		fail "interrupt $source is not the disk's: $(grep "^ *$source:" /proc/interrupts)" ;;
	1) [ "$source" -le 9 ] || fail "softirq $source" ;;
	esac
done <"$LAB_TMP/sources"
[ -s "$LAB_TMP/sources" ] || fail "nothing woke the reader of the disk"
ok "disk, by context and source: $(tr '\n' ';' <"$LAB_TMP/sources")"
