#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a call tree against what the program RemoteCalls says of each call at both of its ends.

Usage: tree_calls.py TREE.jta DUMP. Each call passes a number; a marker of type 1 tells it in the thread that calls, before it
does, one of type 2 in the method that is called. What was served with a number must be in the remote call with that number.
"""
import bisect
import collections
import re
import sys

from jta_file import METHOD, REMOTE, SERVED, STARTED, Tree

LINE = re.compile(r"^(\d+)\.(\d{9}) jvm-(\d+)\S* java_marker \{ (.*) \}$")
FIELD = re.compile(r"(\w+) = (-?\w+)")

tree = Tree(sys.argv[1])
wrong = tree.wrong
pids = {pid: jvm for jvm, (pid, _) in tree.jvm.items()}
threads = {(jvm, java_tid): n for n, (jvm, _, java_tid, _) in tree.thread.items()}
said = {1: collections.defaultdict(list), 2: collections.defaultdict(list)}
for line in open(sys.argv[2]):
    m = LINE.match(line)
    if not m:
        continue
    e = dict(FIELD.findall(m[4]))
    thread = threads.get((pids[int(m[3])], int(e["java_tid"])))
    if thread and int(e["type"]) in said:
        said[int(e["type"])][thread].append((int(m[1] + m[2]), e["value"]))
by_thread = collections.defaultdict(list)
for r in tree.records[1:]:
    if r.kind == SERVED:
        by_thread[r.thread].append(r)
linked = 0
for thread, markers in said[2].items():
    served = sorted(by_thread[thread], key=lambda r: r.begin)
    begins = [r.begin for r in served]
    for time, number in markers:
        at = bisect.bisect_right(begins, time) - 1
        if at < 0 or served[at].end < time:
            wrong.append(f"number {number} is served in no call")
            continue
        parent = tree.records[tree.parent(served[at])]
        if parent.kind != REMOTE:
            continue  # its client died, or is not known: the program counts those
        calls = said[1][parent.thread]
        before = bisect.bisect_right(calls, (parent.begin, "~")) - 1
        if before < 0 or calls[before][1] != number:
            wrong.append(f"number {number} is in a call of number {calls[before][1] if before >= 0 else '?'}")
        linked += 1
print(f"{len(tree.records) - 1} records, {linked} calls with a number, "
      f"{sum(r.kind == METHOD for r in tree.records[1:])} of methods, "
      f"{sum(bool(r.flags & STARTED) for r in tree.records[1:])} first ones of a thread, {len(wrong)} wrong")
for text in wrong[:20]:
    print(text)
sys.exit(bool(wrong) or not linked)
