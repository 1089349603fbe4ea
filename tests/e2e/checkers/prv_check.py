#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a Paraver trace against the rules of the format, sharing no code with the writer.

    prv_check.py [--times] [--contradictions] [--limit N] X.prv|X.prv.gz

Reads X.prv, X.pcf and X.row. Prints each broken rule, at most N of a kind (default 5), and exits 1 if
there is any, 2 if it cannot read the trace. --times prints for each row its time in each state, tab
separated: appl.task.thread, name, state, label, ns. Keeps the running intervals in memory: meant for
traces of tests. --contradictions: the report counted some; then an event may name a CPU on which its thread
turned out not to have been, which is not looked at.

Rules: the header (date, unit, resources, applications); each record's fields are plain integers and
name objects that exist, and CPUs of the node that the thread is on; states of a row in order without gap or overlap, from 0 to the end; a CPU only on
records of a thread that runs there then; no CPU with two threads at once, and none where one thread's
interval ends at the very time another's begins; events in time order per row and type, their types
and the values of labelled types in the .pcf; communications do not go back in time; the .row has as
many names as there are objects; no CRLF, no line of blanks; numbers small enough for the loader.
"""
import argparse
import collections
import gzip
import os
import re
import sys

RUNNING = 1
MAX_OBJECTS = 65535
MAX_LABEL = 2**31 - 1
MAX_TYPE = 2**32 - 1
MAX_TIME = 2**53

INTEGER = re.compile(r"(0|-?[1-9][0-9]*)\Z")
HEADER = re.compile(
    r"#Paraver \(([^()]+)\):([0-9]+)_ns:([0-9]+)\(([0-9,]+)\):([0-9]+):(.*)\Z"
)


class Checker:
    def __init__(self, limit):
        self.limit = limit
        self.found = collections.Counter()

    def wrong(self, rule, text):
        self.found[rule] += 1
        if self.found[rule] <= self.limit:
            print(f"{rule}: {text}")


class Fatal(Exception):
    pass


def open_text(path):
    raw = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    return raw


def parse_header(line, check):
    """Returns (end, [cpus of node, ...], [[(threads, node) of task, ...] of appl, ...])."""
    match = HEADER.match(line)
    if not match:
        raise Fatal(f"header not understood: {line[:200]}")
    _date, end, nodes, cpus, nr_appl, rest = match.groups()
    cpu_counts = [int(c) for c in cpus.split(",")]
    if int(nodes) != len(cpu_counts) or 0 in cpu_counts:
        check.wrong("header", f"{nodes} nodes, CPUs {cpus}")
    appls = []
    for text in re.findall(r"[0-9]+\([^()]*\)", rest):
        count, inner = re.match(r"([0-9]+)\((.*)\)\Z", text).groups()
        tasks = []
        for task in inner.split(","):
            threads, node = task.split(":")
            if int(threads) < 1 or not 1 <= int(node) <= int(nodes):
                check.wrong("header", f"task {task}")
            tasks.append((int(threads), int(node)))
        if int(count) != len(tasks):
            check.wrong("header", f"{count} tasks announced, {len(tasks)} described")
        appls.append(tasks)
    if int(nr_appl) != len(appls) or not appls:
        check.wrong("header", f"{nr_appl} applications announced, {len(appls)} described")
    if not re.match(r"[0-9]+\([^()]*\)(:[0-9]+\([^()]*\))*\Z", rest):
        check.wrong("header", f"application list not understood: {rest[:200]}")
    total = sum(threads for tasks in appls for threads, _ in tasks)
    if total > MAX_OBJECTS or sum(cpu_counts) > MAX_OBJECTS:
        check.wrong("objects", f"{total} threads, {sum(cpu_counts)} CPUs")
    if int(end) >= MAX_TIME:
        check.wrong("time", f"the end {end} is not exact as a double")
    return int(end), cpu_counts, appls


def parse_pcf(path, check):
    """Returns (states {value: label}, colours {value}, types {type: {value: label}})."""
    states, colours, types = {}, set(), {}
    section, block = None, []
    if not os.path.exists(path):
        check.wrong("pcf", "there is none")
        return states, colours, types
    with open(path, "rb") as f:
        data = f.read()
    if b"\r" in data:
        check.wrong("pcf", "CR in it: Paraver would see no section")
    names = {"DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES", "STATES_COLOR", "EVENT_TYPE", "VALUES"}
    for number, line in enumerate(data.decode("utf-8").split("\n"), 1):
        if line and not line.strip():
            check.wrong("pcf", f"line {number} has only blanks")
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line in names:
            section = line
            block = [] if line == "EVENT_TYPE" else block
            continue
        if section == "STATES":
            value, label = line.split(None, 1)
            states[int(value)] = label
        elif section == "STATES_COLOR":
            value, colour = line.split(None, 1)
            if not re.match(r"\{[0-9]+,[0-9]+,[0-9]+\}\Z", colour):
                check.wrong("pcf", f"line {number}: colour {colour}")
            colours.add(int(value))
        elif section == "EVENT_TYPE":
            parts = line.split(None, 2)
            if len(parts) < 3:
                check.wrong("pcf", f"line {number}: no gradient, type or label")
                continue
            if int(parts[1]) > MAX_LABEL:
                check.wrong("pcf", f"line {number}: type {parts[1]} cannot be labelled")
            types.setdefault(int(parts[1]), {})
            # Not all tids have a name.
            if not parts[2].endswith("(tid)"):
                block.append(int(parts[1]))
        elif section == "VALUES":
            parts = line.split(None, 1)
            if len(parts) < 2:
                check.wrong("pcf", f"line {number}: a value without label")
                continue
            if not 0 <= int(parts[0]) <= MAX_LABEL:
                check.wrong("pcf", f"line {number}: value {parts[0]} cannot be labelled")
            for event_type in block:
                types[event_type][int(parts[0])] = parts[1]
    for value in set(states) ^ colours:
        check.wrong("pcf", f"state {value} lacks label or colour")
    return states, colours, types


def parse_row(path, check):
    """Returns {level: [names]}."""
    levels = {}
    if not os.path.exists(path):
        check.wrong("row", "there is none")
        return levels
    with open(path, "rb") as f:
        lines = f.read().decode("utf-8").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line or line.startswith("#"):
            continue
        match = re.match(r"LEVEL ([A-Z]+) SIZE ([0-9]+)\Z", line)
        if not match:
            check.wrong("row", f"line {at} is outside of a block: {line[:80]}")
            continue
        count = int(match.group(2))
        names = lines[at : at + count]
        at += count
        if len(names) != count or not all(n.strip() for n in names):
            check.wrong("row", f"block {match.group(1)}: names missing or empty")
        levels[match.group(1)] = names
    return levels


class Body:
    """The records, checked as they come; what needs the whole trace is checked at the end."""

    def __init__(self, check, end, cpus, appls, types, lenient):
        self.lenient = lenient
        self.check, self.end, self.appls, self.types = check, end, appls, types
        self.nodes = [node for node, count in enumerate(cpus, 1) for _ in range(count)]  # by CPU
        self.last_end = collections.defaultdict(int)
        self.last_event = {}
        self.times = collections.defaultdict(collections.Counter)
        self.running = collections.defaultdict(list)  # cpu -> [(begin, end, row)]
        self.on_cpu = []  # (cpu, time, row, line): events and senders that name a CPU
        self.states_seen = set()
        self.types_seen = set()
        self.records = 0

    def row(self, fields, where):
        appl, task, thread = fields
        if (
            not 1 <= appl <= len(self.appls)
            or not 1 <= task <= len(self.appls[appl - 1])
            or not 1 <= thread <= self.appls[appl - 1][task - 1][0]
        ):
            self.check.wrong("objects", f"{where}: no object {appl}.{task}.{thread}")
        return (appl, task, thread)

    def cpu_time(self, cpu, row, time, where):
        if not 0 <= cpu <= len(self.nodes):
            self.check.wrong("cpu", f"{where}: CPU {cpu} of {len(self.nodes)}")
        elif cpu and self.nodes[cpu - 1] != self.appls[row[0] - 1][row[1] - 1][1]:
            self.check.wrong("cpu", f"{where}: CPU {cpu} is not on the node of {row}")
        if not 0 <= time <= self.end:
            self.check.wrong("time", f"{where}: {time} is outside of 0..{self.end}")

    def state(self, f, where):
        if len(f) != 8:
            return self.check.wrong("fields", f"{where}: {len(f)} fields in a state")
        _, cpu, appl, task, thread, begin, end, value = f
        row = self.row((appl, task, thread), where)
        self.cpu_time(cpu, row, begin, where)
        self.cpu_time(cpu, row, end, where)
        if begin >= end:
            self.check.wrong("states", f"{where}: {begin}..{end} is empty or backward")
        if begin != self.last_end[row]:
            kind = "overlap" if begin < self.last_end[row] else "gap"
            self.check.wrong("cover", f"{where}: {kind}: {begin} after {self.last_end[row]}")
        self.last_end[row] = end
        self.times[row][value] += end - begin
        self.states_seen.add(value)
        if cpu:
            if value != RUNNING:
                self.check.wrong("cpu", f"{where}: CPU {cpu} in state {value}")
            self.running[cpu].append((begin, end, row))
        elif value == RUNNING and end - begin > 1:
            self.check.wrong("cpu", f"{where}: runs {end - begin} ns on no CPU")

    def event(self, f, where):
        if len(f) < 8 or len(f) % 2:
            return self.check.wrong("fields", f"{where}: {len(f)} fields in an event")
        cpu, time = f[1], f[5]
        row = self.row(tuple(f[2:5]), where)
        self.cpu_time(cpu, row, time, where)
        for event_type, value in zip(f[6::2], f[7::2]):
            if not 0 < event_type <= MAX_TYPE or not -(2**63) <= value < 2**63:
                self.check.wrong("events", f"{where}: type {event_type}, value {value}")
            labels = self.types.get(event_type)
            if labels is None:
                self.check.wrong("labels", f"{where}: type {event_type} is not in the .pcf")
            elif labels and value not in labels:
                self.check.wrong("labels", f"{where}: value {value} of {event_type} has no label")
            if time < self.last_event.get((row, event_type), 0):
                self.check.wrong("events", f"{where}: {event_type} goes back in time")
            self.last_event[row, event_type] = time
            self.types_seen.add(event_type)
        if cpu:
            self.on_cpu.append((cpu, time, row, where))

    def communication(self, f, where):
        if len(f) != 15:
            return self.check.wrong("fields", f"{where}: {len(f)} fields in a communication")
        sender = self.row(tuple(f[2:5]), where)
        receiver = self.row(tuple(f[8:11]), where)
        self.cpu_time(f[1], sender, f[5], where)
        self.cpu_time(f[7], receiver, f[11], where)
        if not f[5] <= f[6] <= f[12] or not f[11] <= f[12]:
            self.check.wrong("communications", f"{where}: goes back in time")
        if f[7]:
            self.check.wrong("cpu", f"{where}: a woken thread is on no CPU")
        if f[1]:
            self.on_cpu.append((f[1], f[5], sender, where))

    def line(self, text, where):
        if not text or text.startswith("#"):
            return
        fields = text.split(":")
        if not all(INTEGER.match(x) for x in fields):
            self.check.wrong("fields", f"{where}: not all plain integers: {text[:80]}")
            return
        numbers = [int(x) for x in fields]
        self.records += 1
        kinds = {1: self.state, 2: self.event, 3: self.communication}
        if numbers[0] not in kinds:
            self.check.wrong("fields", f"{where}: record type {numbers[0]}")
            return
        kinds[numbers[0]](numbers, where)

    def finish(self):
        if not self.records:
            self.check.wrong("body", "it is empty: Paraver loads no such trace")
        for a, tasks in enumerate(self.appls, 1):
            for t, (threads, _) in enumerate(tasks, 1):
                for k in range(1, threads + 1):
                    if self.last_end[a, t, k] != self.end:
                        self.check.wrong(
                            "cover", f"{a}.{t}.{k} ends at {self.last_end[a, t, k]} of {self.end}"
                        )
        for cpu, intervals in self.running.items():
            intervals.sort()
            for one, two in zip(intervals, intervals[1:]):
                if two[0] < one[1]:
                    self.check.wrong("two on a CPU", f"CPU {cpu}: {one} and {two}")
                elif two[0] == one[1] and one[2] != two[2]:
                    self.check.wrong("tie", f"CPU {cpu}: {one} ends where {two} begins")
        if not self.lenient:
            self.points()

    def points(self):
        """Events and senders that name a CPU: the row runs there then."""
        at = collections.Counter()
        for cpu, time, row, where in sorted(self.on_cpu):
            intervals = self.running.get(cpu, [])
            while at[cpu] < len(intervals) and intervals[at[cpu]][1] + 1 < time:
                at[cpu] += 1
            near = intervals[at[cpu] : at[cpu] + 4]
            if not any(b <= time <= e + 1 and r == row for b, e, r in near):
                self.check.wrong("cpu", f"{where}: {row} does not run on CPU {cpu} at {time}")


def check_rows(check, levels, cpus, appls):
    wanted = {
        "CPU": sum(cpus),
        "NODE": len(cpus),
        "THREAD": sum(threads for tasks in appls for threads, _ in tasks),
        "TASK": sum(len(tasks) for tasks in appls),
        "APPL": len(appls),
    }
    for level, count in wanted.items():
        if level not in levels:
            check.wrong("row", f"no block {level}")
        elif len(levels[level]) != count:
            check.wrong("row", f"{len(levels[level])} names of level {level}, {count} objects")


def base_of(path):
    for ending in (".prv.gz", ".prv"):
        if path.endswith(ending):
            return path[: -len(ending)]
    raise Fatal("the name must end in .prv or .prv.gz")


def print_times(body, states, names):
    index = 0
    for a, tasks in enumerate(body.appls, 1):
        for t, (threads, _) in enumerate(tasks, 1):
            for k in range(1, threads + 1):
                name = names[index] if index < len(names) else "?"
                index += 1
                for value, ns in sorted(body.times[a, t, k].items()):
                    label = states.get(value, "?")
                    print(f"{a}.{t}.{k}\t{name}\t{value}\t{label}\t{ns}")


def run(args, check):
    base = base_of(args.trace)
    states, _, types = parse_pcf(base + ".pcf", check)
    levels = parse_row(base + ".row", check)
    with open_text(args.trace) as f:
        first = f.readline()
        if first.endswith(b"\r\n"):
            check.wrong("header", "CRLF")
        end, cpus, appls = parse_header(first.decode().rstrip("\n"), check)
        body = Body(check, end, cpus, appls, types, args.contradictions)
        for number, line in enumerate(f, 2):
            if not line.endswith(b"\n"):
                check.wrong("body", f"line {number} is cut off")
            body.line(line.decode("ascii").rstrip("\n"), f"line {number}")
    body.finish()
    check_rows(check, levels, cpus, appls)
    for value in body.states_seen - set(states):
        check.wrong("labels", f"state {value} has no label")
    if args.times:
        print_times(body, states, levels.get("THREAD", []))


def main():
    parser = argparse.ArgumentParser(description="checks a Paraver trace")
    parser.add_argument("--times", action="store_true", help="print the time of each row in each state")
    parser.add_argument("--contradictions", action="store_true", help="the trace has some")
    parser.add_argument("--limit", type=int, default=5, help="messages of a kind")
    parser.add_argument("trace")
    args = parser.parse_args()
    check = Checker(args.limit)
    try:
        run(args, check)
    except (OSError, Fatal, UnicodeDecodeError, ValueError) as error:
        print(f"cannot check {args.trace}: {error}", file=sys.stderr)
        return 2
    for rule, count in check.found.items():
        print(f"{rule}: {count} in all", file=sys.stderr)
    return 1 if check.found else 0


if __name__ == "__main__":
    sys.exit(main())
