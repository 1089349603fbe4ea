#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what Waits and WaitsVirtual say they did against what a recording tells of it.

Usage: waits.py OUTPUT DUMP [--stacks SOURCE] [--no-stacks] [--late MS]. OUTPUT: the program's; DUMP: that of jis dump.
--stacks: each wait has exactly one stack, whose frame in SOURCE is a line that waits in the right way.
--late: so much shorter than the program's a wait may be (2 ms): it is told once the thread is said to be blocked.
"""
import argparse
import re
import sys

LINE = re.compile(r"^(\d+)\.(\d{9}) (\S+) (\w+) \{ (.*) \}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,]+)')
HOUR = 3600 * 10**9
RUNNING, VIRTUAL = 2, 4

# kind: begin, end, what a source line that waits this way has in it
KINDS = {
    "monitor": ("monitor_contended_enter", "monitor_contended_entered", "synchronized ("),
    "wait": ("monitor_wait", "monitor_waited", ".wait("),
    "park": ("park_begin", "park_end", None),
    "sleep": ("sleep_begin", "sleep_end", "sleep("),
    "join": ("join_begin", "join_end", None),
}

bad = []
late = 2e6


def fail(text):
    bad.append(text)
    print("BAD", text)


def value(text):
    if text.startswith('"'):
        return text[1:-1].replace('\\"', '"')
    try:
        return int(text, 0)
    except ValueError:
        return text


def read_dump(path):
    events = []
    with open(path) as f:
        for line in f:
            m = LINE.match(line)
            if m and not m[3].startswith("kernel/"):
                fields = {k: value(v.strip()) for k, v in FIELD.findall(m[5])}
                events.append((int(m[1] + m[2]), m[3], m[4], fields))
    return events


def read_expected(path):
    expected = []
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[:1] == ["EXPECT"] and words[1] != "pinned":  # which no record tells: the report does
                expected.append((words[1], dict(w.split("=", 1) for w in words[2:])))
    return expected


class Recording:
    def __init__(self, events):
        self.names, self.threads, self.methods, self.nodes = {0: ""}, {}, {}, {}
        self.ended = {}  # java_tid: when
        self.of = {}  # java_tid: its records in time order
        self.records = []
        for time, stream, name, f in events:
            if name == "string_def":
                self.names[f["id"]] = f["text"]
            elif name == "java_thread_start":
                self.threads[f["java_tid"]] = f
            elif name == "java_thread_end":
                self.ended[f["java_tid"]] = time
            elif name == "method_def":
                self.methods[f["id"]] = f
            elif name == "stack_def":
                self.nodes[f["id"]] = f
            elif "/slot-" in stream:
                self.records.append((time, stream, name, f))
                self.of.setdefault(f.get("java_tid"), []).append((time, stream, name, f))

    def told(self, java_tid, *names):
        """But for what the VM does in the thread after its end: it locks the Thread object, for who joins it."""
        end = self.ended.get(java_tid, float("inf"))
        return [r for r in self.of.get(java_tid, []) if r[2] in names and (r[0] < end or not self.is_thread(r[3]))]

    def is_thread(self, fields):
        return self.names.get(fields.get("class_name")) == "java.lang.Thread"

    def frames(self, node):
        while node:
            n = self.nodes[node]
            m = self.methods[n["method"]]
            yield m["class_name"], self.names[m["name"]], n["line"], self.names[m["file"]]
            node = n["caller"]


def check_object(what, rec, want, f):
    if "class" in want and rec.names[f["class_name"]] != want["class"]:
        fail("%s: class %r, expected %r" % (what, rec.names[f["class_name"]], want["class"]))
    if "hash" in want and f["hash"] != int(want["hash"], 16):
        fail("%s: hash %#x, expected %s" % (what, f["hash"], want["hash"]))


def check_owner(what, rec, want, f):
    if "owner" not in want:
        return
    owner = int(want["owner"])
    tid = rec.threads[owner]["tid"] if owner else 0
    if (f["owner_java_tid"], f["owner_tid"]) != (owner, tid):
        fail("%s: owner %d on %d, expected %d on %d" % (what, f["owner_java_tid"], f["owner_tid"], owner, tid))


def check_timeout(what, want, f):
    timeout = want.get("timeout")
    if timeout == "hour":
        if not 0.9 * HOUR < f["timeout"] <= HOUR:
            fail("%s: timeout %d is not about an hour" % (what, f["timeout"]))
    elif timeout is not None and f["timeout"] != int(timeout):
        fail("%s: timeout %d, expected %s" % (what, f["timeout"], timeout))


def check_stacks(what, rec, want, java_tid, intervals, source, needle):
    told = rec.told(java_tid, "wait_stack")
    for begin, end in intervals:
        inside = [s for s in told if begin <= s[0] <= end]
        if len(inside) != 1:
            fail("%s: %d stacks of one wait" % (what, len(inside)))
            continue
        mine = [fr for fr in rec.frames(inside[0][3]["stack"]) if fr[3] == source["name"]]
        if not mine:
            fail("%s: no frame of %s" % (what, source["name"]))
        elif needle and needle not in source["lines"][mine[0][2] - 1]:
            fail("%s: line %d has no %r" % (what, mine[0][2], needle))


def check_waits(rec, kind, want, source, no_stacks):
    java_tid, count = int(want["java_tid"]), int(want["count"])
    begin, end, needle = KINDS[kind]
    told = rec.told(java_tid, begin, end)
    what = "%s of %d" % (kind, java_tid)
    if [r[2] for r in told] != [begin, end] * count:
        fail("%s: %s, expected %d times begin and end" % (what, [r[2] for r in told], count))
        return
    total = 0
    intervals = []
    for b, e in zip(told[::2], told[1::2]):
        check_object(what, rec, want, b[3])
        check_owner(what, rec, want, b[3])
        check_timeout(what, want, b[3])
        if kind in ("monitor", "wait") and (b[3]["class_name"], b[3]["hash"]) != (e[3]["class_name"], e[3]["hash"]):
            fail("%s: begins and ends with different objects" % what)
        if "timed_out" in want and e[3]["timed_out"] != int(want["timed_out"]):
            fail("%s: timed_out %d" % (what, e[3]["timed_out"]))
        # The thread is BLOCKED, which the program waits for, a little before the JVM tells the agent.
        if e[0] - b[0] < int(want["ns"]) - max(late, 0.02 * int(want["ns"])):
            fail("%s: %d ns, expected at least %s" % (what, e[0] - b[0], want["ns"]))
        total += e[0] - b[0]
        intervals.append((b[0], e[0]))
    if "targets" in want:
        targets = [b[3]["target_java_tid"] for b in told[::2]]
        if targets != [int(t) for t in want["targets"].split(",")]:
            fail("%s: joins %s, expected %s" % (what, targets, want["targets"]))
    # The program's clock ran around each wait: the recording may not tell of more.
    if total > 1.001 * int(want["took"]) + 100000:
        fail("%s: %d ns in all, the program saw %s" % (what, total, want["took"]))
    if source and kind != "join":
        check_stacks(what, rec, want, java_tid, intervals, source, needle)
    if no_stacks and rec.told(java_tid, "wait_stack"):
        fail("%s: stacks of waits that were not long" % what)


def check_unparks(rec, want):
    target, by = int(want["java_tid"]), int(want["by"])
    n = sum(1 for r in rec.told(by, "unpark") if r[3]["target_java_tid"] == target)
    if n != int(want["count"]):
        fail("unpark of %d by %d: %d times, expected %s" % (target, by, n, want["count"]))


def check_starts(rec, want, source):
    told = rec.told(int(want["java_tid"]), "thread_start_call")
    children = [r[3]["child_java_tid"] for r in told]
    if children != [int(c) for c in want["children"].split(",")]:
        fail("starts: children %s, expected %s" % (children, want["children"]))
    for r in told:
        child = rec.threads.get(r[3]["child_java_tid"])
        if not child or bool(child["tid"]) == ("virtual" in want):
            fail("starts: child %d started as %s" % (r[3]["child_java_tid"], child))
        # With --stacks, where in the program.
        if source:
            mine = [fr for fr in rec.frames(r[3]["stack"]) if fr[3] == source["name"]]
            if not mine or "start" not in source["lines"][mine[0][2] - 1]:
                fail("starts: at %s" % mine[:1])


def check_vthread(rec, want):
    java_tid = int(want["java_tid"])
    start = rec.threads.get(java_tid)
    if not start or start["tid"] or not start["flags"] & VIRTUAL or start["name"] != want["name"]:
        fail("virtual thread %d: started as %s" % (java_tid, start))
    if java_tid not in rec.ended:
        fail("virtual thread %d: has no end" % java_tid)
    on, mounts = None, 0
    for time, stream, name, f in rec.of.get(java_tid, []):
        if name == "vthread_mount":
            if on:
                fail("virtual thread %d: mounted twice" % java_tid)
            on = stream
            mounts += 1
        elif on != stream:
            fail("virtual thread %d: %s on %s while on %s" % (java_tid, name, stream, on))
        elif name == "vthread_unmount":
            on = None
    if on:
        fail("virtual thread %d: never unmounted" % java_tid)
    if mounts < int(want.get("mounts_least", 0)) or mounts != int(want.get("mounts", mounts)):
        fail("virtual thread %d: %d mounts, expected %s" % (java_tid, mounts, want))


def check_carried(rec, want):
    """A virtual thread that was mounted when the agent came: it runs on its carrier until it ends there."""
    java_tid = int(want["java_tid"])
    start = rec.threads.get(java_tid)
    told = [r[2] for r in rec.of.get(java_tid, []) if r[2].startswith("vthread_")]
    if not start or not start["tid"] or start["flags"] & (VIRTUAL | RUNNING) != VIRTUAL | RUNNING:
        fail("virtual thread %d: was running as %s" % (java_tid, start))
    elif start["name"] != want["name"] or java_tid not in rec.ended or not told or told[0] != "vthread_unmount":
        fail("virtual thread %d: %s, %s" % (java_tid, start, told))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("dump")
    parser.add_argument("--stacks")
    parser.add_argument("--no-stacks", action="store_true")
    parser.add_argument("--late", type=float, default=2)
    args = parser.parse_args()
    global late
    late = args.late * 1e6
    rec = Recording(read_dump(args.dump))
    source = None
    if args.stacks:
        with open(args.stacks) as f:
            source = {"name": args.stacks.rsplit("/", 1)[-1], "lines": f.read().split("\n")}
    expected = read_expected(args.output)
    for kind, want in expected:
        if kind == "unpark":
            check_unparks(rec, want)
        elif kind == "start":
            check_starts(rec, want, source)
        elif kind == "vthread":
            check_vthread(rec, want)
        elif kind == "carried":
            check_carried(rec, want)
        else:
            check_waits(rec, kind, want, source, args.no_stacks)
    hidden = [t["name"] for t in rec.threads.values() if t["name"].startswith("jis-")]
    if hidden:
        fail("threads of the agent are told: %s" % hidden)
    print("%d expectations, %d records, %d bad" % (len(expected), len(rec.records), len(bad)))
    sys.exit(1 if bad or not expected else 0)


if __name__ == "__main__":
    main()
