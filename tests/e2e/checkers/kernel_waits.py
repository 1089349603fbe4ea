#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis report --json` against what WaitsKernel says it waited for in the kernel.

Usage: kernel_waits.py PROGRAM-OUTPUT REPORT.json [--late MS]

Each kind: as often as the program did it, not longer than it saw it last, and shorter by 2 ms (--late) or 2 % a time at
most. A file forced to the disk: as often as the kernel says that the thread gave up its CPU, less what it gave it up for
otherwise. All of them together, as long as the kernel's books have the thread asleep, less what it slept for otherwise,
within as much. Where the recording names descriptors, each wait has its peer, port or path.
"""
import argparse
import json
import sys

REASON = {"socket-read": "socket read", "socket-write": "socket write", "accept": "socket accept", "connect": "socket connect",
          "connect-unix": "socket connect", "pipe": "pipe", "poll": "poll", "fsync": "file"}
parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("report")
parser.add_argument("--late", type=float, default=2)
args = parser.parse_args()
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def check_times(what, mine, e):
    count, ns, took = int(e["count"]), int(e["ns"]), int(e["took"])
    least = count * (ns - max(args.late * 1e6, 0.02 * ns)) if ns else 1
    if not least <= mine["time"] <= 1.001 * took + 100000:
        complain(f"{what}: {mine['time']} ns of {took}, at least {least:.0f} expected")


def check_books(what, mine, others, e):
    least, most = map(int, e["asleep"].split(","))
    slack = max(int(e["count"]) * args.late * 1e6, 0.02 * most)
    if not least - others - slack <= mine["time"] <= most + slack:
        complain(f"{what}: {mine['time']} ns, {others} ns of other waits; the kernel's books have {least} to {most} asleep")


def check_object(what, mine, e, peers, others):
    # "127.0.0.1:4711" of a peer, "port 4711" of what is listened to, one "pipe:[42]" of several: nobody else waits for that.
    # Who deletes a file may wait for it, too.
    named = [p for p in peers if e["object"] in p["name"].replace("port ", "port")]
    if what == "pipe":
        named = [p for p in named if p["count"] == mine["count"] and p["time"] == mine["time"]][:1]
    for n in "count", "time":
        most = mine[n] + (sum(o[n] for o in others) if what == "fsync" else 0)
        if not mine[n] <= sum(p[n] for p in named) <= most:
            complain(f"{what}: {n} of waits {mine}, for {e['object']} {named} of {peers}")


report = json.load(open(args.report))
threads = {t["java_tid"]: t for t in report["threads"] if "java_tid" in t}
addresses = any(":" in p["name"] for p in report["peers"] if p["reason"] == "socket read")
if not addresses:
    REASON["pipe"] = "system call"  # no event tells what a descriptor is
kinds = []
for line in open(args.output):
    words = line.split()
    if not words or words[0] != "KERNEL":
        continue
    kind, e = words[1], dict(w.split("=", 1) for w in words[2:])
    kinds.append(kind)
    t = threads.get(int(e["java_tid"]))
    if not t:
        complain(f"{kind}: no thread {e['java_tid']}")
        continue
    mine = t["reasons"].get(REASON[kind])
    if not mine:
        complain(f"{kind}: {t['reasons']}")
        continue
    # From a thread's start on, so that those before its first turn are among the others.
    others = sum(r["count"] for name, r in t["reasons"].items() if name != REASON[kind])
    switches = int(e["switches"])
    if not switches - others <= mine["count"] <= switches:
        complain(f"{kind}: {mine['count']} times, the thread gave up its CPU {switches} times, {t['reasons']}")
    # What is written waits once more for each part that is read.
    if int(e["ns"]) and (mine["count"] < int(e["count"]) or kind != "socket-write" and mine["count"] != int(e["count"])):
        complain(f"{kind}: {mine['count']} times instead of {e['count']}: {t['reasons']}")
    check_times(kind, mine, e)
    check_books(kind, mine, t["states"]["blocked"] + t["states"]["blocked uninterruptibly"] - mine["time"], e)
    if addresses and e["object"]:
        same = [o["reasons"][REASON[kind]] for o in threads.values() if o is not t and REASON[kind] in o["reasons"]]
        check_object(kind, mine, e, [p for p in report["peers"] if p["reason"] == REASON[kind]], same)
print(f"{len(kinds)} kinds{', with objects' if addresses else ''}, {wrong} wrong")
sys.exit(wrong > 0 or sorted(kinds) != sorted(REASON))
