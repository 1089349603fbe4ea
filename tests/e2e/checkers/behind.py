#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what a Paraver trace says of the CPUs that ready threads wait for to the report, which sums it up by itself.

Usage: behind.py BASE REPORT.json. Each thread: the time of events 77000017 behind any thread, and behind the one that was
longest before it; and all ns of 77000018, which a hypervisor took.
"""
import collections
import json
import re
import sys

import prv_rows

BEHIND, STOLEN = 77000017, 77000018
base, report = sys.argv[1:]
rows = prv_rows.read(base, lambda name: True)
names = [row.name for row in rows.values()]
threads = {t["tid"]: t for t in json.load(open(report))["threads"]}
seen = waited = 0
for row in rows.values():
    t = threads[int(re.search(r"\[(\d+)\]$", row.name)[1])]
    by, since, value = collections.Counter(), 0, 0
    for time, next_value in row.events[BEHIND]:
        by[value] += time - since
        since, value = time, next_value
    assert not value, (row.name, "a wait has no end")
    del by[0]
    assert sum(by.values()) == t["behind_target"] + t["behind_foreign"], (row.name, by, t)
    assert sum(n for _, n in row.events[STOLEN]) == t["stolen"], (row.name, t)
    waited += sum(by.values())
    if t["top_behind"]["kind"] == "thread" and t["behind_target"]:
        who = f"{t['top_behind']['name']} [{t['top_behind']['tid']}]"
        assert by[names.index(who) + 1] == t["top_behind"]["time"], (row.name, by, t["top_behind"])
        seen += 1
print(f"{len(rows)} threads waited {waited / 1e6:.3f} ms for CPUs that others had; {seen} behind a thread with a row most")
assert waited > 100e6 and seen >= 2
