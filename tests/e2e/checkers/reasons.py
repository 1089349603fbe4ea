#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis report --json` against what a program says it waited for.

Usage: reasons.py PROGRAM-OUTPUT REPORT.json [--late MS]

PROGRAM-OUTPUT has the lines "EXPECT kind java_tid=N count=N class=NAME owner=N ns=N ..." of Waits. Checked: the
thread's time off the CPU for that reason is at least what the program made it wait (less 5 %, monitors are spun for
first; less, too, if it was asleep for less by the kernel's books; where the kernel hid switches, what the report calls
not known may be of it); the waits on the program's own classes are counted exactly, and its first owner and waker are
those that the program had hold and release it; no order of records was impossible and nothing contradicted itself.
Where no switch was hidden, that time is also what the thread read in the kernel's books ("asleep=LEAST,MOST"): what it
spun for is not part of it. A virtual thread's waits and pinned time are those that it saw itself, less what it was kept
waiting for a CPU; pinned where it was not meant to be for no more than 2 ms (--late) a time, and as long as it was kept from a
CPU itself: so long may be kept who has a lock of the VM that it needs.
"""
import argparse
import collections
import json
import sys

REASON = {"monitor": "monitor", "light": "monitor", "wait": "Object.wait", "park": "park", "sleep": "sleep",
          "join": "join"}
STOPS = "garbage collection", "safepoint"
wrong = 0
late = 2e6


def complain(text):
    global wrong
    wrong += 1
    print(text)


def expectations(path):
    with open(path) as f:
        for line in f:
            words = line.split()
            if words and words[0] == "EXPECT" and (words[1] in REASON or words[1] == "pinned"):
                yield words[1], dict(w.split("=", 1) for w in words[2:])


def check_threads(expected, report):
    threads = {t["java_tid"]: t for t in report["threads"] if "java_tid" in t}
    hides = report["counts"]["unseen_switches"] or report["counts"]["contradictions"]
    virtual = {t["java_tid"] for t in report["virtual_threads"]["threads"]}
    for kind, e in expected:
        if int(e["java_tid"]) in virtual:  # of these the locks, below
            continue
        t = threads.get(int(e["java_tid"]))
        if not t:
            complain(f"no thread {e['java_tid']}")
            continue
        least = int(e["count"]) * int(e["ns"]) * 0.95
        if "asleep" in e:  # woken in between, it may have been kept waiting for a CPU, or have spun
            books = int(e["asleep"].split(",")[0])
            least = min(least, books - max(int(e["count"]) * 2e6, 0.02 * books))
        time = t["reasons"].get(REASON[kind], {"time": 0})["time"]
        # Where the kernel hid that a thread gave up its CPU, the report says when it came back, and no more.
        hidden = t["reasons"].get("not known", {"time": 0})["time"] if hides else 0
        if time + hidden < least:
            complain(f"{t['name']}: {REASON[kind]} {time} ns, at least {least:.0f} expected: {t['reasons']}")


def check_virtual(expected, report):
    """A virtual thread waits as long as it was made to, and not longer than it saw; pinned for as much of it as was meant."""
    threads = {t["java_tid"]: t for t in report["virtual_threads"]["threads"]}
    for kind, e in expected:
        t = threads.get(int(e["java_tid"]))
        if not t or kind not in (*REASON, "pinned"):
            continue
        least, took = int(e["count"]) * int(e["ns"]), int(e["took"])
        # Kept from a CPU on its way there it waits for less; of a sleep that is part of its time, else it took longer, as who
        # releases it cannot see when it sleeps.
        kept = t["ready"] if kind == "sleep" else min(t["ready"], max(0, took - least))
        slack = max(int(e["count"]) * 2e6, 0.02 * least) + kept
        if kind == "pinned":
            if not least - slack <= t["pinned"] <= (took if least else late * int(e["count"]) + t["ready"]):
                complain(f"{t['name']}: pinned for {t['pinned']} ns, at least {least} expected: {t}")
        elif not least - slack <= t["waiting"] <= 1.001 * took + 100000:
            complain(f"{t['name']}: {kind} {t['waiting']} ns, {least} to {took} expected: {t}")
        elif t["waiting"] + t["to_mount"] + t["running"] + t["ready"] + t["unknown"] < took:
            complain(f"{t['name']}: alive for {took} ns at least: {t}")


def check_asleep(expected, report):
    """Where no switch is hidden: neither less nor more than the kernel's own books have, by 2 ms or 2 % a wait. What the VM
    stopped it for in between, or had it wait for, and code read from the disk are in the books, too."""
    if report["counts"]["unseen_switches"] or report["counts"]["contradictions"]:
        return
    threads = {t["java_tid"]: t for t in report["threads"] if "java_tid" in t}
    # as the JVM itself tells of it
    stops = sum(s["time"] for s in report["safepoints"]) + sum(p["gc_time"] for p in report["processes"])
    for kind, e in expected:
        t = threads.get(int(e["java_tid"]))
        if not t or "asleep" not in e:
            continue
        least, most = map(int, e["asleep"].split(","))
        slack = max(int(e["count"]) * 2e6, 0.02 * most)
        time = t["reasons"].get(REASON[kind], {"time": 0})["time"]
        stopped = sum(t["reasons"].get(r, {"time": 0})["time"] for r in STOPS)
        stopped = min(stopped, stops) + sum(t["reasons"].get(r, {"time": 0})["time"] for r in ("lock of the VM", "disk"))
        if not least - slack - stopped <= time <= most + slack:
            complain(f"{t['name']}: {REASON[kind]} {time} ns, asleep by the kernel's books {least} to {most} ns: {e}, "
                     f"{t['reasons']}")


def check_locks(expected, report):
    counts, owners = collections.Counter(), {}
    for kind, e in expected:
        if e.get("class") and kind in ("monitor", "light", "wait", "park"):
            key = REASON[kind], e["class"]
            counts[key] += int(e["count"])
            owners.setdefault(key, set()).add(int(e.get("owner", 0)))
    locks = {(lock["reason"], lock["class"]): lock for lock in report["locks"]}
    for key, count in counts.items():
        lock = locks.get(key)
        if not lock:
            complain(f"no lock {key}")
            continue
        # Threads of the JDK wait on classes of the JDK, too.
        own = key[1].startswith("Waits")
        if lock["count"] < count or (own and (lock["count"] > count or lock["incomplete"])):
            complain(f"{key}: {count} waits expected: {lock}")
        if owners[key] == {1}:
            if not lock["owners"] or lock["owners"][0].get("java_tid") != 1 or lock["owners"][0]["count"] != count:
                complain(f"{key}: main held it {count} times: {lock['owners']}")
            if not lock["wakers"] or lock["wakers"][0]["name"] != "main":
                complain(f"{key}: main ended the waits: {lock['wakers']}")


def check_order(report):
    counts = report["counts"]
    for name, n in counts["errors"].items():
        if n:
            complain(f"{n} times: {name}")
    for name, n in counts["conflicts"].items():
        # Where the kernel hides switches a thread may seem blocked that runs, or in a call it has left.
        if n > counts["contradictions"] + counts["unseen_switches"]:
            complain(f"{n} times: {name}")


def main():
    global late
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("report")
    parser.add_argument("--late", type=float, default=2)
    args = parser.parse_args()
    late = args.late * 1e6
    expected = list(expectations(args.output))
    with open(args.report) as f:
        report = json.load(f)
    if len(expected) < 10:
        complain(f"only {len(expected)} expectations")
    check_virtual(expected, report)
    expected = [(kind, e) for kind, e in expected if kind in REASON]
    check_threads(expected, report)
    check_asleep(expected, report)
    check_locks(expected, report)
    check_order(report)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
