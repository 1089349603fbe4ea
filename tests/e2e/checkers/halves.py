#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is a merged trace twice the recording that was merged with itself? halves.py ONE MERGED SECONDS

Reads ONE.report, MERGED.report, ONE.rmi, MERGED.rmi (JSON). Each thread of ONE is in MERGED once as it is, once with
10,000,000 added to its number: with the same states, but for what is unknown, not there yet, or over; within 100 ppm and
20 us for the other clock and the ends. Counts double. Where both are at the same time (SECONDS below a second), calls of both
have the same UIDs, and are not looked at.
"""
import json
import sys

STRIDE = 10_000_000
one, merged = (json.load(open(path + ".report")) for path in sys.argv[1:3])
calls, merged_calls = (json.load(open(path + ".rmi")) for path in sys.argv[1:3])
apart = float(sys.argv[3]) >= 1
wrong = 0


def expect(what, got, want, about=0):
    global wrong
    if abs(got - want) > about:
        wrong += 1
        if wrong <= 20:
            print(f"{what}: {got}, expected {want}")


def threads(report, add=0):
    """{(tid, name, number of its lives before)}"""
    found = {}
    for t in report["threads"]:
        n = 0
        while (t["tid"] + add, t["name"], n) in found:
            n += 1
        found[t["tid"] + add, t["name"], n] = t
    return found


both = threads(merged)
for add in 0, STRIDE:
    for key, t in threads(one, add).items():
        if key not in both:
            expect(f"thread {key}", 0, 1)
            continue
        for state, time in t["states"].items():
            if state not in ("unknown", "not created", "exited"):
                expect(f"{key}, {state}", both[key]["states"][state], time, time * 1e-4 + 20000)
        for count in "voluntary", "involuntary", "wakeups", "woke":
            expect(f"{key}, {count}", both[key][count], t[count])
expect("threads", len(both), 2 * len(threads(one)))
for count, n in one["counts"].items():
    if isinstance(n, int):
        expect(count, merged["counts"][count], 2 * n)
for kind in "errors", "conflicts":
    for name, n in one["counts"].get(kind, {}).items():
        expect(name, merged["counts"][kind][name], 2 * n)
for kind, link in one["links"]["kinds"].items():
    if apart or not kind.startswith("remote"):
        expect(f"links: {kind}", merged["links"]["kinds"][kind]["count"], 2 * link["count"])
if apart:
    for match, n in calls["matches"].items():
        expect(f"calls: {match}", merged_calls["matches"][match], 2 * n)
    expect("of clocks that are not known", merged_calls["clockless"], 0)
    lines = {(l["method"], l["client"]["pid"], l["server"]["pid"]): l for l in merged_calls["lines"] if l["client"] and l["server"]}
    for l in calls["lines"]:
        for add in 0, STRIDE:
            if not l["client"] or not l["server"]:
                continue
            key = l["method"], l["client"]["pid"] + add, l["server"]["pid"] + add
            if key not in lines:
                expect(f"{key}", 0, l["calls"])
                continue
            expect(f"{key}", lines[key]["calls"], l["calls"])
            for part, time in l["parts"].items():
                expect(f"{key}, {part}", lines[key]["parts"][part], time, time * 1e-4 + 100 * l["calls"])
            expect(f"{key}, error", lines[key]["error"], 0)
print(f"{len(both)} threads, {merged['counts']['switches']} switches, {merged_calls['calls']} calls: {wrong} differ")
sys.exit(wrong > 0)
