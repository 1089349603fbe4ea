#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rebuilds the calls from the records of jis dump, and holds the exports to them, exactly.

Usage: nesting.py TRACE JIS PRV

jis export collapsed --calls wall: each thread's stacks have the time from record to record while they were the stack. PRV, of
jis export paraver: each thread's row has the method's number where a call begins and 0 where it ends, in the records' order
and at their times, the number's name is that of the method. The recording is whole and of platform threads only.
"""
import collections
import re
import subprocess
import sys

from truth import read_rows
from waits import FIELD, LINE, value

UNWOUND = 0x80000000
METHOD = 60000019


def lines(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


def events(trace, jis):
    for line in lines(jis, "dump", "-q", "--raw", trace):
        m = LINE.match(line)
        if m and not m[3].startswith("kernel/"):
            yield int(m[1] + m[2]), m[3], m[4], {k: value(v.strip()) for k, v in FIELD.findall(m[5])}


class Recording:
    def __init__(self, trace, jis):
        self.texts, self.defs, self.names, self.threads = {0: ""}, {}, {}, {}
        self.of = collections.defaultdict(set)  # slot: Java threads whose records it has
        self.calls = collections.defaultdict(list)  # slot: (time, method), (time, 0) for an end
        for time, stream, name, f in events(trace, jis):
            if name == "string_def":
                self.texts[f["id"]] = f["text"]
            elif name == "method_def":
                self.defs[f["id"]] = f
            elif name == "traced_method":
                d = self.defs[f["method"]]
                self.names[f["id"]] = d["class_name"] + "." + self.texts[d["name"]]
            elif name == "java_thread_start":
                self.threads[f["java_tid"]] = (f["name"], f["tid"])
            elif name in ("method_enter", "method_exit"):
                self.calls[stream].append((time, f["method"] if name == "method_enter" else 0, f["method"] & ~UNWOUND))
            elif "/slot-" in stream and "java_tid" in f:
                self.of[stream].add(f["java_tid"])

    def thread(self, stream):
        java_tid, = self.of[stream]
        return self.threads[java_tid]


def stacks(rec):
    """Own wall time by thread and stack, as lines of collapsed stacks."""
    own = collections.Counter()
    for stream, calls in rec.calls.items():
        name, stack, since = rec.thread(stream)[0], [], 0
        for time, enters, method in calls:
            if stack:
                own[";".join([name] + [rec.names[m] for m in stack])] += time - since
            since = time
            if enters:
                stack.append(method)
            else:
                assert stack.pop() == method, f"{stream}: {rec.names[method]} ends, and is not the innermost"
        assert not stack, f"{stream}: {stack} do not end"
    return own


def paraver(prv):
    """By tid: (time, value) of each event of methods, in the file's order."""
    rows = read_rows(prv)
    told = collections.defaultdict(list)
    for line in open(prv):
        fields = line.rstrip("\n").split(":")
        if fields[0] == "2":
            for kind, number in zip(fields[6::2], fields[7::2]):
                if int(kind) == METHOD:
                    told[rows[tuple(map(int, fields[2:5]))]].append((int(fields[5]), int(number)))
    return told


def labels(pcf):
    text = open(pcf).read()
    values = re.search(r"^0 +%d +Method\nVALUES\n((?:\d+ .*\n)+)" % METHOD, text, re.M)[1]
    return {int(n): name for n, name in (line.split(" ", 1) for line in values.splitlines())}


def main(trace, jis, prv):
    rec = Recording(trace, jis)
    want = {k: v for k, v in stacks(rec).items() if v}
    got = {k: int(v) for k, v in (line.rsplit(" ", 1) for line in lines(jis, "export", "collapsed", "-q", "--calls", "wall", trace))}
    differ = {k for k in set(want) | set(got) if want.get(k) != got.get(k)}
    for k in sorted(differ)[:10]:
        print(f"BAD stack {k}: {got.get(k)} ns, by the records {want.get(k)}")

    told, wrong = paraver(prv), 0
    names = labels(re.sub(r"\.prv$", ".pcf", prv))
    if set(told) != {rec.thread(s)[1] for s in rec.calls}:
        wrong += 1
        print(f"BAD threads {set(told)} have calls in Paraver")
    for stream, calls in rec.calls.items():
        mine = [(time, rec.names[n] if n else "End") for time, n, _ in calls]
        theirs = [(time, names.get(n)) for time, n in told[rec.thread(stream)[1]]]
        for a, b in zip(mine, theirs):
            if a != b:
                wrong += 1
                print(f"BAD {stream}: Paraver has {b}, the records {a}")
                break
        if len(mine) != len(theirs):
            wrong += 1
            print(f"BAD {stream}: Paraver has {len(theirs)} events of methods, the records {len(mine)}")
    calls = sum(len(c) for c in rec.calls.values()) // 2
    print(f"{calls} calls of {len(rec.calls)} threads, {len(want)} stacks, the deepest of {max(k.count(';') for k in want)}")
    return bool(differ or wrong or calls < 100 or len(want) < 20)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
