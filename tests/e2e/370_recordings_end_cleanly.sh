#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# However a recording ends (signal, duration, size limit, full disk, pause), the trace is whole, says why it
# ended, and the states of paused time are unknown.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

reason_is() { # TRACE REASON
	"$JIS" info --json "$1" | python3 -c '
import json, sys
m = json.load(sys.stdin)
t = m["totals"]
print(m["stop_reason"], t)
sys.exit(m["stop_reason"] != sys.argv[1] or t["produced"] != t["stored"] + t["lost"])' "$2" ||
		fail "$1 did not end with: $2"
	"$JIS" dump -q "$1" >/dev/null
}

busy='while :; do sleep 0.01; done'

# Ctrl-C as a terminal sends it: to the whole group. The command ends, then the recording.
setsid "${RECORD[@]}" -q -o int -- bash -c "trap \"exit 5\" INT; $busy" 2>err &
recorder=$!
running() { [ -e int/manifest.json ] && pgrep -P $recorder >/dev/null && [ -s int/kernel/cpu-0 ]; }
wait_for 20 running
sleep 1
kill -INT -- -$recorder
status=0
wait $recorder || status=$?
[ $status = 5 ] || { cat err; fail "Ctrl-C: exit status $status, the command's 5 expected"; }
reason_is int "command ended"

# A signal to jis alone is passed on; a second one ends the recording at once, whatever the command does.
"${RECORD[@]}" -q -o twice -- bash -c "trap '' INT TERM; $busy" 2>err &
recorder=$!
running() { [ -s twice/kernel/cpu-0 ]; }
wait_for 20 running
child=$(pgrep -P $recorder)
kill -INT $recorder
sleep 0.5
kill -0 $recorder || fail "one signal ended a recording whose command goes on"
kill -INT $recorder
status=0
wait $recorder || status=$?
kill -KILL "$child" 2>/dev/null || true
[ $status = 130 ] || { cat err; fail "two signals: exit status $status, 130 expected"; }
reason_is twice "interrupted"

expect_status 0 "${RECORD[@]}" -o duration --duration 700ms -- sleep 1.5
reason_is duration duration

# -p records what runs already, and ends with it.
bash -c "for i in {1..150}; do sleep 0.01; done" &
victim=$!
expect_status 0 "${RECORD[@]}" -o pid -p $victim
reason_is pid "processes ended"
"$JIS" report --json -q pid | python3 -c '
import json, sys
r = json.load(sys.stdin)
tids = [t["tid"] for t in r["threads"]]
sys.exit(tids != [int(sys.argv[1])])' $victim || fail "-p recorded other threads than that of the process"

expect_status 0 "${RECORD[@]}" -o size --flush 50 --max-size 64K -- bash -c 'for i in {1..2000}; do /bin/true; done'
expect_says "--max-size reached"
reason_is size max-size
[ "$(du -sb size | cut -f1)" -lt 1500000 ] || fail "the trace is much larger than --max-size"

# A full disk: what was written until then is kept and readable.
mkdir small
if mount -t tmpfs -o size=400k tmpfs small 2>/dev/null; then
	status=0
	"${RECORD[@]}" -o small/trace --flush 50 -- bash -c 'for i in {1..600}; do /bin/true; done' 2>err || status=$?
	[ $status = 1 ] || { cat err; umount small; fail "full disk: exit status $status, 1 expected"; }
	grep -qi 'no space' err || { cat err; umount small; fail "it does not say that the disk is full"; }
	cp -r small/trace full
	umount small
	"$JIS" info full >out || "$JIS" recover full || fail "the trace of the full disk is unreadable"
	"$JIS" report -q full >out
	grep -q "bash \[" out || fail "nothing of the command is in the trace of the full disk"
fi

# Pause and resume, from another process.
"${RECORD[@]}" -q -o paused -- bash -c 'for i in {1..300}; do sleep 0.01; done' &
recorder=$!
running() { [ -s paused/kernel/cpu-0 ]; }
wait_for 20 running
sleep 0.5
expect_status 0 "$JIS" pause paused
sleep 1
expect_status 0 "$JIS" resume paused
wait $recorder
reason_is paused "command ended"
expect_status 1 "$JIS" pause paused
"$JIS" report --json -q paused | python3 -c '
import json, sys
r = json.load(sys.stdin)
main = max(r["threads"], key=lambda t: sum(t["states"].values()) - t["states"]["not created"] - t["states"]["exited"])
unknown = main["states"]["unknown"] / 1e9
print("unknown during the pause: %.3f s of 1 s" % unknown)
sys.exit(not 0.9 < unknown < 1.3)' || fail "the paused time is not unknown"
