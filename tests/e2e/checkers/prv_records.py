#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds events of a Paraver trace against the records of the recording, as babeltrace2 reads them.

Usage: prv_records.py TRACE X.prv TYPE[+LEAST]...

TYPE: the last two digits of 770000TT, or all of them. For each the events of all rows are worked out anew from the
records: on which row, when (to 1 ns, which the two round differently), and which value, by what the .pcf calls it where it
has names. Both must have the same ones, in order, and at least LEAST (1) that are not 0.
"""
import collections
import json
import re
import sys

import ctf
import prv_rows

VIRTUAL = 4
GC, MARKER = 48000001, 77010000
# Waits that tell who has it, and their ends.
OWNED = {"monitor_contended_enter": "monitor_contended_entered", "park_begin": "park_end", "join_begin": "join_end"}
CONTEXT = re.compile(r"\{ crc32c = [^}]*\}, ")
OWNER = re.compile(r"vtid = (\d+), vpid = (\d+)")


def records(trace):
    """(ns since the recording's begin, name, fields, thread that wrote it, its process)"""
    with open(trace + "/manifest.json") as f:
        m = json.load(f)
    bound = {}  # packet, known by its context: who has got the slot since it began
    for line in ctf.lines(trace):
        ticks, name, rest = ctf.LINE.match(line).groups()
        context, fields = rest[:CONTEXT.match(rest).end()], rest[CONTEXT.match(rest).end():]
        owner = OWNER.search(context)
        tid, pid = bound.get(context, int(owner[1])) if owner else 0, int(owner[2]) if owner else 0
        fields = ctf.parse_fields(fields)
        if name == "thread_bind":
            bound[context] = fields["tid"]
        for key in [k[:-7] for k in fields if k.endswith("_length")]:
            # Of an empty text, which has a NUL all the same, babeltrace2 prints the text before it.
            if len(fields[key].encode()) >= fields[key + "_length"]:
                fields[key] = ""
        yield (int(ticks) - m["begin"]) * 1e9 / m["frequency"], name, fields, tid, pid


class Names:
    """What the dictionaries say: they may come after the records that use them."""

    def __init__(self, all_records):
        self.strings, self.methods, self.threads = {}, {}, {}
        for _, name, f, _, pid in all_records:
            if name == "string_def":
                self.strings[pid, f["id"]] = f["text"]
            elif name == "method_def":
                self.methods[pid, f["id"]] = f
            elif name == "java_thread_start":
                self.threads[pid, f["java_tid"]] = f

    def string(self, pid, number):
        return self.strings[pid, number] if number else 0

    def method(self, pid, number):
        if not number:  # one the JVM did not tell of any more
            return 0
        f = self.methods[pid, number]
        return f["class_name"] + "." + self.strings[pid, f["name"]]

    def row(self, pid, java_tid):
        f = self.threads[pid, java_tid]
        return (pid, java_tid) if f["flags"] & VIRTUAL else f["tid"]

    def row_name(self, pid, java_tid):
        name, virtual = self.threads[pid, java_tid]["name"], "[virtual %d]" % java_tid
        return (name or "virtual-%d" % java_tid) + " " + virtual


class Expected:
    """Of each (row, type) what must be there."""

    def __init__(self, trace):
        self.events = collections.defaultdict(list)
        self.tasks = collections.defaultdict(list)  # (process, Java thread): those inside of each other
        self.spans = collections.defaultdict(list)
        self.waits = {}  # what is open
        self.begun, self.ended = {}, {}  # when a row's thread was first told of, and its end
        self.owners = collections.defaultdict(list)  # row: (begin and end of a wait, who has what it waits for)
        self.carried = collections.defaultdict(list)  # row: (when, the row of the virtual thread it carries from then on)
        every = list(records(trace))
        self.names = Names(every)
        for time, name, f, tid, pid in every:
            self.one(time, name, f, tid, pid)
        for (pid, java_tid, _), (begin, owner) in self.waits.items():
            if owner:
                self.owners[self.names.row(pid, java_tid)].append((begin, float("inf"), self.names.row(pid, owner)))

    def put(self, row, kind, time, value):
        self.events[row, kind if kind > 1000 else 77000000 + kind].append((time, value))

    def one(self, time, name, f, tid, pid):
        if name.startswith("syscall_"):
            self.put(f["tid"], 7, time, 0 if name == "syscall_exit" else f["nr"] + 1)
        elif name == "sched_process_exec":
            self.put(f["tid"], 5, time, f["filename"])
        elif name == "task_rename":
            self.put(f["tid"], 4, time, f["comm"])
        elif name in ("java_thread_start", "java_thread_name"):
            self.put(self.names.row(pid, f["java_tid"]), 4, time, f["name"] or "(no text)")
            self.begun.setdefault(self.names.row(pid, f["java_tid"]), time)
            if name == "java_thread_start" and f["flags"] & VIRTUAL and f["tid"]:  # was mounted when the agent came
                self.mounted(f["tid"], time, pid, f["java_tid"])
        elif name == "java_thread_end":
            self.ended[self.names.row(pid, f["java_tid"])] = time
        elif pid:
            self.of_jvm(time, name, f, tid, pid)

    def mounted(self, carrier, time, pid, java_tid):
        self.put(carrier, 15, time, self.names.row_name(pid, java_tid))
        self.carried[carrier].append((time, self.names.row(pid, java_tid)))

    def of_jvm(self, time, name, f, tid, pid):
        names = self.names
        if name == "vm_phase":
            self.put(tid, 3, time, {1: "started", 2: "initialised", 3: "ended"}[f["phase"]])
        elif name == "vthread_mount":
            self.mounted(tid, time, pid, f["java_tid"])
        elif name == "vthread_unmount":
            self.put(tid, 15, time, 0)
            self.carried[tid].append((time, None))
        elif name in ("task_begin", "task_end"):
            self.task(time, f, pid, name == "task_begin")
        elif name in OWNED:
            owner = f["target_java_tid" if name == "join_begin" else "owner_java_tid"]
            self.waits[pid, f["java_tid"], OWNED[name]] = (time, owner)
        elif (pid, f.get("java_tid"), name) in self.waits:
            begin, owner = self.waits.pop((pid, f["java_tid"], name))
            if owner:
                self.owners[names.row(pid, f["java_tid"])].append((begin, time, names.row(pid, owner)))
        elif name.startswith("safepoint_"):
            self.safepoint(time, name[10:], names.string(pid, f["operation"]) if name != "safepoint_reached" else 0, tid)
        elif name in ("gc_start", "gc_finish"):
            self.put(tid, GC, time, int(name == "gc_start"))
        elif name in ("span_begin", "span_end"):
            self.span(time, f, pid, name == "span_begin")
        elif name == "java_marker":
            self.put(names.row(pid, f["java_tid"]), MARKER + f["type"], time, f["value"])
        else:
            self.doing(time, name, f, tid, pid)

    def doing(self, time, name, f, tid, pid):
        names = self.names
        # A thread that is being made has no number yet.
        row = names.row(pid, f["java_tid"]) if f.get("java_tid") and (pid, f["java_tid"]) in names.threads else tid
        if name == "heap":
            self.put(tid, 42, time, f["used"])
            self.put(tid, 43, time, f["committed"])
        elif name == "exception":
            self.put(row, 46, time, names.string(pid, f["class_name"]))
            self.put(row, 47, time, names.method(pid, f["method"]))
        elif name == "class_prepare":
            self.put(row, 44, time, names.string(pid, f["class_name"]))
        elif name == "class_unload":
            self.put(tid, 45, time, names.string(pid, f["class_name"]))
        elif name == "allocation":
            self.put(row, 48, time, names.string(pid, f["class_name"]))
            self.put(row, 49, time, f["size"])
        elif name == "compiled_method":
            self.put(tid, 50, time, names.method(pid, f["method"]))
            self.put(tid, 51, time, f["size"])

    def task(self, time, f, pid, begins):
        stack = self.tasks[pid, f["java_tid"]]
        if begins:
            stack.append(tuple(self.names.string(pid, f[k]) for k in ("class_name", "pool_class")))
        else:
            stack.pop()
        row = self.names.row(pid, f["java_tid"])
        for kind, value in zip((30, 31), stack[-1] if stack else (0, 0)):
            self.put(row, kind, time, value)

    def span(self, time, f, pid, begins):
        """Of spans of one name that are open, the innermost ends."""
        stack, name = self.spans[pid, f["java_tid"]], self.names.string(pid, f["name"])
        if begins:
            stack.append(name)
        elif name in stack:
            del stack[len(stack) - 1 - stack[::-1].index(name)]
        self.put(self.names.row(pid, f["java_tid"]), 10, time, stack[-1] if stack else 0)

    def safepoint(self, time, what, operation, tid):
        if what == "begin":
            self.put(tid, 40, time, operation)
        elif what == "end":
            self.put(tid, 40, time, 0)
        self.put(tid, 41, time, {"begin": 1, "reached": 2, "end": 0}[what])


def threads_of_rows(base):
    """{row's key: tid, or (process, number) of a virtual thread}, of rows of threads."""
    found, tasks = {}, prv_rows.tasks(base)
    for key, name in prv_rows.names(base).items():
        virtual, thread = re.search(r"\[virtual (\d+)\]$", name), re.search(r"\[(\d+)\]$", name)
        if virtual:
            found[key] = int(re.search(r"\[(\d+)\]$", tasks[key[:2]])[1]), int(virtual[1])
        elif thread:
            found[key] = int(thread[1])
    assert len(set(found.values())) == len(found), "two rows of one thread"
    return found


def compare(kind, expected, rows, labels):
    """Returns how many that are not 0, and how many rows differ."""
    count = wrong = 0
    wanted = {row: events for (row, k), events in expected.events.items() if k == kind}
    for which in sorted(set(wanted) | {w for w, r in rows.items() if r.events.get(kind)}, key=str):
        want = wanted.get(which, [])
        row = rows.get(which)
        got = [(t, labels[kind].get(v, v) if v else 0) for t, v in row.events[kind]] if row else []
        count += sum(1 for _, v in got if v)
        for i in range(max(len(want), len(got))):
            w, g = want[i] if i < len(want) else None, got[i] if i < len(got) else None
            if not w or not g or abs(w[0] - g[0]) > 1 or w[1] != g[1]:
                wrong += 1
                print("%d of %s, event %d: %s by the records, %s in the trace" % (kind, row.name if row else which, i, w, g))
                break
    return count, wrong


def main():
    trace, prv = sys.argv[1:3]
    base = prv[:-len(".prv")]
    labels = prv_rows.labels(base)
    labels[77000007] = labels[77000041] = labels[GC] = {}  # compared as numbers, as docs/paraver.md has them
    threads = threads_of_rows(base)
    expected, rows = Expected(trace), {threads[k]: row for k, row in prv_rows.read(base, lambda name: name).items() if k in threads}
    wrong, said = 0, []
    for what in sys.argv[3:]:
        kind, _, least = what.partition("+")
        number = int(kind) if len(kind) > 2 else 77000000 + int(kind)
        count, differ = compare(number, expected, rows, labels)
        said.append("%d of %d" % (count, number))
        wrong += differ
        if count < int(least or 1):
            wrong += 1
            print("only %d events of %d, at least %s expected" % (count, number, least or 1))
    print("events as in the records: " + ", ".join(said))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("prv_records: %s" % error)
