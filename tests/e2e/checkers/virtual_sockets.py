#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis report --json` against what WaitsSockets says its virtual threads waited for.

Usage: virtual_sockets.py PROGRAM-OUTPUT REPORT.json [--late MS]

Each kind: as often as the program did it (what is written: at least so often; oftener where the VM stopped the thread),
not longer than it saw it last, and shorter by 2 ms (--late) a time at most; the park that it is done by is told of none. Where the recording names
descriptors, each wait has its peer or port.
"""
import argparse
import json
import sys

REASON = {"read": "socket read", "stream-read": "socket read", "write": "socket write", "accept": "socket accept",
          "connect": "socket connect", "pipe": "pipe"}
VM = "garbage collection", "safepoint", "lock of the VM"
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


report = json.load(open(args.report))
threads = {t["java_tid"]: t for t in report["virtual_threads"]["threads"]}
addresses = any(":" in p["name"] for p in report["peers"] if p["reason"] == "socket read")
if not addresses:
    REASON["pipe"] = "poll"  # no event tells what the descriptor is
kinds = []
for line in open(args.output):
    words = line.split()
    if not words or words[0] != "SOCKET":
        continue
    kind, e = words[1], dict(w.split("=", 1) for w in words[2:])
    kinds.append(kind)
    reasons = threads[int(e["java_tid"])]["reasons"]
    mine = reasons.get(REASON[kind])
    count = int(e["count"])
    if not mine or "park" in reasons:
        complain(f"{kind}: {reasons}")
        continue
    # Seen on a busy machine: 4 waits of the time of 3, in a thread that collections and locks of the VM had stopped.
    stops = sum(reasons.get(r, {"count": 0})["count"] for r in VM)
    if mine["count"] < count or kind != "write" and mine["count"] > count + stops:
        complain(f"{kind}: {mine['count']} times instead of {count}: {reasons}")
    least = count * (int(e["ns"]) - args.late * 1e6)
    if not least <= mine["time"] <= int(e["took"]):
        complain(f"{kind}: {mine['time']} ns of {e['took']}, at least {least:.0f} expected")
    if addresses:
        # Nobody else waits for that, but of several pipes it is one.
        named = [p for p in report["peers"] if p["reason"] == REASON[kind] and e["object"] in p["name"].replace("port ", "port")]
        if kind == "pipe":
            named = [p for p in named if p["count"] == mine["count"] and p["time"] == mine["time"]][:1]
        if sum(p["count"] for p in named) != mine["count"] or sum(p["time"] for p in named) != mine["time"]:
            complain(f"{kind}: waits {mine}, for {e['object']} {named} of {report['peers']}")
print(f"virtual threads: {len(kinds)} kinds{', with objects' if addresses else ''}, {wrong} wrong")
sys.exit(wrong > 0 or sorted(kinds) != sorted(REASON))
