#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Policy, priority, nice value and affinity of a thread are told as it is born, and again after each change, in
# order, none too many.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

# shellcheck disable=SC2016 # for that shell
try_raw attributes -C bash -c 'exec "$0" attributes' "$reason"
sed -n 's/^attributes //p' "$LAB_OUT/attributes" >"$LAB_TMP/said"
tid=$(awk 'NR == 1 { print $1 }' "$LAB_TMP/said")
awk "$awk_fields"'$3 == "thread_attributes" && v("tid") == tid {
	print $4, $5, $6, $7, $8, $9 }' tid="$tid" <(sort -s -n -k2,2 "$records.attributes") |
	sed 's/^tid=//' >"$LAB_TMP/told"
diff "$LAB_TMP/said" "$LAB_TMP/told" || fail "what the thread said of itself (<) is not what was told (>)"
ok "$(wc -l <"$LAB_TMP/told") changes, each told once"

# The other backend of truth: what /proc says of each thread of this shell now.
start_raw dump -p $$
stop_raw dump "$raw_pid"
awk "$awk_fields"'$3 == "thread_attributes" { print v("tid"), v("policy"), v("prio"), v("nice"), v("nr_cpus"); n++ }
END { exit n != 1 }' "$records.dump" >"$LAB_TMP/dumped" || fail "not one record of attributes with the dump: $(cat "$LAB_TMP/dumped")"
read -r -a stat </proc/$$/stat
[ "$(cat "$LAB_TMP/dumped")" = "$$ ${stat[40]} $((stat[17] + 100)) ${stat[18]} $(nproc)" ] ||
	fail "dumped $(cat "$LAB_TMP/dumped"), /proc has policy ${stat[40]} priority ${stat[17]} nice ${stat[18]}"
ok "with the dump: $(cat "$LAB_TMP/dumped")"
