#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the arrows of a Paraver trace (--wakeups all) against who ended the waits of Waits.

Usage: wakers.py PROGRAM-OUTPUT REPORT.json BASE

Each "EXPECT kind java_tid=N count=N waker=WHO ...": as many intervals of the thread's row in the kind's state end with an
arrow from WHO, the row of a Java thread, as it waited; of several (joined threads) one from each. A timer's arrow comes from
an interrupt, not from a thread. No interval is ended by another thread: in between a JVM may be woken by its own timers
only. Who waits for a monitor looks again by a timer: when that finds it free, the one that let it go wakes nobody. Where the
kernel hid switches from the recorder, as many may be missing in all.

"KERNEL kind java_tid=N count=N waker=WHO ..." likewise of WaitsKernel: what comes by a network, the loopback too, is told
by a softirq, each time, whatever thread it interrupted; pipes and local sockets by who writes.
"""
import json
import re
import sys

import prv_rows

STATE = {"monitor": 41, "wait": 42, "park": 43, "sleep": 44, "join": 45}
KERNEL_STATE = {"socket-read": {46}, "socket-write": {47}, "accept": {48}, "connect": {49}, "connect-unix": {49}, "poll": {50},
                "pipe": {52, 67}, "fsync": {51}}  # 67: of a descriptor that has no name
THREADS, INTERRUPTS, SOFTIRQ = (0, 5), (1, 2, 4), 1

output, report, base = sys.argv[1:4]
report = json.load(open(report))
counts = report["counts"]
hidden = counts["unseen_switches"] + counts["contradictions"]
tids = {str(t["tid"]): t["java_tid"] for t in report["threads"] if "java_tid" in t}
rows = prv_rows.read(base, lambda name: True)
row_of = {}
for key, row in rows.items():
    name = re.search(r"\[(virtual )?(\d+)\]$", row.name)
    if name:
        row_of[int(name[2]) if name[1] else tids.get(name[2])] = key


def arrows(row, states):
    """Times at which the row ceases to be in the states, and what arrives then: (sender, tag)."""
    ends = {end for _, end, state in row.states if state in states}
    return ends, [(sender, tag) for time, sender, tag in row.arrows if time in ends and tag in THREADS + INTERRUPTS]


def from_softirqs(row, kind, e):
    """How many are missing, and those that are from others."""
    ends, ended = arrows(row, KERNEL_STATE[kind])
    right = sum(tag == SOFTIRQ for _, tag in ended)
    return max(int(e["count"]), len(ends)) - right, [a for a in ended if a[1] != SOFTIRQ]


wrong = kinds = missing = 0
for line in open(output):
    words = line.split()
    if len(words) < 3 or words[0] not in ("EXPECT", "KERNEL"):
        continue
    kind, e = words[1], dict(w.split("=", 1) for w in words[2:])
    if e.get("waker", "?") == "?":
        continue
    kinds += 1
    row = rows[row_of[int(e["java_tid"])]]
    if e["waker"] == "softirq":
        short, others = from_softirqs(row, kind, e)
        missing += max(0, short)
        if others or not 0 <= short <= hidden:
            wrong += 1
            print(f"{row.name}: {kind} {e['count']} times by softirqs: {short} missing, {others}")
        continue
    _, ended = arrows(row, KERNEL_STATE[kind] if words[0] == "KERNEL" else {STATE[kind]})
    threads = [sender for sender, tag in ended if tag in THREADS]
    if e["waker"] == "timer":
        want, got = [None] * int(e["count"]), [None] * (len(ended) - len(threads))
    else:
        want = [row_of[int(n)] for n in e["waker"].split(",")]
        want = want * int(e["count"]) if len(want) == 1 else want
        got = [sender for sender in threads if sender in want]
    looks = len(ended) - len(threads) if kind == "monitor" else 0
    short = max(0, len(want) - len(got) - looks)
    missing += short
    others = [sender for sender in threads if sender not in want]
    again = kind != "monitor" and len(got) > len(want)  # it may find the monitor taken once more, by who woke it
    if len(want) != int(e["count"]) or again or short > hidden or others:
        wrong += 1
        print(f"{row.name}: {kind} {e['count']} times, ended by {e['waker']}: arrows {ended}")
print(f"the wakers of {kinds} kinds, {wrong} wrong, {missing} missing, {hidden} switches hidden")
sys.exit(wrong > 0 or missing > hidden or kinds < 23)
