#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the first rows of `jis report --json` and `jis why --json` against what a program counted itself.

Usage: culprit.py [--place PLACE] PROGRAM-OUTPUT REPORT.json REASON CLASS WAKER [WHY.json BY WHO]

PROGRAM-OUTPUT has a line "EXPECT ... wait_ns=NS ...": for how long it waited in all for what it was built to wait for.
The first row of the report's locks must be REASON and CLASS (a pattern), its time in work that within 5 %, and threads of
the name WAKER (a pattern) must have ended most of it. The first place must be PLACE, for that time, too. The first row of the table of all spans must be a wait ended by BY
(a pattern), again for that time, and of what lies below it the most must be a sleep of WHO.
"""
import json
import re
import sys

# Threads of another JVM than the one that was asked about are named with it.
OTHER_JVM = r"( of \S+ \(\d+\))?"
wrong = []


def near(what, got, want):
    print(f"{what}: {got / 1e6:.1f} ms, {want / 1e6:.1f} ms by the program, {100 * (got / want - 1):+.2f} %")
    if abs(got - want) > 0.05 * want:
        wrong.append(f"{what} is not that of the program")


def check_report(report, wait, reason, name, waker):
    locks = report["locks"]
    for lock in locks[:3]:
        print(f"  {lock['reason']} {lock['class']}: {lock['count']} waits, {lock['work_time'] / 1e6:.1f} ms in work, "
              f"{lock['time'] / 1e6:.1f} ms in all, woken by {[w['name'] for w in lock['wakers']]}")
    if not locks or locks[0]["reason"] != reason or not re.fullmatch(name, locks[0]["class"]):
        wrong.append(f"the first lock is not {reason} {name}")
        return
    near(f"{reason} {locks[0]['class']}", locks[0]["work_time"], wait)
    if not locks[0]["wakers"] or not all(re.fullmatch(waker, w["name"]) for w in locks[0]["wakers"]):
        wrong.append(f"it is not {waker} that end these waits")


def check_why(why, wait, by, who):
    print(why["all"]["answer"])
    row = why["all"]["reasons"][0]
    near(row["text"], row["time"], wait)
    if not row["state"].startswith("blocked") or not re.fullmatch(by + OTHER_JVM, row.get("by", "")):
        wrong.append(f"the first row is not a wait for {by}: {row['text']} by {row.get('by')}")
    if sum(r["time"] for r in why["all"]["reasons"]) != why["all"]["sum"]:
        wrong.append("the rows are not the whole")
    below = max(row.get("below", [{}]), key=lambda r: r.get("time", 0))
    if below.get("reason") != "sleep" or not re.fullmatch(who + OTHER_JVM, below.get("who", "")):
        wrong.append(f"it does not come down to {who}, who sleeps: {below}")


def check_place(places, wait, place):
    for p in places[:3]:
        print(f"  {p['reason']} {p['class']} in {p['place']}: {p['count']} waits, {p['work_time'] / 1e6:.1f} ms in work")
    if not places or places[0]["place"] != place:
        wrong.append(f"the first place is not {place}")
    else:
        near(place, places[0]["work_time"], wait)


def main():
    place = None
    if sys.argv[1] == "--place":
        place = sys.argv[2]
        del sys.argv[1:3]
    with open(sys.argv[1]) as f:
        wait = int(re.search(r"^EXPECT .*\bwait_ns=(\d+)", f.read(), re.M).group(1))
    with open(sys.argv[2]) as f:
        report = json.load(f)
    check_report(report, wait, *sys.argv[3:6])
    if place:
        check_place(report["places"], wait, place)
    if len(sys.argv) > 6:
        with open(sys.argv[6]) as f:
            check_why(json.load(f), wait, *sys.argv[7:9])
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


main()
