#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No order of records is impossible, nothing contradicts, and what is known to tempt both was there.

Usage: orders.py REPORT.json
       orders.py PROGRAM-OUTPUT REPORT.json GC-LOG WAITS COLLECTOR

PROGRAM-OUTPUT: the last line of Churn. GC-LOG: -Xlog:gc. WAITS: `jis dump` of string_def, monitor_wait and
monitor_waited. Contradictions are allowed on kernels 5.18 to 6.13 (docs/model.md), switches that the kernel did not
tell of on all with ftrace, but no more than a twentieth, and there a few contradictions of what they leave.
"""
import collections
import json
import os
import platform
import re
import sys

wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print("WRONG:", text)


def kernel_tells_vain_waits():
    release = tuple(int(n) for n in re.findall(r"\d+", platform.release())[:2])
    return (5, 18) <= release <= (6, 13)


def check_counts(counts):
    for name, n in counts["errors"].items():
        if n:
            complain(f"{n} times: {name}")
    vain = kernel_tells_vain_waits()
    left = 0 if os.environ.get("BACKEND") == "kmod" else 2 + counts["unseen_switches"] // 10
    for name, n in counts["conflicts"].items():
        if n > (left if name == "record of a blocked thread" else 0) and not (vain and name == "record of a blocked thread"):
            complain(f"{n} times: {name}")
    if counts["contradictions"] > left and not vain:
        kinds = {k: (n, counts["first"].get(k)) for k, n in counts["contradiction_kinds"].items() if n}
        complain(f"{counts['contradictions']} contradictions for {left}, with {counts['unseen_switches']} of "
                 f"{counts['switches']} switches not told: {kinds}")
    # The module's tests run on kernels that tell of all. Others hide some, out of idling most of all: more of them
    # on an idle machine.
    if counts["unseen_switches"] * (1000000 if os.environ.get("BACKEND") == "kmod" else 3) > counts["switches"]:
        complain(f"{counts['unseen_switches']} of {counts['switches']} switches were not told")
    if counts["lost"] or counts["unbalanced_spans"] or counts["unknown_threads"]:
        complain(f"lost {counts['lost']}, spans {counts['unbalanced_spans']}, threads {counts['unknown_threads']}")


def check_collections(report, log, collector):
    told = max(p["gc_count"] for p in report["processes"])
    # The others' pauses have other names.
    if collector in ("G1", "Serial", "Parallel"):
        pauses = sum(" Pause " in line for line in log)
        print(f"{told} collections, {pauses} pauses in the log")
        # A request for room that is there by then is a stop without a pause.
        if not pauses <= told <= pauses * 2 + 10:
            complain(f"{told} collections, {pauses} in the JVM's log")
    elif not told:
        complain("no collection")
    if collector == "G1" and not any("Metadata GC Threshold" in line for line in log):
        complain("no collection for the metaspace: the program has grown harmless")


def check_waits(lines, ended):
    names, begun, ends = {}, collections.Counter(), collections.Counter()
    for line in lines:
        m = re.search(r"string_def \{ id = (\d+), text = \"(.*)\" \}", line)
        if m:
            names[m[1]] = m[2]
            continue
        m = re.search(r" (monitor_waited|monitor_wait) \{ java_tid = (\d+), class_name = (\d+)", line)
        (begun if m[1] == "monitor_wait" else ends)[names.get(m[3])] += 1
    for name in begun.keys() | ends.keys():
        # Some may go on when the JVM ends.
        if name != "[I" and not ends[name] <= begun[name] <= ends[name] + 8:
            complain(f"{begun[name]} waits for {name} begin, {ends[name]} end")
    if begun["[I"]:
        complain("waits for classes have a begin: this JVM tells more than others")
    print(f"{ends['[I']} waits for {ended['initialised']} classes that two threads initialise")
    # Others may be the JDK's own.
    if not 0 < ends["[I"] <= ended["initialised"] + 10:
        complain(f"{ends['[I']} waits for {ended['initialised']} classes")
    if begun["java.lang.Object"] != ends["java.lang.Object"]:
        complain(f"a wait that throws was told: {begun['java.lang.Object']}, {ends['java.lang.Object']} ends")


def main():
    if len(sys.argv) == 2:
        with open(sys.argv[1]) as f:
            check_counts(json.load(f)["counts"])
        return 1 if wrong else 0
    with open(sys.argv[1]) as f:
        last = f.read().split("\n")[-2]
    ended = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", last)}
    with open(sys.argv[2]) as f:
        report = json.load(f)
    if not ended.get("threw"):
        complain(f"the program has not done its work: {last}")
    check_counts(report["counts"])
    with open(sys.argv[3]) as f:
        check_collections(report, list(f), sys.argv[5])
    with open(sys.argv[4]) as f:
        check_waits(f, ended)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
