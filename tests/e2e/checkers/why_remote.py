#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis why --json --span call --top N` of the program RemoteCalls against what its last server says that it did.

Usage: why_remote.py JSON ERROR-OUTPUT SLEEP-MS CALLS [--unknown]
The error output has the line "WORKED pid=N calls=N sleep_ns=N spin_ns=N". Client, first server, last server, and a callback into
the client: three hops, which are the span's own where all that is above a call are calls. Somewhere a thread may wait for another
of its JVM, for a lock or a class, and that one for the other end of its connection; then a call of that one is in the path, too,
deeper: who calls whom there is the same, but it is not counted. --unknown: the kernel's tracepoint misses switches here; what then
is not known may be any of it.
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


sums = {"sleep": 0, "others": 0, "run": 0, "no CPU": 0, "else": 0, "unknown": 0, "transit": 0}
hops, pairs, whole, clients = {}, set(), 0, set()


def named(who, home):
    """As threads of the interval's own process are named, and others."""
    return who["name"] + ("" if who["pid"] == home["pid"] else f" of {who['process']} ({who['pid']})")


def sort(step, own):
    """To which sum a leaf's time goes. own: it is in the span's own call of the last server."""
    if step["state"] == "unknown" or step.get("ended") == "not known":
        return "unknown"
    if step.get("ended") in ("request", "answer"):
        check("remote" in step and step["state"].startswith("blocked"), f"a way without a call: {step}")
        return "transit"
    if step["thread"]["pid"] != worked["pid"]:
        return "no CPU" if step["state"] == "ready" else "else"
    if step.get("reason") == "sleep":
        return "sleep" if own else "others"
    return "run" if step["state"] in ("running", "ready") else "else"


for one in why["intervals"]:
    covers(one)
    clients.add(one["thread"]["pid"])
    whole += one["sum"]
    above = []  # what is not a leaf, around this step: the calls, else None
    for step in one["path"]:
        del above[step["depth"]:]
        if step["leaf"]:
            sums[sort(step, above[:2] == ["Chain.call", "Chain.call"])] += step["time"]
        else:
            above.append(None)
        if step.get("ended") == "remote":
            above[step["depth"]:] = [step["remote"]["method"].split("$")[-1]]
            # The first time, a server that gets a stub tells that JVM's garbage collection.
            if not step["remote"]["internal"]:
                pairs.add((step["thread"]["pid"], above[-1], step["by"]["pid"]))
                if None not in above:
                    hops.setdefault((above[-1], step["depth"]), []).append(step["by"]["pid"])
            check("alone" not in step["remote"] and step["text"].endswith(named(step["by"], one["thread"])), f"{step}")

check(len(why["intervals"]) == calls == worked["calls"], f"{len(why['intervals'])} spans, {worked['calls']} calls served")
check(len(clients) == 1, f"clients {clients}")
first, last, back = (hops.get(key, []) for key in (("Chain.call", 0), ("Chain.call", 1), ("Back.back", 2)))
check(len(first) > calls * 0.8 and len(set(first)) == 1, f"calls of the first server: {len(first)}, of {set(first)}")
check(len(last) > calls * 0.8 and set(last) == {worked["pid"]}, f"calls of the last server: {len(last)}, of {set(last)}")
check(back and set(back) == clients, f"callbacks: {len(back)}, of {set(back)}")
check(len({*clients, *first, *last}) == 3, "not three JVMs")
check(set(hops) <= {("Chain.call", 0), ("Chain.call", 1), ("Back.back", 2)}, f"calls {set(hops)}")
if len(clients) == 1 and first:
    client, last_pid = clients.copy().pop(), worked["pid"]
    check(pairs <= {(client, "Chain.call", first[0]), (first[0], "Chain.call", last_pid), (last_pid, "Back.back", client)}, f"who calls whom: {pairs}")

# The server's own clock; a millisecond a call is for what it does beside. While those before it have no CPU, it may
# sleep or work, and is not what is waited for.
unknown = sums["unknown"] if "--unknown" in sys.argv else 0
slack = calls * 1000000 + unknown + sums["no CPU"]
check("--unknown" in sys.argv or sums["unknown"] < whole / 100, f"{sums['unknown']} ns are not known")
check(sums["sleep"] <= worked["sleep_ns"], f"{sums['sleep']} ns asleep in the last server, which slept {worked['sleep_ns']}")
check(sums["others"] <= nominal * 1.5, f"{sums['others']} ns asleep there for others' calls")
asleep = sums["sleep"] + sums["others"]
check(asleep >= calls * nominal - slack, f"{asleep} ns asleep instead of {calls * nominal}")
spent = worked["sleep_ns"] + worked["spin_ns"]
check(asleep + sums["run"] >= spent - slack, f"{asleep + sums['run']} ns in the last server, which worked for {spent}")
check(sums["run"] >= worked["spin_ns"] - slack, f"{sums['run']} ns at work, which was {worked['spin_ns']}")
for text in bad:
    print(text)
print(f"{calls} calls, {whole} ns; last server: {sums['sleep']} asleep ({worked['sleep_ns']}), {sums['run']} at work ({worked['spin_ns']}); "
      f"{sums['transit']} on the way, {sums['no CPU']} others without CPU, {sums['unknown']} not known, {len(back)} callbacks")
sys.exit(1 if bad else 0)
