#!/bin/bash
# SPDX-License-Identifier: MIT
#
# produced = stored + lost for each type, and the stream itself tells each loss, whether nothing, some or
# most is lost, on both clocks. jisraw checks it; the test makes sure that each case is met.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

for clock in "" -r; do
	try_raw "none$clock" $clock -b $((32 << 20)) "$load" pingpong 2000
	[ "$(lost_of "none$clock")" = 0 ] || fail "lost in a large buffer: $(cat "$LAB_OUT/none$clock")"
	ok "nothing lost: $(tail -n 1 "$LAB_OUT/none$clock")"

	try_raw "some$clock" $clock -l -b "$bytes_smallest" -f 10 "$load" cross 5000
	awk '$3 == "lost_records" { lost++ } $3 == "sched_switch" && lost { n++ } END { exit n < 10 }' \
		"$records.some$clock" || fail "no loss after which the ring was used again: $(cat "$LAB_OUT/some$clock")"
	ok "read after losses: $(tail -n 1 "$LAB_OUT/some$clock")"

	try_raw "most$clock" $clock -n -b "$bytes_smallest" "$load" pingpong 3000
	[ "$(lost_of "most$clock")" -gt 5000 ] || fail "hardly anything lost: $(cat "$LAB_OUT/most$clock")"
	grep -q ' lost_records ' "$records.most$clock" || fail "no loss told"
	ok "read after the stop only: $(tail -n 1 "$LAB_OUT/most$clock")"
done
[ "$(grep -h clock_steps "$LAB_OUT"/* | awk '{ n += $2 } END { print n }')" = 0 ] || echo "clock steps: $(grep clock_steps "$LAB_OUT"/*)"
