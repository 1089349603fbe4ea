#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Faults that wait for the disk, signals, interrupts and idle states, each when it is asked for and only then.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

event_ids='page_fault|block_rq_issue|block_rq_complete|irq_entry|irq_exit|signal_generate|signal_deliver|cpu_frequency|cpu_idle'
# The largest file of some MB that nobody has mapped.
file=$(find /usr/share /usr/lib -xdev -type f -size +300k -size -4000k -printf '%s %p\n' 2>/dev/null | sort -n | awk 'END { print $2 }')
[ -n "$file" ] || fail "no file to map"
try_raw none "$reason" fault "$file"
! grep -E " ($event_ids) " "$records.none" || fail "events nobody asked for"
ok "nothing unless asked for"

# The disk may be faster than the wait for it.
for _ in {1..5}; do
	echo 3 >/proc/sys/vm/drop_caches
	try_raw fault -e 1 "$reason" fault "$file"
	read -r _ tid _ from _ to _ pages _ major _ waits _ < <(grep '^tid' "$LAB_OUT/fault")
	[ "$waits" -lt 10 ] || break
done
told=$(awk "$awk_fields"'$3 == "page_fault" && v("tid") == tid { print v("address"), v("since"), $2 }' tid="$tid" "$records.fault" |
	while read -r address since time; do
		[ $((address)) -ge "$from" ] && [ $((address)) -lt "$to" ] && [ "$since" -le "$time" ] && echo $(((address - from) / 4096))
	done | sort -n | uniq | wc -l)
[ "$major" -ge $((pages / 2)) ] || fail "only $major of $pages pages came from the disk"
# one fault may wait twice
[ "$waits" -ge 10 ] || fail "only $waits waits in $major faults"
if [ "$told" -lt $((waits * 9 / 10)) ] || [ "$told" -gt "$waits" ]; then
	fail "$told waits in faults told, the kernel counted $waits waits in $major faults that read the disk"
fi
# Each was made by an instruction of the program's own, and left the CPU, waiting for the disk, in no system call.
text=$(sed -n 's/^text //p' "$LAB_OUT/fault")
sort -s -n -k2,2 "$records.fault" | awk -v tid="$tid" -v from="$from" -v to="$to" -v text="$text" "$awk_fields"'
function number(hex,   n, i) {
	for (i = 3; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return n
}
BEGIN { split(text, t, " ") }
$3 == "page_fault" && v("tid") == tid {
	a = number(v("address"))
	if (a < from || a >= to) next
	n++
	if (number(v("ip")) < t[1] || number(v("ip")) >= t[2]) { print "elsewhere: " $0; bad++ }
	expected = 1
}
$3 == "sched_switch" && v("prev_tid") == tid {
	if (expected && (v("prev_syscall") != -1 || v("prev_state") !~ /^0x(20)?2$/)) { print "not asleep in a fault: " $0; bad++ }
	asleep += expected; expected = 0
}
END { print n + 0, asleep + 0; exit bad > 0 || n != asleep || !n }' >"$LAB_TMP/asleep" || fail "faults: $(tail -n 3 "$LAB_TMP/asleep")"
ok "$told faults waited, the kernel counted $waits waits and $major faults that read the disk"

try_raw signal -e 8 "$reason" signals 50
tid=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' "$LAB_OUT/signal")
for e in signal_generate signal_deliver; do
	n=$(awk "$awk_fields"'$3 == e && v("tid") == tid && v("signal") == 10 && v("code") == 0 { n++ } END { print n + 0 }' e=$e tid="$tid" "$records.signal")
	[ "$n" = 50 ] || fail "$e: $n of 50 signals"
done
ok "50 signals sent and handled"

# Another reads the disk on the CPU where the program spins: there the disk's own interrupts meet it.
softirqs() { awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) n += $i } END { print n }' /proc/softirqs; }
interrupts() { awk '$1 ~ /^[0-9]+:$/ { print $1 + 0, $3 }' /proc/interrupts; } # of CPU 1, each number
disk=$(findmnt -no SOURCE /)
(until [ -e "$LAB_TMP/enough" ]; do taskset -c 1 "$reason" disk "$disk" 50 >/dev/null || exit; done) &
reads=$!
before=$(softirqs)
interrupts >"$LAB_TMP/interrupts"
try_raw irq -e 4 -b $((16 << 20)) "$reason" spin $((3 * LAB_SLOW)) 1
after=$(softirqs)
echo >>"$LAB_TMP/interrupts"
interrupts >>"$LAB_TMP/interrupts"
touch "$LAB_TMP/enough"
wait $reads || fail "the disk cannot be read"
tid=$(sed -n 's/^tid //p' "$LAB_OUT/irq")
awk "$awk_fields"'
$3 == "irq_entry" { k = $1 " " v("kind"); if (k in open) bad++; open[k] = v("tid") " " v("vector"); n++; if (v("kind") == 1) soft++ }
$3 == "irq_exit" { k = $1 " " v("kind"); if (open[k] != v("tid") " " v("vector")) bad++; delete open[k] }
$3 ~ /^irq_/ && v("tid") != tid && !(v("tid") in mine) { foreign++ }
END { print n + 0, soft + 0, foreign + 0; exit bad > 0 }' tid="$tid" "$records.irq" >"$LAB_TMP/irqs" || fail "entries and exits do not match"
read -r all soft foreign <"$LAB_TMP/irqs"
[ "$foreign" = 0 ] || fail "$foreign of threads that are no targets"
if [ "$soft" -lt 10 ] || [ "$soft" -gt $((after - before)) ]; then
	fail "$soft softirqs told, the machine had $((after - before))"
fi
hard=$(awk "$awk_fields"'
FILENAME == ARGV[1] && !NF { behind = 1; next }
FILENAME == ARGV[1] { had[$1] = behind ? $2 - had[$1] : $2; next }
$3 == "irq_entry" && v("kind") == 2 && $1 == 1 { told[v("vector")]++; n++ }
END {
	for (i in told) if (told[i] > had[i]) { print "number " i ": " told[i] " told, CPU 1 had " had[i] + 0; bad++ }
	print n + 0
	exit bad > 0
}' "$LAB_TMP/interrupts" "$records.irq") || fail "hard interrupts: $hard"
[ "$hard" -ge 10 ] || fail "only $hard hard interrupts: $(diff <(sed '/^$/,$d' "$LAB_TMP/interrupts") <(sed '1,/^$/d' "$LAB_TMP/interrupts"))"
ok "$all interruptions, $soft of them softirqs of the machine's $((after - before)), $hard hard ones, none more often than CPU 1 had it"

try_raw power -e 16 -b $((64 << 20)) "$reason" wakers 100
awk "$awk_fields"'$3 == "cpu_idle" {
	c = v("cpu"); now = v("state") != -1
	if (c in idle && idle[c] == now) bad++
	idle[c] = now; n++
}
END { print n + 0; exit bad > 0 }' "$records.power" >"$LAB_TMP/n" || fail "idle states are not entered and left in turn"
[ "$(cat "$LAB_TMP/n")" -ge 50 ] || fail "$(cat "$LAB_TMP/n") idle states"
ok "$(cat "$LAB_TMP/n") changes of idle states, in and out in turn"

"$raw" -e 0x20 true >"$LAB_OUT/unknown" 2>&1 && fail "an unknown family is taken"
grep -q 'Invalid argument' "$LAB_OUT/unknown" || fail "$(cat "$LAB_OUT/unknown")"
ok "an unknown family is refused"
