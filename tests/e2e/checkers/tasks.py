#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the pools, tasks and hand-overs of a recording against what the program Tasks did.

Usage: tasks.py PROGRAM-OUTPUT REPORT.json TRACE.prv

Counts of each pool are exact, and so is who submitted to whom; the times tasks waited and ran, and how long the
idle worker had none, are those that the program measured, within 2 ms or 2 % (LAB_SLOW times as much on a machine so
many times slower, but a task never ran for less). Each linked hand-over between threads that have rows is a
communication. Exit status 1: counts are wrong; 2: only times are, each of which has a line that begins with "late: ".
"""
import collections
import json
import os
import re
import sys

TAG = 10
wrong = late = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def near(what, got, expected, outside=False):
    global late
    slack = max(2e6, 0.02 * expected)
    most = slack * float(os.environ.get("LAB_SLOW", 1))
    if not -(slack if outside else most) <= got - expected <= most:
        late += 1
        print(f"late: {what}: {got / 1e6:.3f} ms, the program says {expected / 1e6:.3f}")


def words(line):
    return dict(w.split("=", 1) for w in line.split()[2:])


def read(path):
    pools, tasks, idles = {}, collections.defaultdict(list), {}
    for line in open(path):
        kind = line.split(" ", 1)[0]
        if kind not in ("POOL", "TASK", "IDLE"):
            continue
        name = line.split()[1]
        if kind == "POOL":
            pools[name] = words(line)
        elif kind == "TASK":
            tasks[name].append({k: int(v) for k, v in words(line).items()})
        else:
            idles[name] = {k: int(v) for k, v in words(line).items()}
    return pools, tasks, idles


def percentile(values, percent):
    return sorted(values)[max(0, (len(values) * percent + 99) // 100 - 1)]


def check_times(name, spread, values, outside=False):
    near(f"{name}: mean", spread["time"] / max(1, spread["count"]), sum(values) / len(values), outside)
    near(f"{name}: p50", spread["p50"], percentile(values, 50), outside)
    near(f"{name}: p95", spread["p95"], percentile(values, 95), outside)
    near(f"{name}: longest", spread["longest"], max(values), outside)


def check_pool(name, said, tasks, pool):
    for key in ("submitted", "begun", "rejected"):
        if pool[key] != int(said[key]):
            complain(f"{name}: {pool[key]} {key}, the program says {said[key]}")
    if pool["linked"] != pool["begun"] or pool["ended"] != pool["begun"]:
        complain(f"{name}: {pool['begun']} begun, {pool['linked']} with submission, {pool['ended']} ended")
    if int(said["queue"]) >= 0 and pool["queue_longest"] != int(said["queue"]):
        complain(f"{name}: at most {pool['queue_longest']} in the queue, the program says {said['queue']}")
    # Where the program timed all of them, and knows when they could begin.
    if tasks and len(tasks) == int(said["begun"]):
        check_times(f"{name}: wait", pool["wait"], [t["wait"] for t in tasks])
        check_times(f"{name}: run", pool["run"], [t["run"] for t in tasks], outside=True)


def check_handovers(name, said, tasks, report):
    if not tasks or len(tasks) != int(said["begun"]):
        return
    expected = collections.Counter((t["from"], t["to"]) for t in tasks)
    got, virtual = collections.Counter(), 0
    for h in report["handovers"]:
        if h["pool"]["class"] != said["class"] or h["pool"]["hash"] != int(said["hash"], 16):
            continue
        if h["to"]["virtual"]:
            virtual += h["count"]
        else:
            got[h["from"].get("java_tid"), h["to"].get("java_tid")] += h["count"]
    if virtual != len(tasks) if virtual else got != expected:
        complain(f"{name}: handed over {dict(got)} and {virtual} to virtual threads, the program says {dict(expected)}")


def check_idle(name, said, idle, report):
    threads = {t.get("java_tid"): t for t in report["threads"]}
    thread = threads[idle["java_tid"]]
    reasons = thread["reasons"]
    got, slack = reasons.get("idle in pool", {"time": 0})["time"], max(2e6, 0.02 * idle["ns"])
    # It gets a CPU some time after it was woken.
    if not idle["ns"] - slack <= got + thread["states"]["ready"] + thread["states"]["running"] or got > idle["ns"] + slack:
        complain(f"{name}: its worker was idle in the pool for {got} ns, the program says {idle['ns']}: {thread}")
    if "park" in reasons:
        complain(f"{name}: its worker parked, and not for the pool: {reasons}")
    pool = find(said, report)
    near(f"{name}: idle time of the pool", pool["idle"], idle["ns"])
    if pool["idles"] != idle["count"]:
        complain(f"{name}: {pool['idles']} times without a task, the program says {idle['count']}")


def find(said, report):
    for pool in report["pools"]:
        if pool["class"] == said["class"] and pool["hash"] == int(said["hash"], 16):
            return pool
    return None


def check_communications(path, report):
    lines = sum(1 for line in open(path) if re.match(r"3:.*:%d$" % TAG, line))
    linked = sum(p["linked"] for p in report["pools"])
    if lines != linked:
        complain(f"{lines} communications of tasks, {linked} hand-overs")


def main():
    pools, tasks, idles = read(sys.argv[1])
    report = json.load(open(sys.argv[2]))
    if not pools:
        complain("the program has no pools")
    for name, said in pools.items():
        pool = find(said, report)
        if not pool:
            complain(f"{name}: no pool {said['class']}@{said['hash']}")
            continue
        check_pool(name, said, tasks[name], pool)
        check_handovers(name, said, tasks[name], report)
        if name in idles:
            check_idle(name, said, idles[name], report)
    check_communications(sys.argv[3], report)
    for error in ("task ends without begin", "thread ends inside of a wait",
                  "wait inside of a wait that can hold none such"):
        if report["counts"]["errors"][error]:
            complain(f"{report['counts']['errors'][error]} times: {error}")
    print(f"{len(pools)} pools, {sum(int(p['begun']) for p in pools.values())} tasks compared; "
          f"{wrong} wrong, {late} times differ")
    sys.exit(1 if wrong else 2 if late else 0)


main()
