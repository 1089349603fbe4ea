#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis why --json` of the program Why against what that program says of itself.

Usage: why.py EXPECT-LINE JSON [--unknown] [--virtual]
--unknown: time that is not known may lie between: the kernel's tracepoint misses switches here, or who had a monitor
was not told. --virtual: the threads are virtual.
"""
import json
import sys

unknown_allowed = "--unknown" in sys.argv
kind = " (virtual)" if "--virtual" in sys.argv else ""
words = sys.argv[1].split()
name, expect = words[1], {k: int(v) for k, v in (w.split("=") for w in words[2:])}
why = json.load(open(sys.argv[2]))
bad = []


def check(ok, text):
    if not ok:
        bad.append(text)


def leaves(rows):
    for row in rows:
        for leaf in row.get("below", [row]):
            yield leaf


def is_unknown(row):
    return row.get("state") in ("unknown", None) or row.get("ended") == "not known" or is_network(row)


def is_network(row):
    """What comes over loopback is delivered on top of the call that sent it, or by ksoftirqd, which knows no sender."""
    return name.endswith("-socket") and row.get("ended") in ("softirq", "the network")


whole = why["all"]
count = expect["count"]
allowed = max(2e6 * count, 0.02 * expect["span_ns"])

# Exact: every nanosecond is in one row, of each level.
check(whole["count"] == count, f"{whole['count']} spans instead of {count}")
check(whole["sum"] == sum(whole["lengths"]), "the table's sum is not the sum of the spans")
for one in [whole] + why["intervals"]:
    check(sum(r["time"] for r in one["reasons"]) == one["sum"], "the rows do not sum up to the whole")
    for r in one["reasons"]:
        check("below" not in r or sum(b["time"] for b in r["below"]) == r["time"], "rows below one do not sum up to it")
for one in why["intervals"]:
    at = 0
    check(one["sum"] == one["end"] - one["begin"], "the sum is not the interval")
    for step in one["path"]:
        if step["leaf"]:
            check(step["from"] == at, f"a gap or an overlap at {at}")
            at = step["from"] + step["time"]
    check(at == one["sum"], "the path does not reach the end")

# The program's own clock.
check(abs(whole["sum"] - expect["span_ns"]) <= allowed, f"spans of {whole['sum']} ns instead of {expect['span_ns']}")
not_known = sum(r["time"] for r in leaves(whole["reasons"]) if is_unknown(r))
unknown_allowed |= any(is_network(r) for r in leaves(whole["reasons"]))
check(unknown_allowed or not_known == 0, f"{not_known} ns are not known")
writer = sum(r["time"] for r in leaves(whole["reasons"]) if r.get("who") == "writer" + kind and not is_unknown(r))
check(writer <= expect["writer_ns"] + allowed, f"{writer} ns are writer's, more than {expect['writer_ns']}")
# While holder, or in the end asker, has no CPU, writer may sleep, and is not what is waited for.
no_cpu = sum(r["time"] for r in leaves(whole["reasons"]) if r.get("state") == "ready" and r.get("who") != "writer" + kind)
check(writer + no_cpu + not_known >= expect["writer_ns"] - allowed, f"{writer} ns are writer's ({no_cpu} without CPU), less than {expect['writer_ns']}")

# Who and what: the first row, and what it came down to.
reason, thing = (("park", "java.util.concurrent.locks.ReentrantLock$NonfairSync") if name.startswith("lock") else
                 ("monitor", "Why$Stock"))
waits = [r for r in whole["reasons"] if r.get("reason") == reason and "by" in r]
check(waits and not_known < whole["sum"] / 2 or unknown_allowed, "no such wait")
if waits and not_known < whole["sum"] / 2:
    first = waits[0]
    check(first.get("class") == thing, f"class {first.get('class')}")
    check(first.get("by") == "holder" + kind, f"by {first.get('by')}")
    slept = sum(r["time"] for r in first.get("below", []) if r.get("who") == "writer" + kind and r.get("reason") == "sleep")
    check(slept > 0, "writer's sleep is not below it")
    check("holder" in whole["answer"] and "writer" in whole["answer"], f"the answer: {whole['answer']}")
for text in bad:
    print(f"{name}: {text}")
print(f"{name}: spans {whole['sum']} ({expect['span_ns']}), writer {writer} ({expect['writer_ns']}), not known {not_known}")
sys.exit(1 if bad else 0)
