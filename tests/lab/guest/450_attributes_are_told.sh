#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Policy, priority, nice value and affinity of a thread are told as it is born, and again after each change, in
# order, none too many: when it changes them itself, when another process does while it sleeps, and when a thread that
# waits for its mutex lends it a priority.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

# told HOW CHANGES: so many are said, and told alike
told()
{
	local n

	# shellcheck disable=SC2016 # for that shell
	try_raw "$1" -C bash -c 'exec "$0" "$1"' "$reason" "$1"
	sed -n 's/^attributes //p' "$LAB_OUT/$1" | uniq >"$LAB_TMP/said"
	tid=$(awk 'NR == 1 { print $1 }' "$LAB_TMP/said")
	awk "$awk_fields"'$3 == "thread_attributes" && v("tid") == tid {
		print $4, $5, $6, $7, $8, $9 }' tid="$tid" <(sort -s -n -k2,2 "$records.$1") |
		sed 's/^tid=//' >"$LAB_TMP/told"
	diff "$LAB_TMP/said" "$LAB_TMP/told" || fail "$1: what the thread said of itself (<) is not what was told (>)"
	n=$(wc -l <"$LAB_TMP/told")
	[ "$n" = "$2" ] || fail "$1: $n changes and not $2: $(cat "$LAB_OUT/$1")"
	ok "$1: $n, each told once: $(cut -d' ' -f2- "$LAB_TMP/told" | paste -sd,)"
}
told attributes 7
told attributed 9 # of 10: of what is as it was nothing is told
for policy in 1 2 3 5 6; do
	grep -q " policy=$policy " "$LAB_TMP/told" || fail "no policy $policy"
done
told boosted 3
sed -n 2p "$LAB_TMP/told" | grep -q ' policy=0 prio=79 ' || fail "no lent priority: $(cat "$LAB_TMP/told")"

# The other backend of truth: what /proc says of each thread of this shell now. One that was seen at work before the dump
# came to it is told twice.
start_raw dump -p $$
stop_raw dump "$raw_pid"
awk "$awk_fields"'$3 == "thread_attributes" { print v("tid"), v("policy"), v("prio"), v("nice"), v("nr_cpus") }' "$records.dump" |
	sort -u >"$LAB_TMP/dumped"
[ "$(wc -l <"$LAB_TMP/dumped")" = 1 ] || fail "not one record of attributes with the dump: $(cat "$LAB_TMP/dumped")"
read -r -a stat </proc/$$/stat
[ "$(cat "$LAB_TMP/dumped")" = "$$ ${stat[40]} $((stat[17] + 100)) ${stat[18]} $(nproc)" ] ||
	fail "dumped $(cat "$LAB_TMP/dumped"), /proc has policy ${stat[40]} priority ${stat[17]} nice ${stat[18]}"
ok "with the dump: $(cat "$LAB_TMP/dumped")"
