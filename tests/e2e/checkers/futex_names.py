#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whose locks futexes are (futex_name), against what is known of HotSpot's threads and of the program.

Usage: futex_names.py DUMP MANIFEST LIBJVM THREADS

Threads of the VM wait most of the time for one lock each, which has a name in HotSpot's sources; threads of the program
(tests/e2e/java/FutexNames.java) never do while they park, wait, sleep or enter. main starts THREADS of them: it waits for
each until it is there, or finds that it is. What HotSpot calls its locks are texts in its library.
"""
import collections
import json
import re
import sys

dump, manifest, libjvm, started = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3], "rb").read(), int(sys.argv[4])
# The lock's name, as far as the releases agree.
VM = {
    "VM Periodic Tas": "PeriodicTask_lock",
    "Service Thread": "Service_lock",
    "Monitor Deflati": "MonitorDeflation_lock",
    "VM Thread": "VMOperation_lock",
    "C2 CompilerThre": "MethodCompileQueue_lock",
    "C1 CompilerThre": "MethodCompileQueue_lock",
    "G1 Service": "G1ServiceThread",
}
JAVA = ("Parked", "Waits", "Sleeps", "Enters")
wrong = 0


def expect(what, ok):
    global wrong
    if not ok:
        wrong += 1
        print("wrong:", what)


comm = {t["tid"]: t["comm"] or "" for t in manifest["threads"]}
java = {t["tid"]: t["name"] or "" for t in manifest["threads"] if t["java_tid"]}
names = {}  # by address: (from, name)
waits = collections.defaultdict(list)  # by tid: (address, seconds)
open_waits = {}
for line in open(dump):
    time = float(line.split(" ", 1)[0]) if line[0].isdigit() else 0.0
    if m := re.search(r" futex_name \{ address = (0x\w+), from = (\w+), name = \"(.*)\" \}", line):
        names[m.group(1)] = (m.group(2), m.group(3))
    elif m := re.search(r" syscall_futex \{ tid = (\d+), .*op = (\w+).*, address = (0x\w+)", line):
        if m.group(2).startswith("WAIT"):
            open_waits[int(m.group(1))] = (m.group(3), time)
    elif m := re.search(r" syscall_exit \{ tid = (\d+), nr = futex", line):
        if int(m.group(1)) in open_waits:
            address, begin = open_waits.pop(int(m.group(1)))
            waits[int(m.group(1))].append((address, time - begin))
    elif line.startswith("#") and " end " in line:
        break
# Those that go on when the recording ends count as well.
for tid, (address, begin) in open_waits.items():
    waits[tid].append((address, time - begin))

for whose, name in names.values():
    if whose == "1":
        stem = re.sub(r" (alloc|active)( lock)?$| #[0-9]+$| \(event log\)$", "", name)
        expect(f"libjvm.so has no text {stem!r}", stem.encode() in libjvm)
vm = 0
for tid, its in waits.items():
    expected = next((lock for c, lock in VM.items() if comm.get(tid, "").startswith(c)), None)
    if tid in java and comm.get(tid, "").split(" ")[0] not in ("C1", "C2", "Service", "Monitor"):
        expected = None
    # one that began before the recording is not known
    if not expected or sum(seconds for _, seconds in its) < 0.1:
        continue
    longest = collections.Counter()
    for address, seconds in its:
        longest[names.get(address, ("", "none"))[1]] += seconds
    most = longest.most_common(1)[0][0]
    expect(f"{comm[tid]} waits for {most}, not for {expected}: {dict(longest)}", most.startswith(expected))
    vm += 1
expect(f"of {vm} threads of the VM waits are known, at least 4 expected", vm >= 4)
for who in JAVA:
    tid = next((t for t, n in java.items() if n == who), None)
    longest = max(waits.get(tid, []), key=lambda w: w[1], default=None)
    expect(f"{who} waits nowhere", longest is not None)
    if longest:
        expect(f"the futex that {who} waits on for {longest[1]:.3f} s is that of {names.get(longest[0])}", longest[0] not in names)
main = next(t for t, n in java.items() if n == "main")
starts = sum(names.get(address, ("", ""))[1] == "startThread_lock" for address, _ in waits[main])
# It waits on the condition, and may have to for its mutex.
expect(f"main waits {starts} times for a thread that it starts, of {started}", 0 < starts <= 3 * started)
print(f"{len(names)} futexes with names, {vm} threads of the VM, {starts} waits of main's for {started} threads, {wrong} wrong")
sys.exit(wrong > 0)
