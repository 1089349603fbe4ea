#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flight recorder's snapshot holds the last seconds, from both sides, while recording goes on: no marker of them is
# missing, the thread's sleeps are there, nothing is older than a packet that reaches into them, and the directory is a
# whole trace. The recording's own directory gets
# what was there at the end.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q -o trace --flight-recorder --pool 256K --buffer "$((256 * $(getconf _NPROCESSORS_CONF)))K" -- \
	"$TESTPROG/ticker" ticks &
recorder=$!
ticked() { [ "$(wc -l <ticks)" -ge "$1" ]; }
wait_for 30 test -s ticks
wait_for 120 ticked 3000

date +%s%N >asked
"$JIS" snapshot -q --last 1s -o last trace || fail "no snapshot of the last second"
date +%s%N >answered
wait_for 120 ticked 3500
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

# Of what was recorded before, a packet whose end is within the last second may hold some; no other is there.
babeltrace2 last/kernel last/process-* -c sink.text.details >details || fail "babeltrace2 does not tell packets"
python3 - <<'PY' || fail "the snapshot holds packets from before the last second"
import re
begin = int(open("asked").read()) - 10**9 - 10**7 # and what clocks were set by meanwhile
now, stream, kinds, packets, old = 0, None, {}, {}, []
for line in open("details"):
    if m := re.match(r"\[[\d,]+ cycles, (-?[\d,]+) ns from origin\]", line):
        now = int(m.group(1).replace(",", ""))
    elif line.startswith("{Trace"):
        stream = line
    elif line.startswith("Packet beginning"):
        kinds[stream] = set()
    elif m := re.match(r"Event .(\w+)", line):
        kinds[stream].add(m.group(1))
    elif line.startswith("Packet end"):
        for kind in kinds.pop(stream) & {"marker", "sched_switch", "sched_waking"}:
            packets[kind] = packets.get(kind, 0) + 1
            if now < begin:
                old.append("%s, packet that ended %.3f s before the last second" % (kind, (begin - now) / 1e9))
print("packets", packets)
assert packets.get("marker", 0) > 3 and "sched_waking" in packets, packets
assert not old, old
PY
exact=1
tracepoint_sees_all || exact=0
python3 - $exact <<'PY'
import json, re, sys
exact = int(sys.argv[1])
ticks = {int(l.split()[0]): int(l.split()[1]) for l in open("ticks")}
asked = int(open("asked").read())
def values(name):
    return [int(re.search(r"value = (-?\d+)", l).group(1)) for l in open(name + ".markers")]
def whole(name):
    v = values(name)
    assert v and v == list(range(v[0], v[-1] + 1)), "%s: markers are missing or out of order" % name
    print(name, "markers", v[0], "to", v[-1])
    return v
last, everything, end = whole("last"), whole("trace-snapshot-1"), whole("trace")
before = [i for i, t in ticks.items() if t <= asked]
assert last[-1] >= before[-1], "marker %d was written before the snapshot and is not in it" % before[-1]
answered = int(open("answered").read()) # a second before that is within a second before the snapshot
second = [i for i in before if ticks[i] >= answered - 10**9]
if not second: # not one of its ticks is surely in it
    print("the snapshot took longer than a second: where it begins is not looked at")
    second = before[-1:]
assert last[0] <= second[0], "the last second begins with marker %d, the snapshot with %d" % (second[0], last[0])
assert everything[-1] > last[-1] and end[-1] == max(ticks), "recording did not go on"
assert 0 < everything[0] < last[-1], "the second snapshot begins with marker %d" % everything[0]
# Each tick is a sleep. (A kernel may hide most switches from its tracepoint.)
for name, v in (("last", last), ("trace-snapshot-1", everything), ("trace", end)):
    threads = [t for t in json.load(open(name + ".json"))["threads"] if t["name"].startswith("ticker")]
    assert len(threads) == 1, [t["name"] for t in json.load(open(name + ".json"))["threads"]]
    print(name, threads[0])
    assert (threads[0]["voluntary"] if exact else threads[0]["wakeups"]) > len(second) / 2, threads
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
