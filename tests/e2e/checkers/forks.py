#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the tasks of a recording against what the program Forks counted.

Usage: forks.py [--none] PROGRAM-OUTPUT DUMP [REPORT.json]

How many of each class were given to a pool, begun and ended are exact; each that was given to a pool and run is linked.
--none: of forked tasks, whose classes are not CompletableFuture's, there are no records. Exit status 1: wrong.
"""
import collections
import json
import re
import sys

none = "--none" in sys.argv
files = [a for a in sys.argv[1:] if a != "--none"]
told, late = {}, []
for line in open(files[0]):
    word = line.split()
    if word[0] == "TASK":
        told[word[1]] = (int(word[2]), int(word[3]))
    elif word[0] == "LATE":
        late = [int(w) for w in word[1:]]
names, counts = {}, collections.defaultdict(collections.Counter)
for line in open(files[1]):
    m = re.search(r" string_def \{ id = (\d+), text = \"(.*)\" \}", line)
    if m:
        names[int(m[1])] = m[2]
for line in open(files[1]):
    m = re.search(r" (task_submit|task_begin|task_end) \{ .*?class_name = (\d+),", line)
    if m:
        counts[names[int(m[2])]][m[1]] += 1
wrong = 0


def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")


assert len(told) == 7 and late, told
for name, (given, run) in told.items():
    c = counts[name]
    want = (0, 0, 0) if none and not name.startswith("java.util.concurrent.") else (given, run, run)
    expect(f"{name}: given, begun, ended", (c["task_submit"], c["task_begin"], c["task_end"]), want)
if not none:
    report = json.load(open(files[2]))
    pools = [p for p in report["pools"] if p["class"] == "java.util.concurrent.ForkJoinPool"]
    expect("given to pools", sum(p["submitted"] for p in pools), sum(g for g, _ in told.values()))
    expect("hand-overs", sum(p["linked"] for p in pools), sum(g for g, _ in told.values()))
    one = [p for p in pools if int(str(p["hash"]), 0) == late[0]]
    expect("pools of one worker", len(one), 1)
    waited = one[0]["wait"]["longest"]
    expect(f"longest wait {waited} between {late[1]} and {late[2]}", late[1] <= waited <= late[2], True)
print(f"{sum(g for g, _ in told.values())} tasks given to pools, {sum(r for _, r in told.values())} run; {wrong} wrong")
sys.exit(wrong > 0)
