#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the sums of `jis export collapsed` against the report and `jis stats`, which work them out by themselves.

Usage: collapsed.py REPORT.json OFF-CPU BY-REASON [STATS.csv WALL CPU OFF-CPU-OF-CALLS]. Of --off-cpu: each thread's lines are
all of its time blocked, each reason's that of the report, each lock's what threads were blocked for it; with --by-reason each
process's. A wait in which a virtual thread keeps its carrier (pinned) is in one line, the carrier's or its own: the sum over
all has it once, where both are blocked. Of --calls: each method's own time, of each kind.
"""
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"([^;]*)(;.*)? (\d+)\n")
REASON = re.compile(r"(?:.*;)?\[([^:\]]*)(?:: (.*))?\]$")
wrong = 0


def same(what, got, want, less=0):
    """Of two counters; less: so much may be missing of any, or be there twice."""
    global wrong
    for key in sorted(set(got) | set(want), key=str):
        if not want[key] - less <= got[key] <= want[key] + less:
            wrong += 1
            print("%s: %s: %d ns, %d expected" % (what, key, got[key], want[key]))


def lines(path):
    """(first frame, the others, time)"""
    with open(path) as f:
        for line in f:
            first, rest, time = LINE.fullmatch(line).groups()
            yield first, (rest or "")[1:], int(time)


def blocked(of):
    return sum(of["states"][s] for s in ("blocked", "blocked uninterruptibly", "stopped"))


def off_cpu(report, path):
    threads, reasons, locks, virtual = (collections.Counter() for _ in range(4))
    for name, rest, time in lines(path):
        reason, what = REASON.fullmatch(rest).groups()
        threads[name] += time
        reasons[reason] += time
        locks[reason, what or ""] += time
    pinned, want = report["virtual_threads"]["pinned"], collections.Counter()
    for t in report["threads"]:
        want[t["name"]] += blocked(t)
    for t in report["virtual_threads"]["threads"]:
        virtual[t["name"]] += t["waiting"]
    carriers = {name for name in want if pinned and re.match(r"ForkJoinPool-\d+-worker-", name)}
    mixed = carriers | set(virtual)
    same("thread", *(collections.Counter({k: n for k, n in of.items() if k not in mixed}) for of in (threads, want)))
    for name in mixed:
        same("carriers and virtual threads", collections.Counter({name: threads[name]}),
             collections.Counter({name: want[name] + virtual[name]}), less=pinned)
    whole = sum(want.values()) + sum(virtual.values()) - pinned
    same("all", collections.Counter({"all threads": sum(threads.values())}), collections.Counter({"all threads": whole}))
    want = collections.Counter()
    for of in (report, report["virtual_threads"]):
        for reason in set(reasons) & set(of["reasons"]):
            want[reason] += of["reasons"][reason]["time"]
    same("reason", reasons, want, less=pinned)
    for lock in report["locks"]:
        key = lock["reason"], lock["class"]
        same("lock", collections.Counter({key: locks[key]}), collections.Counter({key: lock["blocked"]}))
    return whole


def by_reason(report, path):
    got, want = collections.Counter(), collections.Counter()
    for process, _, time in lines(path):
        got[process] += time
    for p in report["processes"]:
        want[p["name"]] += blocked(p)
    v = report["virtual_threads"]
    pids = {p["pid"]: p["name"] for p in report["processes"]}
    for t in v["threads"]:
        want[pids[t["pid"]]] += t["waiting"] - t["pinned"]
    same("process", got, want)


def calls(stats, paths):
    sums = [collections.Counter() for _ in range(3)]
    with open(stats) as f:
        for row in csv.DictReader(f):
            method = row["method"].split("(")[0]
            for i, columns in enumerate((("own",), ("own_cpu",), ("own_ready", "own_blocked"))):
                sums[i][method] += sum(int(row[c]) for c in columns)
    for want, path, what in zip(sums, paths, ("wall", "cpu", "off-cpu")):
        got = collections.Counter()
        for _, rest, time in lines(path):
            frames = [f for f in rest.split(";") if not f.startswith("[")]
            got[frames[-1].split("(")[0]] += time
        same("calls, " + what, got, want)
    return sum(sums[0].values())


def main():
    with open(sys.argv[1]) as f:
        report = json.load(f)
    time, own = off_cpu(report, sys.argv[2]), 0
    by_reason(report, sys.argv[3])
    if len(sys.argv) > 4:
        own = calls(sys.argv[4], sys.argv[5:])
        assert own
    print("%d ns off the CPU, %d of them by virtual threads on their carriers; %d ns of calls; %d wrong"
          % (time, report["virtual_threads"]["pinned"], own, wrong))
    sys.exit(wrong > 0 or not time)


main()
