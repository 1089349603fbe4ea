#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the safepoints of a recording against a log of the JVM's own (-Xlog:safepoint with decorator timenanos).

Usage: safepoints.py LOG DUMP INFO --source N [--pid PID] [--from-start] [--to-end] [--at-least N]. DUMP: of jis dump;
INFO: of jis info --json; --pid: of which JVM. The safepoints recorded must be those of the log, one for one, from the
first recorded one to the last; with --to-end to the log's end, with --from-start but for what came before the JVM lived.
All must be from source N; those by probes (2) may be followed by the one in which the JVM ended: it has no end, no name
and no line in the log. The VM's thread may lose the CPU between what the log tells and the probe, and between the end
of a safepoint and the stamp from which the log's times count: how long it was ready but not running in the safepoint,
by the kernel's switches in the same recording, does not count. On a host one in ten may be late for what no switch
tells, that its hypervisor took the CPU.
"""
import argparse
import json
import os
import re
import sys

LINE = re.compile(r"^(\d+)\.(\d{9}) (\S+) (\w+) \{ (.*) \}$")
FIELD = re.compile(r"(\w+) = ([^,]+)")
STRING = re.compile(r'^id = (\d+), text = "(.*)"$')
LOG = re.compile(r'^\[(\d+)ns\] ?Safepoint "([^"]*)",.* Reaching safepoint: +(\d+) ns,.* Total: +(\d+) ns')
CLOSE = 100_000
LATE = 5_000_000


def fail(text):
    print("BAD", text)
    sys.exit(1)


def read_log(path):
    out = []
    with open(path) as f:
        for line in f:
            m = LOG.match(line)
            if m:
                end, reaching, total = int(m[1]), int(m[3]), int(m[4])
                out.append((m[2], end - total, end - total + reaching, end))
    return out


def read_dump(path, pid):
    names, syncs, events, switches, vm_thread = {}, [], [], [], 0
    with open(path) as f:
        for line in f:
            m = LINE.match(line)
            if not m:
                continue
            if m[4] == "sched_switch":
                s = {k: v for k, v in FIELD.findall(m[5])}
                ready = int(s["prev_state"], 0) & 0xff in (0, 2)
                switches.append((int(m[1] + m[2]), int(s["prev_tid"]), int(s["next_tid"]), ready))
            elif m[4] in ("task_rename", "thread_state") and 'comm = "VM Thread"' in m[5]:
                s = dict(FIELD.findall(m[5]))
                if not vm_thread and pid in (None, int(s["pid"])):
                    vm_thread = int(s["tid"])
            elif pid and m[3].startswith("jvm-") and not m[3].startswith(f"jvm-{pid}-"):
                continue
            elif m[4] == "string_def":
                s = STRING.match(m[5])
                names[int(s[1])] = s[2]
            elif m[4] == "clock_sync":
                syncs.append({k: int(v) for k, v in FIELD.findall(m[5])})
            elif m[4].startswith("safepoint_"):
                events.append((int(m[1] + m[2]), m[4][10:], {k: int(v) for k, v in FIELD.findall(m[5])}))
    return names, syncs, events, off_cpu(switches, vm_thread)


def triples(names, events, source):
    out = []
    for i in range(0, len(events), 3):
        three = events[i:i + 3]
        if source == 2 and [(e[1], e[2]["operation"]) for e in three] == [("begin", 0), ("reached", 0)]:
            break
        if [e[1] for e in three] != ["begin", "reached", "end"]:
            fail(f"records {i} to {i + 2} are {[e[1] for e in three]}")
        if {e[2]["source"] for e in three} != {source}:
            fail(f"records {i} to {i + 2} have sources {[e[2]['source'] for e in three]}")
        if len({e[2]["operation"] for e in three}) != 1:
            fail(f"records {i} to {i + 2} are not of one safepoint")
        out.append((names.get(three[0][2]["operation"], "?"), three[0][0], three[1][0], three[2][0]))
    return out


def mapping(info, syncs):
    """From the JVM's clock to the trace's, by the readings of both at begin and end."""
    key = "tsc" if info["clock"] == 1 else "monotonic_raw"
    a, b = syncs[0], syncs[-1]
    rate = (b[key] - a[key]) / (b["monotonic"] - a["monotonic"])
    begin = info["base"] + info["begin"]
    return lambda t: ((a[key] - begin) + (t - a["monotonic"]) * rate) * 1e9 / info["frequency"]


def off_cpu(switches, tid):
    """Intervals in which the thread was off the CPU though it had something to do, or for a page."""
    out, since = [], None
    for t, before, after, ready in switches:
        if before == tid and since is None:
            since = t if ready else None
        elif after == tid and since is not None:
            out.append((since, t))
            since = None
    return out


def off_in(low, high, off):
    return sum(max(0, min(high, e) - max(low, s)) for s, e in off)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("log")
    p.add_argument("dump")
    p.add_argument("info")
    p.add_argument("--source", type=int, required=True)
    p.add_argument("--pid", type=int)
    p.add_argument("--from-start", action="store_true")
    p.add_argument("--to-end", action="store_true")
    p.add_argument("--at-least", type=int, default=1)
    o = p.parse_args()
    log = read_log(o.log)
    names, syncs, events, off = read_dump(o.dump, o.pid)
    with open(o.info) as f:
        to_trace = mapping(json.load(f), syncs)
    recorded = triples(names, events, o.source)
    if o.source != 2:
        off = []
    if len(recorded) < o.at_least:
        fail(f"{len(recorded)} recorded, {len(log)} in the log")
    # Of the same name: where the VM's thread loses the CPU before the probe, the next one's end may be nearer.
    first = min(range(len(log)), key=lambda i: (log[i][0] != recorded[0][0], abs(to_trace(log[i][3]) - recorded[0][3])))
    apart = []
    for i, r in enumerate(recorded):
        if first + i >= len(log):
            fail(f"{len(recorded)} recorded, {len(log) - first} in the log from the first on")
        want = log[first + i]
        if want[0] != r[0]:
            fail(f"safepoint {i}: {r[0]} recorded, {want[0]} in the log")
        theirs = [to_trace(t) for t in want[1:]]
        lost = off_in(min(r[1], theirs[0]), max(r[3], theirs[2]), off)
        apart.append(max(abs(a - b) - lost for a, b in zip(r[1:], theirs)))
    apart.sort()
    late = 0 if os.environ.get("BACKEND") == "kmod" else (len(apart) + 9) // 10
    worst = apart[len(apart) - 1 - late]
    if worst > CLOSE or apart[-1] > LATE:
        fail(f"times differ by up to {worst:.0f} ns, of {late} by up to {apart[-1]:.0f} ns")
    if o.to_end and first + len(recorded) != len(log):
        fail(f"{len(log) - first - len(recorded)} of the log's last are missing")
    if o.from_start and first > 3:
        fail(f"{first} of the log's first are missing")
    print(f"{len(recorded)} safepoints as in the log, from its {first + 1}. on, times within {worst:.0f} ns, "
          f"of {late} within {apart[-1]:.0f} ns")


if __name__ == "__main__":
    main()
