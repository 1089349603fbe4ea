#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis report --json` against what the program Stops says its spinner was stopped for.

Usage: stops.py PROGRAM-OUTPUT REPORT.json

As many stops for collections as there were, at least as many for other safepoints as stacks were taken (the JVM has some
of its own), no more in all than the thread gave up its CPU; their time is that for which the kernel's books have it
asleep, within 2 ms or 2 % a stop, and, in a guest, it was on a CPU and kept waiting for one as long as they say. Where
the kernel's tracepoint hid switches, some of each are told.
"""
import json
import os
import sys

STOPS = ("garbage collection", "safepoint")
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def main():
    said = next(line for line in open(sys.argv[1]) if line.startswith("SPINNER "))
    said = dict(w.split("=") for w in said.split()[1:])
    least, most = map(int, said["asleep"].split(","))
    count, switches = int(said["count"]), int(said["switches"])
    report = json.load(open(sys.argv[2]))
    thread = next(t for t in report["threads"] if t.get("java_tid") == int(said["java_tid"]))
    none = {"time": 0, "count": 0}
    gc = thread["reasons"].get("garbage collection", none)
    safepoint = thread["reasons"].get("safepoint", none)
    stops, time = gc["count"] + safepoint["count"], gc["time"] + safepoint["time"]
    others = sum(r["count"] for r in thread["reasons"].values()) - stops
    print(f"stopped {gc['count']} + {safepoint['count']} times, {time / 1e6:.3f} ms; by the program {count} + {count}, "
          f"{switches} switches, {least / 1e6:.3f} to {most / 1e6:.3f} ms asleep")
    if report["counts"]["unseen_switches"] or report["counts"]["contradictions"]:
        if not gc["count"] or not safepoint["count"]:
            complain(f"not stopped: {thread['reasons']}")
    else:
        slack = max(2e6 * stops, 0.02 * most)
        if gc["count"] != count or safepoint["count"] < count or not switches - others <= stops <= switches:
            complain(f"stopped otherwise: {thread['reasons']}")
        if not least - slack <= time <= most + slack:
            complain(f"stopped for another time: {thread['reasons']}")
        # A host's books leave out what its hypervisor took.
        guest = os.environ.get("BACKEND") == "kmod"
        for state, want in (("running", int(said["cpu"])), ("ready", int(said["waited"]))) if guest else ():
            if abs(thread["states"][state] - want) > max(20e6, 0.02 * want):
                complain(f"{state} {thread['states'][state]} ns, by the kernel's books {want}")
        # Each stop of any thread is for an operation, which has a name; the program asked for two.
        named = [p for p in report["peers"] if p["reason"] in STOPS and p["name"]]
        whole = sum(r["count"] for t in report["threads"] for name, r in t["reasons"].items() if name in STOPS)
        if sum(p["count"] for p in named) != whole:
            complain(f"{whole} stops of all threads, with an operation: {named}")
        for words in (("Collect", "GC"), ("ThreadDump",)):
            its = sum(p["count"] for p in named if any(w in p["name"] for w in words))
            if its < count:
                complain(f"{its} stops for {' or '.join(words)}, the spinner's alone are {count}: {named}")
        # Who lets it go on is the thread that does the operation.
        if stops > others and thread["top_waker"].get("name") != "VM Thread":
            complain(f"woken by {thread['top_waker']}")
    for name, n in report["counts"]["errors"].items():
        if n:
            complain(f"{n} times: {name}")
    return 1 if wrong else 0


sys.exit(main())
