#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a program's waits for classes (ClassWaits) with the records and the report.

Usage: class_waits.py OUTPUT DUMP REPORT.json [kmod]
"""
import collections
import json
import re
import sys

OWN = "class initialisation: "


def told(path):
    """How often each class was waited for, by the records, and the threads that did."""
    names, threads, count, by = {}, {}, collections.Counter(), collections.defaultdict(set)
    with open(path) as f:
        for line in f:
            if m := re.search(r" string_def \{ id = (\d+), text = \"(.*)\" \}", line):
                names[m[1]] = m[2]
            elif m := re.search(r" java_thread_start \{ java_tid = (\d+),.* name = \"(.*)\" \}", line):
                threads[m[1]] = m[2]
            elif m := re.search(r" class_waited \{ java_tid = (\d+), tid = \d+, class_name = (\d+)", line):
                name = names[m[2]]
                count[name] += 1
                by[name].add(threads.get(m[1]))
    return count, by


def main():
    with open(sys.argv[1]) as f:
        expected = {m[1]: [int(x) for x in m[2].split()] for m in re.finditer(r"EXPECT (\S+) ([\d ]+)", f.read())}
    count, by = told(sys.argv[2])
    with open(sys.argv[3]) as f:
        report = json.load(f)
    peers = {p["name"][len(OWN):]: p for p in report["peers"] if p["name"].startswith(OWN)}
    wrong, words = [], "kmod" in sys.argv[4:]
    for name, (n, least, most) in expected.items():
        if count[name] != n or by[name] != {"waits"}:
            wrong.append(f"{name}: {count[name]} waits by {by[name]}, not {n}")
        p = peers.get(name)
        print(f"{name}: {count[name]} told, measured {most}, {p}")
        # By ftrace there are no words: what else the thread waited for just before may be among it.
        if not p or p["reason"] != "lock of the VM" or words and not least <= p["time"] <= most:
            wrong.append(f"{name}: the report has {p}")
    for name in count.keys() - expected.keys():
        if name.startswith("ClassWaits"):
            wrong.append(f"waits for {name}")
    for line in wrong:
        print(line)
    return 1 if wrong or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
