#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each move of a thread between CPUs is recorded, as many as the kernel itself counted.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

try_raw hop -b $((32 << 20)) "$reason" hop 300
read -r _ tid _ hops _ counted < <(grep '^tid' "$LAB_OUT/hop")
sort -s -n -k2,2 "$records.hop" | awk "$awk_fields"'
$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
on && $3 == "sched_migrate_task" && v("tid") == tid {
	n++
	if (v("orig_cpu") == v("dest_cpu")) bad++
	if (n > 1 && v("orig_cpu") != at) bad++
	at = v("dest_cpu")
}
END { print n + 0; exit bad > 0 }' tid="$tid" >"$LAB_TMP/n" || fail "a move that does not begin where the last one ended"
n=$(cat "$LAB_TMP/n")
[ "$n" -ge "$hops" ] || fail "$n moves recorded, $hops made"
[ "$counted" = -1 ] || [ "$n" = "$counted" ] || fail "$n moves recorded, the kernel counted $counted"
ok "$n moves, the kernel counted $counted"
