#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A server that accepts, polls and works in threads of its own, and its client: their connections, requests,
# bytes and hand-overs are those the program counts itself, in the report and in Paraver.
. "$(dirname "$0")/lib.sh"
need_root

n=0
for numbers in "8 5 3" "1 40 2" "60 3 8"; do
	n=$((n + 1))
	read -ra args <<<"$numbers"
	"${RECORD[@]}" -q --syscalls net,io -o "$TESTDIR/t$n" -- "$TESTPROG/handover" "${args[@]}" \
		>"$TESTDIR/said$n" || fail "the recording failed"
	"$JIS" info --strict "$TESTDIR/t$n" >"$TESTDIR/info$n" || { cat "$TESTDIR/info$n"; fail "records were lost"; }
	"$JIS" report -q --json "$TESTDIR/t$n" >"$TESTDIR/$n.json"
	"$JIS" export paraver -q "$TESTDIR/t$n" -o "$TESTDIR/$n.prv"
	python3 "$CHECKERS/prv_check.py" "$TESTDIR/$n.prv" || fail "the Paraver files break a rule"
	python3 "$CHECKERS/handover.py" "$TESTDIR/said$n" "$TESTDIR/$n.json" "$TESTDIR/$n.prv" || fail "$numbers"
done
"$JIS" report -q "$TESTDIR/t1" >"$TESTDIR/text"
grep -q '^connections: 36 (18 accepted, 18 connected, 0 there before), 36 closed' "$TESTDIR/text" ||
	fail "the report does not tell the connections"
grep -q '^requests: 70, 50 hand-overs to another thread, 20 requests without' "$TESTDIR/text" ||
	fail "the report does not tell the hand-overs"
grep -q 'socket poller \[[0-9]*\] -> worker' "$TESTDIR/text" || fail "the report names no pair"

# A window shows what is in it.
"$JIS" report -q --json --to 0.001ms "$TESTDIR/t1" >"$TESTDIR/window.json"
python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["connections"]; sys.exit(c["bytes_in"] + c["requests"])' \
	"$TESTDIR/window.json" || fail "a window shows what is outside of it"
