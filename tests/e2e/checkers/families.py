#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a trace of Families against the families of events that it was to have.

Usage: families.py PROGRAM-OUTPUT DUMP FAMILY...

Of each FAMILY that the program has made something of: so many of each of its events as that; of the others: none.
"""
import collections
import re
import sys

EVENTS = {
    "threads": "java_thread_start java_thread_end",
    "names": "java_thread_name",
    "gc": "gc_start gc_finish",
    "markers": "java_marker span_begin span_end",
    "monitors": "monitor_contended_enter monitor_contended_entered monitor_wait monitor_waited",
    "enters": "monitor_enter monitor_exit",
    "parks": "park_begin park_end",
    "sleeps": "sleep_begin sleep_end join_begin join_end",
    "virtual": "vthread_mount vthread_unmount",
    "starts": "thread_start_call",
    "tasks": "task_submit task_begin task_end",
    "forks": "forked",
    "queues": "queue_put queue_take",
    "rmi": "rmi_call rmi_send rmi_serve rmi_dispatch rmi_reply rmi_return",
    "stacks": "wait_stack",
    "safepoints": "safepoint_begin safepoint_reached safepoint_end",
    "heap": "heap",
    "classes": "class_prepare",
    "compilations": "compiled_method",
    "exceptions": "exception",
    "allocations": "allocation",
}
output, dump, *chosen = sys.argv[1:]
done = dict(line.split()[1:] for line in open(output) if line.startswith("DONE "))
seen, fork = collections.Counter(), None
for line in open(dump):
    name = re.match(r"\S+ \S+ (\w+) ", line)[1]
    seen[name] += 1
    text = re.search(r' string_def \{ id = (\d+), text = "Families\$Fork"', line)
    fork = text[1] if text else fork
    # One is submitted, the others are forked.
    if name == "task_begin" and fork and f" class_name = {fork}," in line:
        seen["forked"] += 1
seen["forked"] = max(0, seen["forked"] - 1)
wrong = 0
for family, names in EVENTS.items():
    for name in names.split():
        least = int(done.get(family, 0)) if family in chosen else 0
        if seen[name] < least or family not in chosen and seen[name]:
            wrong += 1
            print(f"{family}: {seen[name]} {name}, should be {f'at least {least}' if least else 'none'}")
print(f"{len(chosen)} families, {len(done)} of them used, {sum(seen.values())} records, {wrong} wrong")
sys.exit(wrong > 0 or len(done) < 20 or set(done) - set(EVENTS) != set() or set(chosen) - set(EVENTS) != set())
