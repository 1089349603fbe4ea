#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A snapshot taken during a pause has what was recorded before, says so, and counts its time from the pause; one
# taken after it has both marks, and nothing between them. Each is a trace of its own, with a uuid of its own, and
# tells of which recording and of what time of it it is.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q -o trace --flight-recorder -- "$TESTPROG/ticker" ticks &
recorder=$!
ticked() { [ "$(wc -l <ticks)" -ge "$1" ]; }
wait_for 60 test -s ticks
wait_for 120 ticked 1000
"$JIS" pause -q trace || fail "no pause"
last=$(tail -n 1 ticks)
more() { [ "$(tail -n 1 ticks | cut -d' ' -f1)" -ge $((${last% *} + $1)) ]; }
wait_for 120 more 10000 # much would have been recorded: as many as one second has, and more
"$JIS" snapshot --last 500ms -o paused trace >said 2>&1 || fail "no snapshot during the pause: $(cat said)"
grep -q 'before it was paused' said || fail "it does not say that it was paused: $(cat said)"
"$JIS" snapshot -q -o paused-all trace || fail "no snapshot of all during the pause"
"$JIS" resume -q trace || fail "no resume"
last=$(tail -n 1 ticks)
wait_for 120 more 5000
"$JIS" snapshot -q -o resumed trace || fail "no snapshot after the pause"
touch ticks.end
wait $recorder || fail "the recording failed"

for t in paused paused-all resumed trace; do
	"$JIS" info --strict -q "$t" >$t.info || fail "$t is no whole trace: $(cat $t.info)"
	babeltrace2 "$t"/kernel "$t"/process-* >$t.bt 2>bt.err || fail "babeltrace2 does not read $t: $(head -n 3 bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 complains of $t: $(head -n 3 bt.err)"
	"$JIS" dump -q "$t" >$t.dump
done
grep -q '^note .*while the recording was paused' paused.info || fail "info does not say it: $(cat paused.info)"
! grep -q 'was paused' resumed.info || fail "a snapshot of a running recording says it was paused"
python3 - <<'PY'
import json, re
m = {n: json.load(open(n + "/manifest.json")) for n in ("paused", "paused-all", "resumed", "trace")}
for key in "uuid", "kernel_uuid":
    assert len({t[key] for t in m.values()}) == 4, "traces share a " + key
assert len({p["uuid"] for t in m.values() for p in t["processes"] if "directory" in p}) == 4, "uuids of processes"
assert "origin_uuid" not in m["trace"]
marks, markers, times = {}, {}, {}
words = {1: "START", 2: "PAUSE", 3: "RESUME", 4: "STOP"}
for n, t in m.items():
    lines = [(float(l.split()[0]), l) for l in open(n + ".dump")]
    marks[n] = [(x, words[int(re.search(r"mark = (\d+)", l).group(1))]) for x, l in lines if " session_mark " in l]
    markers[n] = [(x, int(re.search(r"value = (-?\d+)", l).group(1))) for x, l in lines if " marker " in l]
    times[n] = [x for x, l in lines if " sched_switch " in l]
    print(n, marks[n], len(markers[n]), len(times[n]))
    if n == "trace":
        continue
    assert t["origin_uuid"] == m["trace"]["uuid"], n
    text = t["origin_uuid"]
    text = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    assert "snapshot of    " + text in open(n + ".info").read(), n
    assert t["origin_begin"] <= t["origin_from"] <= t["origin_to"]
assert [x for _, x in marks["paused-all"]] == ["START", "PAUSE", "STOP"], marks
assert [x for _, x in marks["resumed"]] == ["START", "PAUSE", "RESUME", "STOP"], marks
assert marks["paused"][-2][1] == "PAUSE" and marks["paused"][-1][1] == "STOP", marks
f = m["paused"]["frequency"]
window = (m["paused"]["origin_to"] - m["paused"]["origin_from"]) / f
assert abs(window - 0.5) < 0.01, window
for n in "paused", "paused-all": # what was recorded right before the pause is there
    assert len(markers[n]) > 100 and len(times[n]) > 20, (n, len(markers[n]), len(times[n]))
    v = [x for _, x in markers[n]]
    assert v == list(range(v[0], v[-1] + 1)), n
    assert max(t for t, _ in markers[n]) <= marks[n][-2][0] + 0.1
assert markers["paused"][-1][1] == markers["paused-all"][-1][1]
pause, resume = marks["resumed"][1][0], marks["resumed"][2][0]
inside = [t for t in times["resumed"] + [t for t, _ in markers["resumed"]] if pause < t < resume]
assert resume - pause > 0.5 and not inside, (pause, resume, inside[:5])
assert [t for t in times["resumed"] if t > resume] and [t for t in times["resumed"] if t < pause]
PY
