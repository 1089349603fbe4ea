#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Signals, interrupts, idle states and requests to disks by the ftrace backend, each when it is asked for and only
# then; page faults are refused, as no event of ftrace's can tell them.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
reason=$BUILD/tests/lab/jisreason
sleeper=$BUILD/tests/lab/jissleep
kinds='page_fault|block_rq_[a-z]*|irq_e[a-z]*|signal_[a-z]*|cpu_frequency|cpu_idle'

record() { # NAME EVENTS COMMAND...
	local name=$1 events=(--events "$2")
	[ -n "$2" ] || events=()
	shift 2
	"$JIS" record -q --backend ftrace --no-agent "${events[@]}" --buffer 16M -o "$name" -- "$@" >"$name.out" ||
		fail "$name: the recording failed"
	"$JIS" info --strict -q "$name" >"$name.info" || fail "$name: records were lost"
	"$JIS" dump -q "$name" >"$name.dump"
}

record none "" "$reason" signals 5
! grep -E " ($kinds) " none.dump || fail "events nobody asked for"
expect_status 1 "$JIS" record -q --backend ftrace --events fault -o fault -- true
expect_says 'cannot record all of the events'
[ ! -e fault ] || fail "a refused recording leaves a directory"

record own signal "$reason" signals 50
tid=$(sed -n 's/^tid \([0-9]*\).*/\1/p' own.out)
[ "$(grep -cE " signal_generate .* tid = [^,]*\b$tid\b.* signal = 10,.* code = 0,.*sender_tid = [^,]*\b$tid\b" own.dump)" = 50 ] || fail "not 50 signals sent: $(grep -c ' signal_generate ' own.dump)"
[ "$(grep -cE " signal_deliver .* tid = [^,]*\b$tid\b.* signal = 10,.* code = 0\b" own.dump)" = 50 ] || fail "not 50 handled"
! grep -E ' (irq_e[a-z]*|cpu_idle|block_rq_[a-z]*) ' own.dump || fail "events nobody asked for"

# From somebody who is no target
"$sleeper" -g 1 20 >sleeper.out &
sleeping=$!
wait_for 60 grep -q '^ready' sleeper.out
"$JIS" record -q --backend ftrace --no-agent --events signal -o foreign -p $sleeping 2>foreign.err &
recorder=$!
wait_for 60 test -s foreign/kernel/cpu-0
bash -c 'echo $$ >sender; kill -USR1 '$sleeping
wait $recorder || fail "the recording failed"
"$JIS" dump -q foreign | grep -E " signal_generate .* signal = 10,.*sender_tid = [^,]*\b$(cat sender)\b" || fail "the sender is not told"
"$JIS" dump -q foreign | grep -E " task_name .*\b$(cat sender)\b" || fail "nor is its name"

softirqs() { awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) n += $i } END { print n }' /proc/softirqs; }
before=$(softirqs)
record irq irq "$reason" spin 2 0
after=$(softirqs)
before_power=$(awk '{n += $1} END {print n + 0}' /sys/devices/system/cpu/cpu*/cpuidle/state*/usage 2>/dev/null || echo 0)
record power power sh -c 'i=0; while [ $i -lt 100 ]; do sleep 0.01; i=$((i + 1)); done'
after_power=$(awk '{n += $1} END {print n + 0}' /sys/devices/system/cpu/cpu*/cpuidle/state*/usage 2>/dev/null || echo 0)

head -c 4M /dev/urandom >data
sync data
direct=1
dd if=data of=/dev/null bs=4096 count=1 iflag=direct 2>dd.err || direct=0
if [ $direct = 1 ]; then
	device=$(stat -c %d data)
	record block block dd if=data of=/dev/null bs=4096 count=100 iflag=direct status=none
fi

python3 - "$((after - before))" "$(sed -n 's/^tid //p' irq.out)" "$direct" "${device:-0}" "$((after_power - before_power))" <<'PY'
import re, sys
softirqs, tid, direct, device, entered = (int(x) for x in sys.argv[1:])
def records(name):
    for l in open(name + ".dump"):
        w = l.split(None, 3)
        yield w[1], w[2], w[3] if len(w) > 3 else ""
def n(rest, f):
    m = re.search(r"\b%s = ([^,}]*)" % f, rest)
    return int(re.findall(r"-?\d+|0x[0-9a-f]+", m.group(1))[-1], 0)
inside, soft, hard = {}, 0, 0
for where, name, rest in records("irq"):
    if not name.startswith("irq_e"):
        continue
    assert n(rest, "tid") == tid, "an interruption of another: " + rest
    key = where, n(rest, "kind")
    if name == "irq_entry":
        assert key not in inside, "entered twice: " + rest
        inside[key] = n(rest, "vector")
        soft += n(rest, "kind") == 1
        hard += n(rest, "kind") == 2
    else:
        assert inside.pop(key) == n(rest, "vector"), "left what was not entered: " + rest
print("%d softirqs and %d interrupts of %d softirqs of the machine" % (soft, hard, softirqs))
assert 0 < soft <= softirqs
idle, changes = {}, 0
for where, name, rest in records("power"):
    if name != "cpu_idle":
        continue
    cpu, now = n(rest, "cpu"), n(rest, "state") != -1
    assert idle.get(cpu) != now, "idle states are not entered and left in turn"
    idle[cpu] = now
    changes += 1
print("%d changes of idle states, %d entered by cpuidle" % (changes, entered))
# Few are told on a host whose kernel hides the switches out of idling too (see 100): how many is for the guests (458).
assert changes > 0 or entered < 50
if direct:
    issued, done, requests = {}, 0, 0
    for where, name, rest in records("block"):
        if name == "block_rq_issue":
            issued[n(rest, "dev"), n(rest, "sector")] = n(rest, "bytes"), n(rest, "op")
        elif name == "block_rq_complete":
            key = n(rest, "dev"), n(rest, "sector")
            size, op = issued.pop(key, (0, None))
            if op == 0 and key[0] == (device >> 8) << 20 | device & 255:
                requests += 1
                done += size
                assert size == n(rest, "bytes") and n(rest, "error") == 0, rest
    print("%d reads of %d bytes" % (requests, done))
    assert done >= 100 * 4096 or not requests, "the disk was read less than the program says"
PY
