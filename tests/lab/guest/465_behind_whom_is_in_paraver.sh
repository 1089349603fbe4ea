#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Three threads that want one CPU, and a fourth that is none of the recording's: who had the CPU that a ready thread waits
# for is in Paraver as it is in the report.
# lab-timeout: 120
# lab-suite: bookworm

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

reason=$JIS_BUILD/tests/lab/jisreason
load_module
# It has less of the CPU than each of the three, so that these wait for one another most.
nice -n 5 "$reason" spin 60 0 >"$LAB_TMP/busy" &
busy=$!
"$JIS" record -q --backend kmod -o "$LAB_TMP/trace" -- sh -c "'$reason' spin 3 0 & '$reason' spin 3 0 & '$reason' spin 3 0; wait" \
	>"$LAB_TMP/said" 2>&1 || fail "jis record: status $?: $(cat "$LAB_TMP/said")"
kill $busy
"$JIS" report -q --json "$LAB_TMP/trace" >"$LAB_TMP/report.json" || fail "no report"
"$JIS" export paraver -q "$LAB_TMP/trace" -o "$LAB_TMP/x.prv" || fail "no export"
python3 /lab/job/tree/tests/e2e/checkers/behind.py "$LAB_TMP/x" "$LAB_TMP/report.json" || fail "see above"
ok "$(grep -c : "$LAB_TMP/x.prv") lines"
