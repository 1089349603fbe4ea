#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what a program says of its calls against what a recording tells of them.

Usage: methods.py OUTPUT DUMP [--only REGEX] [--moves]. OUTPUT has lines "CALLS class method descriptor number" and "LOST
number"; DUMP is that of jis dump. Each call must be there once, on its thread, inside of its caller, with its exit,
save those of constructors whose super() threw. --only: of the methods that match it, none else being there.
Methods of known recursion are as often in each of their frames. --moves: some calls end on another carrier's stream.
"""
import re
import sys
from collections import Counter, defaultdict

from waits import FIELD, LINE, value

UNWOUND = 0x80000000
bad = 0


def fail(text):
    global bad
    bad += 1
    if bad < 20:
        print("BAD", text)


def events(path):
    with open(path) as f:
        for line in f:
            words = line.split(" ", 3)
            if len(words) > 3 and words[2].startswith("method_e"):
                yield words[1], words[2], {"method": int(words[3].split()[3]) | UNWOUND * (" unwound" in line)}
                continue
            m = LINE.match(line)
            if m and not m[3].startswith("kernel/"):
                yield m[3], m[4], {k: value(v.strip().split(" ")[0] if v[0] != '"' else v)
                                   for k, v in FIELD.findall(m[5])}


def main():
    names, defs, methods = {0: ""}, {}, {}
    entered, left, unwound, lost = Counter(), Counter(), Counter(), Counter()
    carried = {}  # stream: virtual thread on it
    stacks = defaultdict(list)
    depths = defaultdict(Counter)  # method: how often inside of so many calls of itself
    moved = set()
    for stream, name, f in events(sys.argv[2]):
        if name == "string_def":
            names[f["id"]] = f["text"]
        elif name == "method_def":
            defs[f["id"]] = f
        elif name == "traced_method":
            d = defs[f["method"]]
            key = f'{d["class_name"]} {names[d["name"]]} {names[d["descriptor"]]}'
            if key in methods.values() and methods.get(f["id"]) != key:
                fail(f"{key} has two numbers")
            methods[f["id"]] = key
        elif name == "vthread_mount":
            carried[stream] = f["java_tid"]
        elif name == "vthread_unmount":
            carried.pop(stream, None)
        elif name == "lost_records":
            fail(f"records are lost in {stream}")
        elif name == "method_enter":
            if f["method"] not in methods:
                fail(f"method {f['method']} is not in the dictionary")
                continue
            entered[methods[f["method"]]] += 1
            thread = carried.get(stream, stream)
            depths[methods[f["method"]]][sum(m == f["method"] for m, _ in stacks[thread])] += 1
            stacks[thread].append((f["method"], stream))
        elif name == "method_exit":
            number, thread = f["method"] & ~UNWOUND, carried.get(stream, stream)
            stack = stacks[thread]
            key = methods.get(number)
            while stack and stack[-1][0] != number:
                lost[methods[stack.pop()[0]]] += 1
            if not stack:
                fail(f"{key} is left and was not entered")
                continue
            if stack.pop()[1] != stream:
                moved.add(key)
            left[key] += 1
            unwound[key] += f["method"] != number
    for thread, stack in stacks.items():
        if stack:
            fail(f"{thread} is still in {[methods[m] for m, _ in stack]}")
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    told, lost_told = {}, 0
    with open(sys.argv[1]) as f:
        for line in f:
            words = line.split()
            if line.startswith("CALLS "):
                told[" ".join(words[1:4])] = int(words[4])
            elif line.startswith("LOST "):
                lost_told = int(words[1])
    if only:
        told = {k: n for k, n in told.items() if re.search(only, k)}
        for key in entered:
            if not re.search(only, key):
                fail(f"{key} has calls")
        if not any(re.search(only, "Calls$Failing <init>") for _ in [0]):
            lost_told = 0
    for key, n in told.items():
        if entered[key] != n:
            fail(f"{key}: {entered[key]} calls recorded, {n} made")
    for key, n in entered.items():
        if n != left[key] + lost[key]:
            fail(f"{key}: {n} enters, {left[key]} exits, {lost[key]} lost ones")
        if lost[key] and not key.startswith("Calls$Failing <init>"):
            fail(f"{key}: {lost[key]} exits are missing")
    if sum(lost.values()) != lost_told:
        fail(f"{sum(lost.values())} exits are missing, {lost_told} should")
    down = "Calls down (I)V"
    if unwound[down] != entered[down]:
        fail(f"{unwound[down]} of {entered[down]} exits of {down} by exception")
    if unwound["Calls fib (I)I"]:
        fail("fib ends by an exception")
    for key, frames in ("CallsTold$Napper nap (I)I", 6), (down, 11):
        if depths[key] and depths[key] != Counter({k: entered[key] // frames for k in range(frames)}):
            fail(f"{key} calls itself in {frames} frames: {depths[key]}")
    if "--moves" in sys.argv and not moved:
        fail("no call goes on on another carrier")
    if not told or not entered:
        fail("nothing is told")
    print(f"methods {len(entered)} calls {sum(entered.values())} unwound {sum(unwound.values())} "
          f"lost {sum(lost.values())} moved {len(moved)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
