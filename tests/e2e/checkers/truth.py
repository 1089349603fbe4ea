#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a trace against what the kernel's own books said of each thread just before it ended.

Usage: truth.py TRACE X.prv PROGRAM-OUTPUT [--steal NS] [--unknown PERCENT] [--per-switch NS]
                [--watched FILE]

PROGRAM-OUTPUT has lines "THREAD tid=N run=NS wait=NS ... voluntary=N involuntary=N name=TEXT" (class Truth,
program books); markers 9001 and 9002 with value N stand in the trace around the reading, so what the trace
says until the one and until the other bounds what the books may say. Checked, beyond these bounds:
  running time    within 1 % for threads with 200 ms or more, within 2 ms below, the sum within 0.5 %
  ready time      within 2 % or 3 ms
  switches        none
Of thirty threads one may have a moment, at most 4 ms, as ready that the books have as running, all else being the same:
seen in guests under -icount, where the books' clock is read once for a switch and the switch may be long.
Last it alters the books by one switch, and by 3 % of the running time of a thread with 200 ms or more, and
fails when it does not notice. Times come from the .prv, switches and markers from babeltrace2.
--steal: ns the hypervisor and interrupts took from this machine during the run: times in the trace may be
longer by at most this.
--unknown: how much of a thread's life may be in state unknown (default 0); that time counts for either side.
Kernels exist whose sched_switch tracepoint misses some switches (its count falls behind "ctxt" of
/proc/stat): there the ftrace backend cannot know all.
--per-switch: what books and tracepoint may differ by at each switch (default 200): the scheduler reads its
clock before it picks the next thread, the tracepoint fires after.
--watched: text of a tracefs instance with sched_switch, sched_waking and sched_migrate_task. Where a thread that
sleeps may stay on its run queue for a while (DELAY_DEQUEUE; seen on 6.18), the load balancer may move it from
there, and the books take it for waiting from then to its wake-up: they may be longer by at most that.
"""
import argparse
import os
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


def read_moved(path, tids):
    """{tid: ns between its being moved to another CPU while it slept and the wake-up after}"""
    moved, asleep, since = {}, set(), {}

    def awake(tid, time):
        asleep.discard(tid)
        if tid in since:
            moved[tid] = moved.get(tid, 0) + time - since.pop(tid) + 1000

    line_of = re.compile(r" (\d+)\.(\d{6}): sched_(switch|waking|migrate_task): ")
    with open(path, errors="replace") as f:
        for line in f:
            m = line_of.search(line)
            if not m:
                continue
            time = int(m.group(1)) * 10**9 + int(m.group(2)) * 1000
            ids = [int(i) for i in re.findall(r"\b(?:prev_|next_)?pid=(\d+) ", line[m.end():])]
            if m.group(3) == "switch":
                awake(ids[1], time)
                if ids[0] in tids and "prev_state=R" not in line:
                    asleep.add(ids[0])
            elif m.group(3) == "waking":
                awake(ids[0], time)
            elif ids[0] in asleep:
                since.setdefault(ids[0], time)
    return moved


def close(low, high, truth, share, least, steal, more, moved=0):
    bound = max(share * truth, least) + more
    return low - bound - steal <= truth <= high + bound + moved


def judge(options, t, first, second, low, high):
    """One thread: what the trace says of it, in bounds, and whether the books agree."""
    unknown, life = second.get(UNKNOWN, 0), sum(second.values())
    run = first.get(RUNNING, 0), second.get(RUNNING, 0) + unknown
    ready = first.get(READY, 0), second.get(READY, 0) + unknown
    big = t["run"] >= 200e6
    apart = options.per_switch * t["switches"]
    return argparse.Namespace(
        run=run, ready=ready, unknown=unknown, life=life, apart=apart,
        known=unknown <= life * options.unknown / 100,
        run_ok=close(*run, t["run"], 0.01 if big else 0, 0 if big else 2e6, options.steal, apart),
        ready_ok=close(*ready, t["wait"], 0.02, 3e6, options.steal, apart, t["moved"]),
        switch_ok=low is not None and high is not None and low <= t["switches"] <= high)


def one_switch(t, s):
    """Have the books one moment as running that the trace has as ready, or the other way round, and all else the same?"""
    apart = s.run[0] - t["run"]
    return abs(apart) <= 4e6 and abs(apart + s.ready[0] - t["wait"]) <= 0.1 * abs(apart)


def farthest(threads, seen):
    """Says how far books and trace are apart at most, beyond what is unknown and without any allowance."""
    def apart(pair, value):
        return max(pair[0] - value, value - pair[1], 0)
    big = [tid for tid in threads if threads[tid]["run"] >= 200e6]
    small = [tid for tid in threads if tid not in big]
    for text, tids, key, book, unit, name in (
            ("running, from 200 ms on", big, "run", "run", 100, "%"),
            ("running, below", small, "run", "run", 1e-6, "ms"),
            ("ready, of threads not moved", [tid for tid in threads if not threads[tid]["moved"]], "ready", "wait", 1e-6,
             "ms")):
        values = [apart(getattr(seen[tid], key), threads[tid][book])
                  / (threads[tid][book] if name == "%" else 1) for tid in tids]
        print("farthest apart: %s (%d threads): %.3f %s" % (text, len(tids), max(values, default=0) * unit, name))


def notices(options, threads, seen, times, low, high):
    """Books that are wrong by one switch, or by 3 % of a long running time, must not pass."""
    def again(tid, **change):
        return judge(options, dict(threads[tid], **change), times[tid][9001], times[tid][9002], low[tid], high[tid])
    tid = max(threads, key=lambda tid: threads[tid]["switches"])
    if again(tid, switches=high[tid] + 1).switch_ok:
        sys.exit("truth: a switch too few in the trace is not noticed")
    long = [tid for tid in threads if threads[tid]["run"] >= 200e6]
    if long and not options.unknown:
        tid = min(long, key=lambda tid: seen[tid].apart / threads[tid]["run"])
        if again(tid, run=seen[tid].run[1] * 1.03).run_ok:
            sys.exit("truth: 3 % of running time too few in the trace are not noticed")


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("prv")
    parser.add_argument("output")
    parser.add_argument("--steal", type=int, default=0)
    parser.add_argument("--unknown", type=float, default=0)
    parser.add_argument("--per-switch", type=float, default=200)
    parser.add_argument("--watched", default=os.devnull)
    return parser.parse_args()


def main():
    options = parse_arguments()
    threads = read_program(options.output)
    if not threads:
        sys.exit("truth: the program reported no thread")
    times = read_times(options.prv, read_rows(options.prv), threads)
    low, high = read_switches(options.trace, threads)
    moved = read_moved(options.watched, threads)
    for tid, t in threads.items():
        t["moved"] = moved.get(tid, 0)
    bad = late = 0
    seen = {}
    print("%7s %12s %25s %12s %25s %9s %11s  %s"
          % ("tid", "run ns", "trace", "wait ns", "trace", "switches", "trace", "thread"))
    for tid, t in sorted(threads.items()):
        first, second = times.get(tid, {}).get(9001, {}), times.get(tid, {}).get(9002, {})
        s = seen[tid] = judge(options, t, first, second, low.get(tid), high.get(tid))
        if s.known and s.switch_ok and not s.run_ok and one_switch(t, s):
            late += 1
        else:
            bad += not (s.known and s.run_ok and s.ready_ok and s.switch_ok)
        if t["moved"]:
            print("thread %d was moved while it slept: %d ns may count as waiting" % (tid, t["moved"]))
        if not s.known:
            print("thread %d is unknown for %d ns of %d" % (tid, s.unknown, s.life))
        print("%7d %12d %12d-%-12d%s %11d %12d-%-12d%s %8d %11s%s  %s"
              % (tid, t["run"], *s.run, " " if s.run_ok else "!", t["wait"], *s.ready, " " if s.ready_ok else "!",
                 t["switches"], "%s-%s" % (low.get(tid), high.get(tid)), " " if s.switch_ok else "!", t["name"]))
    sums = [sum(t["run"] for t in threads.values())] + [sum(s.run[i] for s in seen.values()) for i in (0, 1)]
    sum_ok = close(sums[1], sums[2], sums[0], 0.005, 0, options.steal, sum(s.apart for s in seen.values()))
    print("sum     %12d %12d-%d%s; steal at most %d; unknown %d"
          % (*sums, "" if sum_ok else "!", options.steal, sum(s.unknown for s in seen.values())))
    farthest(threads, seen)
    if late:
        print("of %d threads the books have some running as ready" % late)
    bad += max(0, late - len(threads) // 30)
    if bad or not sum_ok:
        sys.exit("truth: %d threads differ (marked !)%s" % (bad, "" if sum_ok else ", and the sum"))
    notices(options, threads, seen, times, low, high)


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("truth: %s" % error)
