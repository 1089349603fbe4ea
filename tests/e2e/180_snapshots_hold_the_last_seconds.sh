#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flight recorder's snapshot holds the last seconds, from both sides, while recording goes on: from the cut on, which
# its manifest tells, no marker is missing and each tick of the program is a sleep, nothing is older than a packet that
# reaches into them, and the directory is a whole trace. The recording's own directory gets what was there at the end.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q -o trace --flight-recorder --pool 1M --buffer "$(getconf _NPROCESSORS_CONF)M" -- \
	"$TESTPROG/ticker" ticks &
recorder=$!
ticked() { [ "$(wc -l <ticks)" -ge "$1" ]; }
wait_for 30 test -s ticks
wait_for 240 ticked 8500

date +%s%N >asked
"$JIS" snapshot -q --last 3s -o last trace || fail "no snapshot of the last seconds"
date +%s%N >answered
wait_for 120 ticked 9000
"$JIS" snapshot trace >said 2>&1 || fail "no snapshot of all: $(cat said)"
grep -q "snapshot in $PWD/trace-snapshot-1" said || fail "it does not say where: $(cat said)"
expect_status 1 "$JIS" snapshot -q -o last trace
expect_says 'exists and is not empty'
touch ticks.end
wait $recorder || fail "the recording failed"

for t in last trace-snapshot-1 trace; do
	"$JIS" info --strict -q --json "$t" >info.json || fail "$t is no whole trace"
	babeltrace2 "$t"/kernel "$t"/process-* >bt 2>bt.err || fail "babeltrace2 does not read $t: $(head -n 3 bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 complains of $t: $(head -n 3 bt.err)"
	"$JIS" dump -q --event marker "$t" >"$(basename "$t").markers"
	"$JIS" report -q --json "$t" >"$(basename "$t").json"
done

babeltrace2 last/kernel last/process-* -c sink.text.details >details || fail "babeltrace2 does not tell packets"
exact=1
tracepoint_sees_all || exact=0
python3 "$CHECKERS/last_seconds.py" last details ticks 3 "$(cat asked)" "$(cat answered)" $exact ||
	fail "the snapshot is not of the last 3 seconds"
python3 - $exact <<'PY'
import json, re, sys
exact = int(sys.argv[1])
ticks = {int(l.split()[0]): int(l.split()[1]) for l in open("ticks")}
def values(name):
    return [int(re.search(r"value = (-?\d+)", l).group(1)) for l in open(name + ".markers")]
def whole(name):
    v = values(name)
    assert v and v == list(range(v[0], v[-1] + 1)), "%s: markers are missing or out of order" % name
    print(name, "markers", v[0], "to", v[-1])
    return v
last, everything, end = whole("last"), whole("trace-snapshot-1"), whole("trace")
assert last[0] > everything[0], "what was asked for begins with marker %d, all there is with %d" % (last[0], everything[0])
assert everything[-1] > last[-1] and end[-1] == max(ticks), "recording did not go on"
assert 0 < everything[0] < last[-1], "the second snapshot begins with marker %d" % everything[0]
# Each tick is a sleep. (A kernel may hide most switches from its tracepoint.)
for name, v in (("last", last), ("trace-snapshot-1", everything), ("trace", end)):
    threads = [t for t in json.load(open(name + ".json"))["threads"] if t["name"].startswith("ticker")]
    assert len(threads) == 1, [t["name"] for t in json.load(open(name + ".json"))["threads"]]
    print(name, threads[0])
    assert (threads[0]["voluntary"] if exact else threads[0]["wakeups"]) > len(v) / 20, threads
PY
expect_status 1 "$JIS" snapshot trace
expect_says 'no recording is under way'

# One that writes everything needs no snapshots.
rm -f ticks.end
"${RECORD[@]}" -q -o plain -- "$TESTPROG/ticker" ticks &
recorder=$!
wait_for 30 test -S plain/.control
expect_status 1 "$JIS" snapshot plain
expect_says 'no flight recorder'
touch ticks.end
wait $recorder
