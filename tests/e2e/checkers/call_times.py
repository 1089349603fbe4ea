#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what jis stats says of calls against what CallTimes timed and counted itself.

Usage: call_times.py OUTPUT TRACE JIS STEAL [virtual]

Of each method, in all and by thread: as many calls; shortest, longest, mean and all of them last at least what the program
saw from within and at most what it saw from around; the CPU time likewise, within 1 ms and 2 %; waiting for a CPU, and
blocked for the method's own reason, as the kernel's books have the thread, within 2 ms or 2 % a call, and next to nothing
for another reason, but for the VM's own. The parts add up to the whole, to the nanosecond. Calls by caller and callee and by way are the
program's, exactly. Where the kernel hid switches, what is not known may be of any part. STEAL: ns that the hypervisor and
interrupts took meanwhile. Of virtual threads nobody keeps books: they are blocked for the method's own reason for as long as
they asked for, within the same.
"""
import collections
import json
import subprocess
import sys

output, trace, jis, steal, *virtual = sys.argv[1:]
REASON = {"sleeps": "sleep", "parks": "park", "waits": "Object.wait", "enters": "monitor", "reads": "socket read", "spins": None}
READY = {"woken", "preempted", "yielded", "throttled", "ready to mount"}
VM = "garbage collection", "safepoint", "lock of the VM", "thread of the VM waits"
bad = 0


def fail(text):
    global bad
    bad += 1
    print("BAD", text)


def stats(by):
    out = subprocess.run([jis, "stats", "-q", "--json", "--by", by, trace], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)["lines"]


def own(name):
    """CallTimes$Work.sleeps is sleeps; None: not of these classes."""
    cls, _, method = name.partition(".")
    return method if cls in ("CallTimes$Work", "CallTimes$Graph") and method != "<init>" else None


def path(tree, context):
    steps = []
    while context:
        steps.append(own(tree[context]["method"]) or tree[context]["method"])
        context = tree[context]["parent"]
    return ">".join(reversed(steps))


def between(what, low, value, high, slack=0):
    if not low - slack <= value <= high + slack:
        fail(f"{what}: {value}, should be {low} to {high}, or {slack:.0f} beyond")


def check_times(what, row, t):
    n = t["calls"]
    clocks = 2000  # two clocks of one frequency, each rounded
    between(f"{what}: min", t["least_within"], row["min"], t["least_around"], clocks)
    between(f"{what}: max", t["most_within"], row["max"], t["most_around"], clocks)
    between(f"{what}: total", t["within"], row["total"], t["around"], n * clocks)
    between(f"{what}: mean", t["within"] / n, row["mean"], t["around"] / n, clocks)


def check_parts(what, row, t, reason):
    parts = sum(row[p] for p in ("cpu", "ready", "blocked", "carrying", "unknown"))
    if parts != row["total"]:
        fail(f"{what}: {row['total']} in all, its parts {parts}")
    why = row["by_reason"]
    blocked = {r: ns for r, ns in why.items() if r not in READY}
    if sum(blocked.values()) != row["blocked"] or sum(why.values()) != row["blocked"] + row["ready"]:
        fail(f"{what}: ready {row['ready']} and blocked {row['blocked']}, by reason {why}")
    hidden = row["unknown"] + why.get("not known", 0)
    slack = max(t["calls"] * 2e6, 0.02 * t["around"]) + hidden
    mine, own_way = why.get(reason, 0), sum(why.get(r, 0) for r in VM)
    between(f"{what}: blocked for others than {reason}", 0, row["blocked"] - mine - own_way, 0, slack)
    if virtual:
        # Kept from a CPU on its way there, by threads or by what takes the host's CPU, it waits for less; what it reads may be there before it.
        least = t["made"] - min(row["ready"], max(0, t["around"] - t["made"])) if what.split()[-1] != "reads" else 0
        between(f"{what}: {reason}", least - slack, mine, t["around"], 2000 * t["calls"] + int(steal))
        return hidden
    between(f"{what}: CPU", t["cpu_within"], row["cpu"], t["cpu_around"], 1e6 + 0.02 * t["cpu_around"] + hidden + int(steal))
    between(f"{what}: ready", 0, row["ready"], t["waited"], slack + int(steal))
    between(f"{what}: blocked", 0, row["blocked"], t["asleep_most"], slack)
    if reason:
        between(f"{what}: {reason}", t["asleep_least"] - own_way, mine, t["asleep_most"], slack)
    return hidden


def main():
    times, ways, ended = {}, collections.Counter(), False
    for line in open(output):
        words = line.split()
        if words[0] == "TIMES":
            times[words[1], words[2]] = {k: int(v) for k, v in (w.split("=") for w in words[3:])}
        elif words[0] == "WAY":
            ways[words[1], words[2]] += int(words[3])
        ended |= words[0] == "END"
    if not ended or {m for _, m in times} != set(REASON) or not ways:
        fail("the program did not tell all")

    rows = {(r["thread"], own(r["method"])): r for r in stats("thread") if own(r["method"])}
    counts = collections.Counter()
    for (thread, way), n in ways.items():
        counts[thread, way.split(">")[-1]] += n
    counts.update({k: t["calls"] for k, t in times.items()})
    seen = {k: r["calls"] for k, r in rows.items()}
    if seen != counts:
        fail(f"calls by thread: {seen}, made were {dict(counts)}")
    hidden = 0
    for (thread, method), t in times.items():
        check_times(f"{thread} {method}", rows[thread, method], t)
        hidden += check_parts(f"{thread} {method}", rows[thread, method], t, REASON[method])

    methods = {own(r["method"]): r for r in stats("method") if own(r["method"])}
    for method, reason in REASON.items():
        mine = [t for (_, m), t in times.items() if m == method]
        both = {k: (min if k.startswith("least") else max if k.startswith("most_") else sum)(t[k] for t in mine) for k in mine[0]}
        check_times(method, methods[method], both)
        check_parts(method, methods[method], both, reason)
        # Short and long calls do not make up for each other.
        low, high = both["least_around"], both["most_within"]
        if not low < both["within"] / both["calls"] < high:
            fail(f"{method}: the program's own calls are all alike")

    paths, pairs = collections.Counter(), collections.Counter()
    for (_, way), n in ways.items():
        steps = way.split(">")
        paths[way] += n
        pairs[steps[-2] if len(steps) > 1 else "", steps[-1]] += n
    for (_, method), t in times.items():
        paths[method] += t["calls"]
        pairs["", method] += t["calls"]
    tree = {r["context"]: r for r in stats("context")}
    got = {path(tree, c): r["calls"] for c, r in tree.items() if own(r["method"])}
    if got != paths:
        fail(f"by way: {set(got.items()) ^ set(paths.items())}")
    got = {(own(r["caller"]) or r["caller"], own(r["method"])): r["calls"] for r in stats("pair") if own(r["method"])}
    if got != pairs:
        fail(f"by caller and callee: {set(got.items()) ^ set(pairs.items())}")
    print(f"{sum(counts.values())} calls, {len(rows)} lines by thread, {len(paths)} ways, {len(pairs)} pairs, "
          f"{hidden / 1e6:.3f} ms not known")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
