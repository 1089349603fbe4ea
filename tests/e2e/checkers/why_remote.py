#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis why --json --span call --top N` of the program RemoteCalls against what its last server says that it did.

Usage: why_remote.py JSON ERROR-OUTPUT SLEEP-MS CALLS [--unknown]
The error output has the line "WORKED pid=N calls=N sleep_ns=N spin_ns=N". Client, first server, last server, and a callback into
the client: three hops. --unknown: the kernel's tracepoint misses switches here; what then is not known may be any of it.
"""
import json
import re
import sys

why = json.load(open(sys.argv[1]))
worked = re.search(r"^WORKED (.*)$", open(sys.argv[2]).read(), re.M).group(1)
worked = {k: int(v) for k, v in (w.split("=") for w in worked.split())}
nominal, calls = int(sys.argv[3]) * 1000000, int(sys.argv[4])
bad = []


def check(ok, text):
    if not ok:
        bad.append(text)


def covers(one):
    """Each nanosecond of the interval is in one leaf, in each row once."""
    at = 0
    for step in one["path"]:
        if step["leaf"]:
            check(step["from"] == at, f"a gap or an overlap at {at}")
            at = step["from"] + step["time"]
    check(at == one["end"] - one["begin"] == one["sum"], "the path is not the interval")
    check(sum(r["time"] for r in one["reasons"]) == one["sum"], "the rows are not the interval")


sums = {"sleep": 0, "run": 0, "no CPU": 0, "else": 0, "unknown": 0, "transit": 0}
hops, whole, clients, firsts = {}, 0, set(), set()


def named(who, home):
    """As threads of the interval's own process are named, and others."""
    return who["name"] + ("" if who["pid"] == home["pid"] else f" of {who['process']} ({who['pid']})")


def sort(step):
    """To which sum a leaf's time goes."""
    if step["state"] == "unknown" or step.get("ended") == "not known":
        return "unknown"
    if step.get("ended") in ("request", "answer"):
        check("remote" in step and step["state"].startswith("blocked"), f"a way without a call: {step}")
        return "transit"
    if step["thread"]["pid"] != worked["pid"]:
        return "no CPU" if step["state"] == "ready" else "else"
    return "sleep" if step.get("reason") == "sleep" else "run" if step["state"] in ("running", "ready") else "else"


for one in why["intervals"]:
    covers(one)
    clients.add(one["thread"]["pid"])
    whole += one["sum"]
    for step in one["path"]:
        if step["leaf"]:
            sums[sort(step)] += step["time"]
        if step.get("ended") == "remote":
            call = (step["remote"]["method"].split("$")[-1], step["depth"])
            # The first time, a server that gets a stub tells that JVM's garbage collection.
            if not step["remote"]["internal"]:
                hops.setdefault(call, []).append(step["by"]["pid"])
            check("alone" not in step["remote"] and step["text"].endswith(named(step["by"], one["thread"])), f"{step}")

check(len(why["intervals"]) == calls == worked["calls"], f"{len(why['intervals'])} spans, {worked['calls']} calls served")
check(len(clients) == 1, f"clients {clients}")
first, last, back = (hops.get(key, []) for key in (("Chain.call", 0), ("Chain.call", 1), ("Back.back", 2)))
check(len(first) > calls * 0.8 and len(set(first)) == 1, f"calls of the first server: {len(first)}, of {set(first)}")
check(len(last) > calls * 0.8 and set(last) == {worked["pid"]}, f"calls of the last server: {len(last)}, of {set(last)}")
check(back and set(back) == clients, f"callbacks: {len(back)}, of {set(back)}")
check(len({*clients, *first, *last}) == 3, "not three JVMs")
check(set(hops) <= {("Chain.call", 0), ("Chain.call", 1), ("Back.back", 2)}, f"calls {set(hops)}")

# The server's own clock; a millisecond a call is for what it does beside. While those before it have no CPU, it may
# sleep or work, and is not what is waited for.
unknown = sums["unknown"] if "--unknown" in sys.argv else 0
slack = calls * 1000000 + unknown + sums["no CPU"]
check("--unknown" in sys.argv or sums["unknown"] < whole / 100, f"{sums['unknown']} ns are not known")
check(sums["sleep"] <= worked["sleep_ns"], f"{sums['sleep']} ns asleep in the last server, which slept {worked['sleep_ns']}")
check(sums["sleep"] >= calls * nominal - slack, f"{sums['sleep']} ns asleep instead of {calls * nominal}")
spent = worked["sleep_ns"] + worked["spin_ns"]
check(sums["sleep"] + sums["run"] >= spent - slack, f"{sums['sleep'] + sums['run']} ns in the last server, which worked for {spent}")
check(sums["run"] >= worked["spin_ns"] - slack, f"{sums['run']} ns at work, which was {worked['spin_ns']}")
for text in bad:
    print(text)
print(f"{calls} calls, {whole} ns; last server: {sums['sleep']} asleep ({worked['sleep_ns']}), {sums['run']} at work ({worked['spin_ns']}); "
      f"{sums['transit']} on the way, {sums['no CPU']} others without CPU, {sums['unknown']} not known, {len(back)} callbacks")
sys.exit(1 if bad else 0)
