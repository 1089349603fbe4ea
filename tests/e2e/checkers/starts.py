#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report's table of where threads were started, and by whom, to the records of it.

Usage: starts.py DUMP JSON: that of jis dump, and that of jis report --json --limit 0.
"""
import collections
import json
import sys

from waits import Recording, read_dump

JDK = ("java.", "javax.", "jdk.", "sun.", "com.sun.")
ANY = ("java.lang.Thread", "java.lang.VirtualThread", "jdk.internal.misc.InnocuousThread")


def place(rec, stack):
    frames = [(c, m) for c, m, _, _ in rec.frames(stack)]
    own = [f for f in frames if not f[0].startswith(JDK)]
    while len(frames) > 1 and frames[-1][0] in ANY:
        frames.pop()
    return ".".join(own[0] if own else frames[-1]) if frames else "(not known)"


rec = Recording(read_dump(sys.argv[1]))
want = collections.Counter()
for _, _, name, f in rec.records:
    if name == "thread_start_call":
        want[place(rec, f["stack"]), rec.threads[f["java_tid"]]["name"]] += 1
sums = collections.Counter()
for (where, _), n in want.items():
    sums[where] += n
rows = json.load(open(sys.argv[2]))["starts"]
print(*((r["count"], r["place"], [(b["name"], b["count"]) for b in r["by"]]) for r in rows), sep="\n")
assert {r["place"]: r["count"] for r in rows} == sums, (rows, sums)
assert [r["count"] for r in rows] == sorted((r["count"] for r in rows), reverse=True), rows
assert sum(sums.values()) > 0
for r in rows:
    by = collections.Counter()
    for b in r["by"]:
        by[b["name"]] += b["count"]
    starters = {who: n for (where, who), n in want.items() if where == r["place"]}
    # the three threads with the most are told
    assert len(starters) > 3 or by == starters, (r, starters)
    told = [b["count"] for b in r["by"]]
    assert told == sorted(told, reverse=True) and len(told) <= 3, r
    assert all(by[who] <= starters[who] for who in by), (r, starters)
