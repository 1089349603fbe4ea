#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a trace against what the kernel's own books said of each thread just before it ended.

Usage: truth.py TRACE X.prv PROGRAM-OUTPUT [--steal NS]

PROGRAM-OUTPUT has lines "THREAD tid=N run=NS wait=NS ... voluntary=N involuntary=N name=TEXT" (class Truth,
program witness); markers 9001 and 9002 with value N stand in the trace around the reading, so what the trace
says until the one and until the other bounds what the books may say. Checked, beyond these bounds:
  running time    within 1 % for threads with 200 ms or more, within 2 ms below, the sum within 0.5 %
  ready time      within 2 % or 3 ms
  switches        none
Times come from the .prv, switches and markers from babeltrace2. --steal: ns the hypervisor and
interrupts took from this machine during the run: times in the trace may be longer by at most this. --unknown PERCENT: how much of
a thread's life, after its first switch, may be in state unknown (default 0); that time counts for either
side. --per-switch NS: what books and tracepoint may differ by at each switch (default 200): the scheduler
reads its clock before it picks the next thread, the tracepoint fires after. Kernels exist whose sched_switch tracepoint misses some switches (its count falls behind "ctxt" of
/proc/stat): there the ftrace backend cannot know all.
"""
import argparse
import re
import sys

import ctf

RUNNING, READY, UNKNOWN = 1, 7, 34
MARKERS = {77010000 + 9001: 9001, 77010000 + 9002: 9002}


def read_program(path):
    threads = {}
    with open(path) as f:
        for line in f:
            if not line.startswith("THREAD "):
                continue
            head, name = line.rstrip("\n").split(" name=", 1)
            values = {k: int(v) for k, v in (word.split("=") for word in head.split()[1:])}
            threads[values["tid"]] = dict(run=values["run"], wait=values["wait"], name=name,
                                          switches=values["voluntary"] + values["involuntary"])
    return threads


def read_rows(prv):
    """Row number in the .prv (application, task, thread) -> tid, from the end of each name, [TID]."""
    with open(prv) as f:
        header = f.readline()
    tasks = []
    body = header[header.index(")") + 1:]
    parts = re.findall(r"(\d+)\(((?:\d+:\d+,?)+)\)", re.sub(r"^:\d+_ns:\d+\([\d,]+\):\d+:", "", body))
    for application, (_, items) in enumerate(parts, 1):
        for task, item in enumerate(items.rstrip(",").split(","), 1):
            for thread in range(1, int(item.split(":")[0]) + 1):
                tasks.append((application, task, thread))
    names, inside = [], 0
    with open(re.sub(r"\.prv$", ".row", prv)) as f:
        for line in f:
            if inside:
                names.append(line.rstrip("\n"))
                inside -= 1
            elif line.startswith("LEVEL THREAD SIZE"):
                inside = int(line.split()[-1])
    rows = {}
    for key, name in zip(tasks, names):
        m = re.search(r"\[(\d+)\]$", name)
        if m:
            rows[key] = int(m.group(1))
    return rows


def read_times(prv, rows, threads):
    """{tid: {9001: {state: ns until that marker}, 9002: the same}}"""
    states, cuts = {}, {}
    with open(prv) as f:
        for line in f:
            fields = line.rstrip("\n").split(":")
            if fields[0] == "1":
                tid = rows.get(tuple(map(int, fields[2:5])))
                if tid in threads:
                    states.setdefault(tid, []).append(tuple(map(int, fields[5:8])))
            elif fields[0] == "2":
                for kind, value in zip(fields[6::2], fields[7::2]):
                    if int(kind) in MARKERS and int(value) in threads:
                        cuts[int(value), MARKERS[int(kind)]] = int(fields[5])
    times = {}
    for tid, intervals in states.items():
        for marker in (9001, 9002):
            cut = cuts.get((tid, marker))
            if cut is None:
                raise ctf.CheckError("thread %d has no marker %d in the .prv" % (tid, marker))
            per = times.setdefault(tid, {}).setdefault(marker, {})
            for begin, end, state in intervals:
                if begin < cut:
                    per[state] = per.get(state, 0) + min(end, cut) - begin
    return times


def read_switches(trace, tids):
    """For each tid: the switch-outs before its marker 9001, and before its marker 9002."""
    outs = {tid: 0 for tid in tids}
    low, high = {}, {}
    for _, name, fields in ctf.events(trace):
        if name == "sched_switch":
            if fields["prev_tid"] in outs:
                outs[fields["prev_tid"]] += 1
        elif name in ("marker", "java_marker"):
            tid = fields["value"]
            if fields["type"] == 9001 and tid in outs:
                low[tid] = outs[tid]
            elif fields["type"] == 9002 and tid in outs:
                high[tid] = outs[tid]
    return low, high


def close(low, high, truth, share, least, steal, more):
    bound = max(share * truth, least) + more
    return low - bound - steal <= truth <= high + bound


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("prv")
    parser.add_argument("output")
    parser.add_argument("--steal", type=int, default=0)
    parser.add_argument("--unknown", type=float, default=0)
    parser.add_argument("--per-switch", type=float, default=200)
    options = parser.parse_args()
    trace, prv, output, steal = options.trace, options.prv, options.output, options.steal
    threads = read_program(output)
    if not threads:
        sys.exit("truth: the program reported no thread")
    times = read_times(prv, read_rows(prv), threads)
    low, high = read_switches(trace, threads)
    bad = doubt = all_apart = 0
    sums = [0, 0, 0]
    print("%7s %12s %25s %12s %25s %9s %11s  %s"
          % ("tid", "run ns", "trace", "wait ns", "trace", "switches", "trace", "thread"))
    for tid, t in sorted(threads.items()):
        first, second = times.get(tid, {}).get(9001, {}), times.get(tid, {}).get(9002, {})
        unknown = second.get(UNKNOWN, 0)
        life = sum(second.values())
        doubt += unknown
        run = first.get(RUNNING, 0), second.get(RUNNING, 0) + unknown
        ready = first.get(READY, 0), second.get(READY, 0) + unknown
        if unknown > life * options.unknown / 100:
            bad += 1
            print("thread %d is unknown for %d ns of %d" % (tid, unknown, life))
        sums = [sums[0] + t["run"], sums[1] + run[0], sums[2] + run[1]]
        big = t["run"] >= 200e6
        apart = options.per_switch * t["switches"]
        all_apart += apart
        run_ok = close(*run, t["run"], 0.01 if big else 0, 0 if big else 2e6, steal, apart)
        ready_ok = close(*ready, t["wait"], 0.02, 3e6, steal, apart)
        switch_ok = tid in low and tid in high and low[tid] <= t["switches"] <= high[tid]
        bad += not (run_ok and ready_ok and switch_ok)
        print("%7d %12d %12d-%-12d%s %11d %12d-%-12d%s %8d %11s%s  %s"
              % (tid, t["run"], *run, " " if run_ok else "!", t["wait"], *ready, " " if ready_ok else "!",
                 t["switches"], "%s-%s" % (low.get(tid), high.get(tid)), " " if switch_ok else "!", t["name"]))
    sum_ok = close(sums[1], sums[2], sums[0], 0.005, 0, steal, all_apart)
    print("sum     %12d %12d-%d%s; steal at most %d; unknown %d"
          % (*sums, "" if sum_ok else "!", steal, doubt))
    if bad or not sum_ok:
        sys.exit("truth: %d threads differ (marked !)%s" % (bad, "" if sum_ok else ", and the sum"))


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("truth: %s" % error)
