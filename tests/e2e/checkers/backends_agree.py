#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds two recordings of the same run, by two backends at once, against each other, thread by thread.

Usage: backends_agree.py TRACE-A TRACE-B [--within NS]. Both must have the switches and wake-ups of each thread of
the process in the same order, with the same partners and states; with --within their times must not differ by more.
Read by babeltrace2; times are raw ticks (the manifest's base added).
"""
import argparse
import json
import os
import sys

import ctf


# JIS_TASK_IOWAIT: ftrace cannot tell.
IOWAIT = 0x200


def read(trace):
    with open(os.path.join(trace, "manifest.json")) as f:
        manifest = json.load(f)
    lost = sum(v for s in manifest["streams"] for v in s["lost"].values())
    if lost:
        raise ctf.CheckError("%s: %d records are lost: nothing to compare" % (trace, lost))
    tids = {t["tid"] for t in manifest["threads"]}
    threads = {tid: [] for tid in tids}
    for time, name, f in ctf.events(os.path.join(trace, "kernel")):
        time += manifest["base"]
        if name == "sched_switch":
            if f["prev_tid"] in tids:
                state = f["prev_state"] & ~IOWAIT
                threads[f["prev_tid"]].append(("out", f["next_tid"], state, time))
            if f["next_tid"] in tids:
                threads[f["next_tid"]].append(("in", f["prev_tid"], 0, time))
        elif name in ("sched_wakeup", "sched_wakeup_new") and f["tid"] in tids:
            threads[f["tid"]].append((name, f["target_cpu"], 0, time))
    return manifest, threads


def common(a, b):
    """Cuts what only one of the two saw because it began earlier or ended later."""
    if not a or not b:
        return [], []
    begin = max(a[0][3], b[0][3])
    end = min(a[-1][3], b[-1][3])
    slack = 50000000  # ticks: the two stamp the same event a little apart
    return ([e for e in a if begin - slack <= e[3] <= end + slack],
            [e for e in b if begin - slack <= e[3] <= end + slack])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--within", type=float)
    parser.add_argument("--least", type=int, default=1000)
    options = parser.parse_args()
    manifest, a = read(options.a)
    other, b = read(options.b)
    if manifest["backend"] == other["backend"]:
        raise ctf.CheckError("both traces are of the %s backend" % other["backend"])
    if set(a) != set(b):
        raise ctf.CheckError("threads differ: %s" % sorted(set(a) ^ set(b)))
    n = worst = bad = 0
    for tid in sorted(a):
        x, y = common(a[tid], b[tid])
        if [e[:3] for e in x] != [e[:3] for e in y]:
            first = next((i for i, (p, q) in enumerate(zip(x, y)) if p[:3] != q[:3]), min(len(x), len(y)))
            print("thread %d: %d records and %d; they part at %d:\n  %s %r\n  %s %r"
                  % (tid, len(x), len(y), first, manifest["backend"], x[max(0, first - 2):first + 3],
                     other["backend"], y[max(0, first - 2):first + 3]))
            bad += 1
            continue
        n += len(x)
        for p, q in zip(x, y):
            worst = max(worst, abs(p[3] - q[3]) * 1e9 / manifest["frequency"])
    print("%d records of %d threads agree; times differ by at most %.1f us" % (n, len(a), worst / 1e3))
    if bad or n < options.least or (options.within is not None and worst > options.within):
        sys.exit("backends_agree: they tell different stories")


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("backends_agree: %s" % error)
