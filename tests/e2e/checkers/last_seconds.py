# SPDX-License-Identifier: MIT
"""last_seconds.py SNAPSHOT DETAILS TICKS SECONDS ASKED ANSWERED EXACT: is the snapshot of a ticker (tests/e2e/prog)
that of the last SECONDS? By its manifest the cut is that long before the snapshot was asked for, which was between
ASKED and ANSWERED (ns of CLOCK_REALTIME, as in TICKS). From the cut to the end all markers of TICKS are there, each at
its time, and between one tick and the next its sleep: one waking, and one switch off the CPU unless the timer was over
before it left. No packet is older than the cut. DETAILS: the snapshot's text of babeltrace2's sink.text.details.
EXACT 0: the kernel hides switches from its tracepoint; then wakings alone, of half of the ticks at least."""
import json
import re
import sys

SLACK = 2 * 10**6  # ns, between a tick's line and its markers by the clock readings of the trace
PER_TICK = 10


def number(text):
    return int(re.sub("[,:]", "", text), 0)


def events(path):
    """(cycles, stream, event, fields) of each event, and of packets' ends with event None."""
    now, stream, name, fields = 0, None, None, {}
    for line in open(path):
        if line.startswith("["):
            if name:
                yield now, stream, name, fields
            name = None
            match = re.match(r"\[(-?[\d,]+) cycles", line)
            now = number(match.group(1)) if match else now
        elif line.startswith("{Trace"):
            stream = line
        elif line.startswith("Event `"):
            name, fields = line.split("`")[1], {}
        elif line.startswith("Packet end"):
            yield now, stream, None, None
        elif name:
            match = re.match(r"    (\w+): (-?\d[\d,]*|0x[\da-f:]+)$", line)
            if match:
                fields[match.group(1)] = number(match.group(2))
    if name:
        yield now, stream, name, fields


def realtime_of(clocks):
    """Of a time in cycles, between the readings of the clocks beside it."""
    clocks = sorted(clocks, key=lambda c: c["ticks"])

    def realtime(cycles):
        i = 1
        while i + 1 < len(clocks) and clocks[i]["ticks"] < cycles:
            i += 1
        a, b = clocks[i - 1], clocks[i]
        return a["realtime"] + (cycles - a["ticks"]) * (b["realtime"] - a["realtime"]) // (b["ticks"] - a["ticks"])

    return realtime


def check_packets(all_events, cut):
    kinds, packets = {}, {}
    for cycles, stream, name, _ in all_events:
        if name:
            kinds.setdefault(stream, set()).add(name)
            continue
        for kind in kinds.pop(stream, set()) & {"marker", "sched_switch", "sched_waking"}:
            packets[kind] = packets.get(kind, 0) + 1
            assert cycles >= cut, "%s: a packet that ended %d cycles before the cut" % (kind, cut - cycles)
    print("packets", packets)
    assert packets.get("marker", 0) > 3 and "sched_waking" in packets, packets


def sleeps(thread, all_events):
    """(wakings, switches off the CPU that should be there, those that are) between two ticks, by the first's number."""
    told, off, tick = {}, None, None
    for _, _, name, fields in all_events:
        if name == "marker":
            tick = fields["value"] // PER_TICK if fields["value"] % PER_TICK == PER_TICK - 1 else None
            if tick is not None:
                told[tick] = [0, 0, 0]
        elif name == "sched_switch" and fields["prev_tid"] == thread:
            off = fields["prev_state"]
            if tick is not None:
                told[tick][2] += off == 1
        elif name == "sched_switch" and fields["next_tid"] == thread:
            off = None
        elif name == "sched_waking" and fields["tid"] == thread and tick is not None:
            if off != 2:  # else it waited for the disk that the lines go to
                told[tick][0] += 1
                told[tick][1] += off == 1
    return told


def main(directory, details, ticks, seconds, asked, answered, exact):
    manifest = json.load(open(directory + "/manifest.json"))
    cut, until = manifest["origin_from"], manifest["origin_to"]
    realtime = realtime_of(manifest["clocks"])
    print("from %d to %d of %d cycles a second" % (cut, until, manifest["frequency"]))
    length = seconds * manifest["frequency"]
    assert abs(until - cut - length) < length / 1000, "that is not %d s" % seconds
    assert cut > manifest["origin_begin"], "the recording is not as long"
    assert asked - SLACK <= realtime(until) <= answered + SLACK, "asked at %d..%d, taken at %d" % (
        asked, answered, realtime(until))

    lines = {int(l.split()[0]) // PER_TICK: int(l.split()[1]) for l in open(ticks)}
    all_events = list(events(details))
    check_packets(all_events, cut)
    markers = {f["value"]: c for c, _, name, f in all_events if name == "marker"}
    for value, cycles in markers.items():
        tick = value // PER_TICK
        assert tick in lines, "marker %d, and no line of its tick" % value
        since, to = lines.get(tick - 1, 0), lines[tick]
        assert since - SLACK <= realtime(cycles) <= to + SLACK, "marker %d at %d, between the lines of %d and %d" % (
            value, realtime(cycles), since, to)

    # Those that surely are of the last seconds: all between the lines of the tick before and their own.
    due = [t for t in sorted(lines)
           if t - 1 in lines and lines[t - 1] >= realtime(cut) + SLACK and lines[t] <= realtime(until) - SLACK]
    assert len(due) >= 100 * seconds, "%d ticks in %d seconds: nothing to judge by" % (len(due), seconds)
    missing = [v for t in due for v in range(t * PER_TICK, (t + 1) * PER_TICK) if v not in markers]
    assert not missing, "%d markers of the last %d s are missing, from %d to %d" % (
        len(missing), seconds, missing[0], missing[-1])
    assert sorted(markers) == list(range(min(markers), max(markers) + 1)), "markers are missing or out of order"
    print("ticks %d to %d, markers %d to %d" % (due[0], due[-1], min(markers), max(markers)))

    names = [t for t in manifest["threads"] if t["name"].startswith("ticker")]
    assert len(names) == 1, names
    told = sleeps(names[0]["tid"], all_events)
    wrong = {t: told.get(t) for t in due[:-1] if t not in told or told[t][0] != 1 or told[t][1] != told[t][2]}
    print("between %d ticks: %d without just one waking and its sleep" % (len(due) - 1, len(wrong)))
    if exact:
        assert not wrong, "wakings, sleeps by them, sleeps: %s" % list(wrong.items())[:5]
    else:
        assert sum(told[t][0] == 1 for t in due[:-1] if t in told) > len(due) / 2, "wakings are missing"
    early = sum(told[t][1] == 0 for t in due[:-1] if t in told)
    print("%d timers were over before the thread had left its CPU" % early)
    assert not exact or early < len(due) / 2, "hardly any sleeps"


main(sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
