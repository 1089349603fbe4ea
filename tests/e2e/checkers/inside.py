#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the threads named waited for inside of tasks, by a Paraver trace: how much of it is explained.

Usage: inside.py BASE NAME REPORT.json [--least PERCENT]

Of BASE.prv, .pcf, .row the rows whose name begins with NAME. A wait is explained where the trace says on what: the class
of a monitor, of an object waited for or parked for; the owner of a thread that is joined; the peer, file or path of
sockets, polls, files and pipes; the operation of the VM that stopped it; the lock of the VM, by name, or the class whose making
it waits for. Blocked without
a reason, nothing known at all, futexes, other system calls and unmounted are not. Waiting for a CPU is told beside it. All tasks
of the report (JSON) hold these: nowhere is it less off the CPU by what is known, or explained, than these are.
"""
import argparse
import bisect
import collections
import json
import sys

import prv_rows

UNEXPLAINED = {9, 34, 64, 67, 68}
READY = {7, 37}
CLASS, OWNER, PEER, TASK = 77000011, 77000013, 77000014, 77000030
NEEDS = {41: CLASS, 42: CLASS, 43: CLASS, 45: OWNER}
NEEDS.update({state: PEER for state in [*range(46, 54), 60, 61, 62]})

parser = argparse.ArgumentParser()
parser.add_argument("base")
parser.add_argument("name")
parser.add_argument("report")
parser.add_argument("--least", type=float, default=0)
args = parser.parse_args()


def tasks_of(row):
    begin = None
    for time, value in row.events[TASK]:
        if value and begin is None:
            begin = time
        elif not value and begin is not None:
            yield begin, time
            begin = None


wanted = prv_rows.read(args.base, lambda name: name.startswith(args.name))
blocked = explained = tasks = waits = ready = 0
rest = collections.Counter()
longest = []
for row in wanted.values():
    begins = [s[0] for s in row.states]
    for begin, end in tasks_of(row):
        tasks += 1
        i = max(0, bisect.bisect_right(begins, begin) - 1)
        while i < len(row.states) and row.states[i][0] < end:
            since, until, state = row.states[i]
            i += 1
            time = min(until, end) - max(since, begin)
            if state in READY:
                ready += max(time, 0)
            if state not in UNEXPLAINED and state < 40 or time <= 0:
                continue
            blocked += time
            waits += 1
            # what is waited for is told when the wait begins, for all of it
            if state in UNEXPLAINED or state in NEEDS and not row.value(NEEDS[state], max(since, begin)):
                rest[state] += time
                longest.append((time, state, max(since, begin), row.name))
            else:
                explained += time
share = 100 * explained / blocked if blocked else 0
print(f"{len(wanted)} threads, {tasks} tasks: {blocked / 1e6:.3f} ms off the CPU, {share:.3f} % explained; not: {dict(rest)}; "
      f"{ready / 1e6:.3f} ms waiting for a CPU")
if share < args.least:
    for time, state, at, name in sorted(longest, reverse=True)[:10]:
        print(f"not explained: {time / 1e6:.3f} ms in state {state} from {at / 1e9:.9f} s on, {name}")
whole = json.load(open(args.report))["inside_tasks"]
# but for ns that are rounded away, twice a wait
known, whole_known = blocked - rest[34], whole["blocked"] - whole["rest"].get("nothing known", 0)
fits = known <= whole_known + waits * 2 and explained <= whole["explained"] + waits * 2
if not fits:
    print(f"all tasks of the report have less: {whole}")
sys.exit(not (fits and tasks and blocked and share >= args.least))
