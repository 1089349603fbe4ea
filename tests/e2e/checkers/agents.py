#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what two other agents say of a program's calls against what a recording tells of them.

Usage: agents.py OUTPUT COVERAGE DUMP. OUTPUT has ByteBuddy's lines "BUDDY [left] class method descriptor number";
COVERAGE those of JacocoTold; DUMP is that of jis dump. ByteBuddy's numbers of calls are the recorded ones; what
JaCoCo says was run has been called, and what returned without an exception JaCoCo says was run.
"""
import sys
from collections import Counter

from methods import events, UNWOUND

# ByteBuddy puts nothing into bridges.
BRIDGE = "Calls$Polite greet (Ljava/lang/Object;)Ljava/lang/Object;"
bad = 0


def fail(text):
    global bad
    bad += 1
    if bad < 20:
        print("BAD", text)


def recorded(path):
    """Calls, and those that returned, of each method."""
    names, defs, methods = {0: ""}, {}, {}
    calls, returned = Counter(), Counter()
    for _, name, f in events(path):
        if name == "string_def":
            names[f["id"]] = f["text"]
        elif name == "method_def":
            defs[f["id"]] = f
        elif name == "traced_method":
            d = defs[f["method"]]
            methods[f["id"]] = f'{d["class_name"]} {names[d["name"]]} {names[d["descriptor"]]}'
        elif name == "method_enter":
            calls[methods[f["method"]]] += 1
        elif name == "method_exit" and not f["method"] & UNWOUND:
            returned[methods[f["method"]]] += 1
    return calls, returned


def main():
    calls, returned = recorded(sys.argv[3])
    buddy, buddy_left = Counter(), Counter()
    with open(sys.argv[1]) as f:
        for line in f:
            words = line.split()
            if line.startswith("BUDDY left "):
                buddy_left[" ".join(words[2:5])] = int(words[5])
            elif line.startswith("BUDDY "):
                buddy[" ".join(words[1:4])] = int(words[4])
    for key in buddy.keys() | {k for k in calls if not k.split()[1].startswith("<clinit>")}:
        if key.startswith("CallsTold") or key.split()[1] == "overflow" or key == BRIDGE:
            continue
        if buddy[key] != calls[key]:
            fail(f"{key}: {calls[key]} calls recorded, {buddy[key]} seen by ByteBuddy")
        if not key.split()[1].startswith("<") and buddy_left[key] != calls[key]:
            fail(f"{key}: {buddy_left[key]} of {calls[key]} exits seen by ByteBuddy")
    covered = missed = 0
    with open(sys.argv[2]) as f:
        for line in f:
            what, _, key = line.strip().partition(" ")
            if what == "MISMATCH":
                fail(f"JaCoCo's data is not of {key}")
            elif what == "COVERED":
                covered += 1
                if not calls[key] and key.split()[1] != "overflow":
                    fail(f"{key}: run by JaCoCo's data, no call recorded")
            else:
                missed += 1
                if returned[key]:
                    fail(f"{key}: {returned[key]} calls returned, not run by JaCoCo's data")
    print(f"ByteBuddy {len(buddy)} methods, {sum(buddy.values())} calls; JaCoCo {covered} run, {missed} not")
    if len(buddy) < 50 or covered < 50:
        fail("hardly any method is told of")
    return bad > 0


sys.exit(main())
