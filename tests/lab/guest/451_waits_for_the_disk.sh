#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that reads the disk itself waits uninterruptibly, for I/O, once a read; each request is issued and
# completed; one that sleeps otherwise does not wait for I/O.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

disk=$(findmnt -no SOURCE /)
n=200
try_raw disk -e 2 -b $((32 << 20)) "$reason" disk "$disk" $n
read -r _ tid _ counted < <(grep '^tid' "$LAB_OUT/disk")
waits=$(sort -s -n -k2,2 "$records.disk" | awk "$awk_fields"'
	$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
	on && $3 == "sched_switch" && v("prev_tid") == tid && v("prev_state") == "0x202" { n++ }
	END { print n + 0 }' tid="$tid")
# a completion may be faster than the wait for it
[ "$counted" -ge 20 ] || fail "$counted waits in $n reads"
[ "$waits" = "$counted" ] || fail "$waits waits for I/O, the kernel counted $counted: $(grep sched_switch "$records.disk" | grep -o 'prev_state=[^ ]*' | sort | uniq -c)"
ok "$waits waits for I/O in $n reads, as the kernel counted"

dev=$((0x$(stat -c %t "$disk") << 20 | 0x$(stat -c %T "$disk")))
awk "$awk_fields"'
$3 == "block_rq_issue" && v("tid") == tid && v("dev") == dev && v("bytes") == 4096 && v("op") == 0 { issued[v("sector")]++ }
$3 == "block_rq_complete" && v("dev") == dev && v("bytes") == 4096 && v("error") == 0 { done[v("sector")]++ }
END {
	for (i = 0; i < n; i++)
		if (!((i * 8) in issued) || !((i * 8) in done)) { print "sector " i * 8; bad++ }
	exit bad > 0
}' tid="$tid" n=$n dev=$dev "$records.disk" >"$LAB_TMP/sectors" ||
	fail "a read without issue or completion at $disk ($dev): $(head -n 3 "$LAB_TMP/sectors") $(grep -m 2 block_rq "$records.disk")"
ok "each of $n reads issued to $disk ($dev) and completed there"

try_raw sleeps "$reason" wakers 20
! awk "$awk_fields"'$3 == "sched_switch" && v("prev_state") == "0x201" { print; n++ } END { exit !n }' "$records.sleeps" ||
	fail "a sleep is said to wait for I/O"
ok "sleeps do not"
