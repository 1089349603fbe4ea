#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the heap records of a recording against a log of the JVM's own (-Xlog:gc with decorator timenanos).

Usage: heap.py LOG DUMP [SLACK] [--concurrent]. Each collection of the log has a record before it and one after it, with
what the log says was used (within SLACK MiB, 0) and committed, which it gives in whole MiB. --concurrent: collections
that are no pauses.
"""
import re
import sys

PAUSE = re.compile(r"GC\((\d+)\) Pause (?:Young|Full).*? (\d+)M->(\d+)M\((\d+)M\)")
CYCLE = re.compile(r"GC\((\d+)\) .*(?:Garbage|Major|Minor) Collection.*? (\d+)M\([^)]*\)->(\d+)M\([^)]*\)")
HEAP = re.compile(r" heap \{ number = (\d+), after = (\d), used = (\d+), committed = (\d+) \}")


def fail(text):
    print("BAD", text)
    sys.exit(1)


def main():
    concurrent = "--concurrent" in sys.argv
    slack = int((sys.argv[3:4] or ["0"])[0])
    records = {}
    with open(sys.argv[2]) as f:
        for line in f:
            m = HEAP.search(line)
            if m:
                n, after, used, committed = (int(x) for x in m.groups())
                if not used <= committed:
                    fail(f"{used} bytes used of {committed}: {line}")
                records.setdefault(n, []).append((after, used >> 20, committed >> 20))
    seen = 0
    with open(sys.argv[1]) as f:
        for line in f:
            m = (CYCLE if concurrent else PAUSE).search(line)
            if not m or int(m[1]) < min(records, default=0):
                continue
            n, before, after = int(m[1]), int(m[2]), int(m[3])
            mine = records.pop(n, [])
            if [r[0] for r in mine] != [0, 1] * (len(mine) // 2) or not mine:
                fail(f"collection {n} has records {mine}")
            if abs(mine[0][1] - before) > slack or abs(mine[-1][1] - after) > slack:
                fail(f"collection {n}: {mine}, the log says: {line}")
            if not concurrent and mine[-1][2] != int(m[4]):
                fail(f"collection {n}: {mine}, the log says: {line}")
            seen += 1
    if records or seen < 8:
        fail(f"{seen} collections in the log, others recorded: {records}")
    print(f"{seen} collections as in the log")


if __name__ == "__main__":
    main()
