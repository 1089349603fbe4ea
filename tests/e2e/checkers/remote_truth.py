#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds all remote calls of a recording against what the programs RemoteCalls in it say of each at both of its ends.

Usage: remote_truth.py TREE.jta MARKERS RMI.json PROGRAM-OUTPUT... Each call passes a number, whose upper half is the pid that
calls; a marker of type 1 tells it in the thread that calls, before it does, one of type 2 in the method that is called. A call
that was told at both ends must be linked, to the end with its number; as many others as there are must have a reason out of
the list; the calls of each client must be as many as it says.
"""
import bisect
import collections
import json
import re
import sys

from jta_file import INTERNAL, REMOTE, SERVED, Tree

LINE = re.compile(r"^(\d+)\.(\d{9}) jvm-(\d+)\S* java_marker \{ (.*) \}$")
FIELD = re.compile(r"(\w+) = (-?\w+)")
LINKS = "UID", "connection"
REASONS = ("never sent", "no answer", "under way at the end", "began before the recording", "records are missing",
           "other end not recorded")

tree = Tree(sys.argv[1])
wrong = list(tree.wrong)
pids = {pid: jvm for jvm, (pid, _) in tree.jvm.items()}
threads = {(jvm, java_tid): n for n, (jvm, _, java_tid, _) in tree.thread.items()}
called, served = collections.defaultdict(list), collections.defaultdict(list)  # by thread: when, number
for line in open(sys.argv[2]):
    m = LINE.match(line)
    e = dict(FIELD.findall(m[4]))
    thread = threads.get((pids[int(m[3])], int(e["java_tid"])))
    {"1": called, "2": served}[e["type"]][thread].append((int(m[1] + m[2]), int(e["value"])))
told = {n for of in (called, served) for t in of.values() for _, n in t}
both = {n for t in called.values() for _, n in t} & {n for t in served.values() for _, n in t}

# The number of each record: a client's is told before it, a server's in it.
number = {}
for r in tree.records[1:]:
    if r.kind not in (REMOTE, SERVED) or r.flags & INTERNAL:
        continue
    told_there = (called if r.kind == REMOTE else served)[r.thread]
    if r.kind == REMOTE:
        at = bisect.bisect_right(told_there, (r.begin, 1 << 64)) - 1
    else:
        at = bisect.bisect_left(told_there, (r.begin, 0))
        at = -1 if at == len(told_there) or told_there[at][0] > r.end else at
    if at >= 0:
        number[r.number] = told_there[at][1]
ends = collections.Counter((tree.records[r].kind, n) for r, n in number.items())
wrong += [f"number {n} is of {times} {kind}" for (kind, n), times in ends.items() if times > 1]

linked = wrong_links = 0
others = collections.Counter()
for r in tree.records[1:]:
    if r.kind == SERVED and not r.flags & INTERNAL:
        parent = tree.records[tree.parent(r)]
        if parent.kind != REMOTE:
            others["served"] += 1
            if number.get(r.number) in both:
                wrong.append(f"number {number[r.number]} was told at both ends, and is not linked")
        elif r.number in number:
            linked += 1
            if number.get(parent.number) != number[r.number]:
                wrong_links += 1
                wrong.append(f"number {number[r.number]} is in the call of number {number.get(parent.number)}")
        else:
            others["served, not yet in its method"] += 1
    elif r.kind == REMOTE and not r.flags & INTERNAL and not any(c.kind == SERVED for c in r.children):
        others["called"] += 1
        if number.get(r.number) in both:
            wrong.append(f"number {number[r.number]} was told at both ends, and is linked to none")

rmi = json.load(open(sys.argv[3]))
user = [l for l in rmi["lines"] if not l["internal"]]
reasons = {k: sum(l["matches"][k] for l in user) for k in LINKS + REASONS}
if set(rmi["matches"]) != set(reasons) or sum(rmi["matches"].values()) != rmi["calls"]:
    wrong.append(f"{rmi['calls']} calls, {rmi['matches']}")
if rmi["disagreements"] or rmi["backward"]:
    wrong.append(f"{rmi['disagreements']} disagree, {rmi['backward']} run backward")
alone = others["called"] + others["served"]
if (reasons["UID"] + reasons["connection"], sum(reasons[k] for k in REASONS)) != \
        (linked + others["served, not yet in its method"], alone):
    wrong.append(f"linked {linked}, alone {alone} in the tree: {reasons}")
# All hops of calls that returned or threw; of those that were cut at least the first, and four at most.
whole = cut = 0
for path in sys.argv[4:]:
    text = open(path).read()
    said = {k: int(v) for k, v in (w.split("=") for w in re.search("^CALLS (.*)", text, re.M)[1].split())}
    whole += sum(said[k] for k in ("returned", "thrown", "broken", "unsent"))
    whole += sum(int(n) for n in re.findall(r"^HUNG (\d+)", text, re.M))
    cut += sum(int(n) for n in re.findall(r"^CUT (\d+)", text, re.M))
if not whole + cut <= len(told) <= whole + 4 * cut:
    wrong.append(f"{len(told)} numbers were told; by the programs {whole}, and {cut} that were cut")
print(f"{len(told)} calls with a number, {len(both)} of them told at both ends: {linked} linked, {wrong_links} wrongly; "
      f"{', '.join(f'{n} {k}' for k, n in reasons.items() if n)}")
share = linked / len(both) if both else 0
if share < 0.9999:
    wrong.append(f"only {share:.6f} are linked")
for text in wrong[:20]:
    print(text)
sys.exit(bool(wrong))
