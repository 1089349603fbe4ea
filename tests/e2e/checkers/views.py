#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Evaluates each of Paraver's views on a trace, and holds what it shows against figures from elsewhere.

Usage: views.py DIRECTORY TRACE X.prv REPORT.json STATS.csv RMI.json [VIEW]...

DIRECTORY: the views (.cfg). The figures: records of the recording TRACE, read by babeltrace2 (prv_records.py); the JSON of
`jis report`, of `jis rmi --internal`, the CSV of `jis stats`. X.prv has rows of CPUs. A view that shows nothing fails, and
so does one that is not listed here. A thread that hands over its CPU ends 1 ns early, and begins what it does next so
much earlier: times may differ by 1 ns an interval. VIEW: only these.
"""
import collections
import csv
import functools
import json
import pathlib
import re
import sys

import cfg_eval
import ctf
import prv_records
import prv_said

# Views of one type of events that a record is each: what they show, by what the value is called, is what the records say.
BY_RECORDS = {"allocations": [77000048], "carriers": [77000015], "class_loads": [77000044], "compilations": [77000050],
              "exceptions": [77000046], "gc": [48000001], "heap": [77000042], "names": [77000004], "safepoints": [77000040],
              "safepoint_phase": [77000041], "spans": [77000010], "syscalls": [77000007], "syscall_time": [77000007],
              "tasks": [77000030], "pool_time": [77000031], "markers": [77010001, 77010002]}
# Values that are compared as numbers.
PLAIN = (48000001, 77000007, 77000041, 77000042, 77010001, 77010002)
POOL_IDLE = "idle in pool"
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


class Shown:
    """Of a view's window what it shows, over all objects and by object: time and intervals, by value."""

    def __init__(self, body, view, window=0):
        self.time, self.bursts = collections.Counter(), collections.Counter()
        self.of = collections.defaultdict(collections.Counter)
        for which, begin, end, value in view.windows[window].lines(body):
            if value and begin < end:
                self.time[value] += end - begin
                self.bursts[value] += 1
                self.of[which][value] += end - begin
        self.total = sum(self.time.values())
        self.weighted = sum(value * ns for value, ns in self.time.items())


class Figures:
    def __init__(self, directory, trace, prv, report, stats, rmi):
        self.body = cfg_eval.Body(prv[:-len(".prv")])
        self.views = {p.stem: cfg_eval.View(p) for p in sorted(pathlib.Path(directory).glob("*.cfg"))}
        self.trace = trace
        self.report, self.rmi = json.load(open(report)), json.load(open(rmi))["lines"]
        self.stats = list(csv.DictReader(open(stats)))
        for kind in PLAIN:
            self.body.labels[kind] = {}
        self.ids = prv_records.threads_of_rows(prv[:-len(".prv")])
        self.tids = {key: which for key, which in self.ids.items() if isinstance(which, int)}
        self.threads = {t["tid"]: t for t in self.report["threads"]}
        assert len(self.threads) == len(self.report["threads"]) == len(self.tids), "rows are shared"
        self.states = self.report["total"]["states"]
        self.virtual = self.report["virtual_threads"]

    @functools.cached_property
    def expected(self):
        return prv_records.Expected(self.trace)

    def together(self, which, begin, end):
        """The row, and those of which one carries the other in that time."""
        rows = [which]
        for carrier, mounts in self.expected.carried.items():
            ends = [time for time, _ in mounts[1:]] + [self.body.end]
            for (since, row), until in zip(mounts, ends):
                if row and since <= end and begin <= until and which in (carrier, row):
                    rows.append(row if which == carrier else carrier)
        return rows

    def named(self, counter, *kinds):
        """By label in place of value."""
        names, out = {}, collections.Counter()
        for kind in kinds:
            names.update(self.body.labels[kind])
        for value, n in counter.items():
            out[names.get(value, value)] += n
        return out

    def table(self, view, kind=None):
        """What its table has: by column, over all rows."""
        out = collections.Counter()
        for (_, column), n in self.views[view].table(self.body).items():
            out[column] += n
        return self.named(out, kind) if kind else out

    def reason(self, name, field="time"):
        return sum(r["reasons"].get(name, {field: 0})[field] for r in (self.report, self.virtual))

    def near(self, what, got, want, slack=0):
        if abs(got - want) > slack or not got:
            complain("%s: %d, %d expected" % (what, got, want))

    def same(self, what, got, want, slack=0, empty=False):
        """Of two counters; slack: of each value, or a counter of them."""
        if not empty and not any(want.values()):
            complain("%s: nothing" % what)
        for key in sorted(set(got) | set(want), key=str):
            room = slack[key] + 1 if isinstance(slack, collections.Counter) else slack
            if abs(got[key] - want[key]) > room:
                complain("%s: %s: %d, %d expected" % (what, key, got[key], want[key]))


def by_records(f, name):
    kinds, shown = BY_RECORDS[name], Shown(f.body, f.views[name])
    time, bursts = collections.Counter(), collections.Counter()
    rows = collections.defaultdict(list)
    for (row, kind), events in f.expected.events.items():
        if kind in kinds:
            rows[row] += events
    for events in rows.values():
        events.sort(key=lambda e: e[0])
        for (begin, value), (end, _) in zip(events, events[1:] + [(f.body.end, None)]):
            if value and int(begin) < int(end):
                time[value] += int(end) - int(begin)
                bursts[value] += 1
    f.same("intervals", f.named(shown.bursts, *kinds), bursts)
    f.same("time", f.named(shown.time, *kinds), time, slack=bursts)
    if f.views[name].keys:
        f.same("table", f.table(name, kinds[0]), time, slack=bursts)


def states(f, name):
    """Of each state all time, of all threads; rows of CPUs are threads of the last application."""
    shown, want = Shown(f.body, f.views[name]), collections.Counter()
    got, s, v, n = shown.time, f.states, f.virtual, len(f.virtual["threads"])
    alive = v["running"] + v["ready"] + v["to_mount"] + v["waiting"] + v["unknown"]
    want.update({1: s["running"], 2: s["not created"] + s["exited"] + n * f.body.end - alive, 7: s["ready"],
                 9: f.reason("not known"), 36: s["running"], 38: v["to_mount"], 39: v["running"], 40: v["ready"]})
    for line in open(sys.argv[3][:-4] + ".pcf"):
        m = re.match(r"(\d+) Blocked: (.*)\n", line)
        if m and f.reason(m[2]):
            want[int(m[1])] = f.reason(m[2])
    cpus = [o for o in shown.of if f.body.names[o].startswith("CPU ")]
    unknown = sum(shown.of[o][34] for o in cpus)
    want[34] = s["unknown"] + v["unknown"] + unknown
    want[35] = len(cpus) * f.body.end - unknown - want[36] - sum(e - b for o in cpus for b, e, x, _ in f.body.states[o] if x == 0)
    # Each interval on the CPU may be 1 ns shorter, and the one after it as much longer.
    f.same("time by state", got, want, slack=shown.bursts[1] + shown.bursts[2])
    if f.views[name].keys:
        f.same("table", f.table(name), want, slack=shown.bursts[1] + shown.bursts[2])


def of_threads(f, name):
    states(f, name)
    shown = Shown(f.body, f.views[name])
    for key, tid in f.tids.items():
        t, got = f.threads[tid]["states"], shown.of[key]
        blocked = sum(ns for state, ns in got.items() if state == 9 or state > 40)
        for what, ns, want in (("running", got[1], t["running"]), ("ready", got[7] + got[37], t["ready"]),
                               ("blocked", blocked, t["blocked"] + t["blocked uninterruptibly"] + t["stopped"])):
            if abs(ns - want) > 1 + len(f.body.states[key]):
                complain("%s %s: %d ns, %d expected" % (f.body.names[key], what, ns, want))


def wakeups(f, name):
    states(f, name)
    arrows, n = f.views[name].arrows(f.body), f.report["links"]["kinds"]["wake-up"]["count"]
    f.near("arrows of wake-ups", arrows[0], n)
    f.near("other arrows", sum(arrows.values()), n + arrows[5])


def task_handover(f, name):
    states(f, name)
    f.same("arrows", f.views[name].arrows(f.body), collections.Counter({10: sum(p["linked"] for p in f.report["pools"])}))


def parallelism(f, name):
    run, ready = (Shown(f.body, f.views[name], i) for i in (0, 1))
    slack = sum(len(s) for s in f.body.states.values())
    f.near("running", run.weighted, f.states["running"], slack)
    f.near("ready", ready.weighted, f.states["ready"] + f.virtual["to_mount"], slack)
    cpus = sum(name.startswith("CPU ") for name in f.body.names.values())
    if max(run.time) > cpus:
        complain("%d threads run at once on %d CPUs" % (max(run.time), cpus))


def live_threads(f, name):
    live, load = (Shown(f.body, f.views[name], i) for i in (0, 1))
    slack = sum(len(s) for s in f.body.states.values())
    s, v = f.states, f.virtual
    f.near("threads", live.weighted, sum(s.values()) - s["not created"] - s["exited"] + v["running"] + v["ready"] +
           v["to_mount"] + v["waiting"] + v["unknown"], slack)
    f.near("load", load.weighted, s["running"] + s["ready"], slack)


def load_balance(f, name):
    cells = f.views[name].table(f.body)
    got = collections.Counter({f.tids[key]: ns for (key, _), ns in cells.items()})
    f.same("time", got, collections.Counter({tid: t["states"]["running"] for tid, t in f.threads.items()}),
           slack=collections.Counter({f.tids[key]: len(f.body.states[key]) for key in f.tids}))


def durations(f, name, reasons, longest):
    shown = Shown(f.body, f.views[name])
    beyond = sum(n for ns, n in shown.bursts.items() if ns > longest)
    f.near("intervals", sum(f.table(name).values()), sum(f.reason(r, "count") for r in reasons) - beyond)
    f.near("their time", sum(ns * n for ns, n in shown.bursts.items()), sum(f.reason(r) for r in reasons),
           f.report["counts"]["switches"] * 2)


def wait_time(f, name):
    ran = {"running", "in a system call", "in Java", "in native code", "in the VM", *prv_said.ROLES}
    durations(f, name, {r for x in (f.report, f.virtual) for r in x["reasons"]} - ran - READY - {"ready to mount"}, 10**9)


READY = {"woken", "preempted", "yielded"}


def ready_time(f, name):
    durations(f, name, READY, 10**8)


def behind(f, name):
    want = collections.Counter({tid: t["behind_target"] + t["behind_foreign"] for tid, t in f.threads.items()})
    if f.views[name].keys:
        got = collections.Counter()
        for (key, _), ns in f.views[name].table(f.body).items():
            got[f.tids[key]] += ns
    else:
        got = collections.Counter({f.tids[key]: sum(of.values()) for key, of in Shown(f.body, f.views[name]).of.items()})
    f.same("time behind another", got, want)


def lock_class(f, name):
    """A wait that keeps a virtual thread's carrier is shown in both rows, and is the report's once."""
    want, pools = collections.Counter(), {p["class"] for p in f.report["pools"]}
    for lock in f.report["locks"]:
        want[lock["class"]] += lock["blocked"]
    del want[""]  # parks without an object
    shown = Shown(f.body, f.views[name])
    twice, kept = collections.Counter(), collections.defaultdict(list)
    for key, begin, end, value in f.views["pinned"].windows[0].lines(f.body):
        if value and "[virtual " in f.body.names[key]:
            kept[key].append((begin, end))
    for key, begin, end, value in f.views[name].windows[0].lines(f.body):
        for since, until in kept[key] if value else ():
            twice[value] += max(0, min(end, until) - max(begin, since))
    got, twice, bursts = (f.named(what, 77000011) for what in (shown.time, twice, shown.bursts))
    pinned = sum(lock["pinned"] for lock in f.report["locks"] if lock["class"])
    if sum(twice.values()) < pinned:
        complain("in two rows: %d, at least %d expected" % (sum(twice.values()), pinned))
    # What is in two rows of a pool's class may be idle time, or a wait for the pool.
    most = sum(got[p] - want[p] for p in pools if got[p] > want[p])
    want.update(twice)
    least = sum(got[p] - want[p] for p in pools if got[p] > want[p])
    f.near("idle in pools", max(least, min(most, f.reason(POOL_IDLE))), f.reason(POOL_IDLE), sum(bursts.values()))
    for p in pools:
        want[p] = max(want[p], got[p])
    f.same("time", got, want, slack=bursts)
    if f.views[name].keys:
        f.same("table", f.table(name, 77000011), want, slack=bursts)


def lock_owner(f, name):
    """Of each wait of which an owner is shown a record that is open then names it; none where that had not begun, or had
    ended: a thread is joined while it ends, after it has told its end. What one waits for while it carries another, or is
    carried, is shown of both."""
    keys, owned = list(f.body.names), 0
    for key, begin, end, value in f.views[name].windows[0].lines(f.body):
        if not value:
            continue
        rows = f.together(f.ids[key], begin, end)
        waits = [(since, owner) for row in rows for since, until, owner in f.expected.owners[row] if since <= end and begin <= until]
        open_ones = [owner for _, owner in waits]
        who = f.ids[keys[value - 1]] if f.body.labels[77000013][value] != "a thread that has no row" else None
        untold = any(f.expected.begun[owner] > begin or f.expected.ended.get(owner, since) < since for since, owner in waits)
        owned += who is not None
        if who not in open_ones and not (who is None and untold):
            complain("%s at %d: %s had it, by the records %s" % (f.body.names[key], begin, who, open_ones))
    f.near("waits for what somebody has", min(owned, 10), 10)


def peers(f, name):
    """The report has those of threads, of virtual ones the time for each reason only: what is blocked in their carriers."""
    shown, want = Shown(f.body, f.views[name]), collections.Counter()
    for peer in f.report["peers"]:
        want[peer["name"]] += peer["time"]
    got, slack = collections.Counter(), f.named(shown.bursts, 77000014)
    if f.views[name].keys:
        for (key, value), ns in f.views[name].table(f.body).items():
            got[value] += ns if key in f.tids else 0
    else:
        for key in f.tids:
            got.update(shown.of[key])
    f.same("time", f.named(got, 77000014), want, slack=slack)
    reasons = {peer["reason"] for peer in f.report["peers"]}
    most = sum(r["time"] for name, r in f.virtual["reasons"].items() if name in reasons)
    if shown.total - sum(got.values()) > most + sum(slack.values()):
        complain("virtual threads: %d ns, at most %d expected" % (shown.total - sum(got.values()), most))


def methods(f, name):
    shown, want = Shown(f.body, f.views[name]), collections.Counter()
    for line in f.stats:
        want[line["method"].split("(")[0]] += int(line["own"])
    got = collections.Counter()
    for method, ns in f.named(shown.time, 60000019).items():
        got[method.split("(")[0]] += ns
    f.same("own time", got, want, slack=sum(shown.bursts.values()))
    if f.views[name].keys:
        f.near("table", sum(f.table(name).values()), sum(want.values()), sum(shown.bursts.values()))


def links(f, kinds, key):
    out = collections.Counter()
    for c in f.report["links"]["classes"]:
        if c["kind"] in kinds:
            out[c["class"]] += c[key]
    return out


def lock_handover(f, name):
    tags, shown = {11: "monitor", 12: "lock", 13: "notify", 14: "unpark"}, Shown(f.body, f.views[name])
    bursts = f.named(shown.bursts, 77000020)
    f.same("hand-overs", bursts, links(f, tags.values(), "count"))
    if f.views[name].windows[0].draws_arrows:
        kinds = f.report["links"]["kinds"]
        f.same("arrows", f.views[name].arrows(f.body), collections.Counter({t: kinds[k]["count"] for t, k in tags.items()}))
        f.same("time", f.named(shown.time, 77000020), links(f, tags.values(), "time"), slack=bursts)
    elif name.endswith("_count"):
        f.same("table", f.table(name, 77000020), links(f, tags.values(), "count"))
    else:
        f.same("table", f.table(name, 77000020), links(f, tags.values(), "time"), slack=bursts)


def socket_handover(f, name):
    link, givers = f.report["links"]["kinds"]["socket"], collections.Counter()
    for p in f.report["links"]["pairs"]:
        if p["kind"] == "socket":
            givers["%s [%d]" % (p["from"]["name"], p["from"]["tid"])] += p["count"]
    shown = Shown(f.body, f.views[name])
    f.same("by giver", f.named(shown.bursts, 77000021), givers)
    f.near("time", shown.total, link["time"])
    if f.views[name].windows[0].draws_arrows:
        f.same("arrows", f.views[name].arrows(f.body), collections.Counter({15: link["count"]}))
    if f.views[name].keys:
        f.same("table", f.table(name, 77000021), givers)


def connections(f, name):
    """Each thread uses connections that it is named at; each connection is used. Of messages ftrace tells none."""
    used = collections.defaultdict(set)
    for key, begin, end, value in f.views[name].windows[0].lines(f.body):
        if value:
            used[value].add(f.body.names[key])
    known = {c["number"]: {"%s [%d]" % (t["name"], t["tid"]) for t in c["threads"]} for c in f.report["connections"]["list"]
             if c["nr_threads"] == len(c["threads"])}
    numbers = collections.Counter(c["number"] for c in f.report["connections"]["list"])
    f.same("connections", collections.Counter(list(used)), numbers)
    for number in set(used) & set(known):
        if not used[number] <= known[number]:
            complain("connection %d is used by %s, of %s" % (number, used[number], known[number]))
    messages = f.report["links"]["kinds"]["message"]["count"]
    f.same("arrows", f.views[name].arrows(f.body), collections.Counter({16: messages}), empty=True)


def remote(f, name):
    kind, calls = (77000061, f.rmi) if name == "remote_served" else (77000060, [c for c in f.rmi if not c["internal"]])
    shown, count, time = Shown(f.body, f.views[name]), collections.Counter(), collections.Counter()
    for c in calls:
        count[c["method"]] += c["calls"]
        # served from the request's first byte on until the answer is sent
        time[c["method"]] += c["total"] if kind == 77000060 else sum(c["parts"][p] for p in ("read", "method", "write_result"))
    f.same("calls", f.named(shown.bursts, kind), count)
    f.same("time", f.named(shown.time, kind), time, slack=count)
    if f.views[name].keys:
        f.same("table", f.table(name, kind), time, slack=count)
    if f.views[name].windows[0].draws_arrows:
        k = f.report["links"]["kinds"]
        f.same("arrows", f.views[name].arrows(f.body),
               collections.Counter({18: k["remote call"]["count"], 19: k["remote answer"]["count"]}))


def virtual_threads(f, name):
    shown, v = Shown(f.body, f.views[name]), f.virtual
    f.near("time", shown.total, v["running"] + v["ready"] + v["to_mount"])
    for t in v["threads"]:
        key = next(k for k, which in f.ids.items() if which == (t["pid"], t["java_tid"]))
        f.near(f.body.names[key], sum(shown.of[key].values()), t["running"] + t["ready"] + t["to_mount"])


def pinned(f, name):
    shown = Shown(f.body, f.views[name])
    got = sum(sum(of.values()) for key, of in shown.of.items() if "[virtual " in f.body.names[key])
    f.near("time of virtual threads", got, f.virtual["pinned"])
    f.near("time of their carriers", shown.total - got, f.virtual["pinned"], sum(shown.bursts.values()))


def runs(f, name):
    """Of ftrace: only what the VM's own threads are, each one all the time."""
    shown, want = Shown(f.body, f.views[name]), collections.Counter()
    for t in f.report["threads"]:
        for role, names in prv_said.ROLES.items():
            want[role] += bool(re.match(names, t["name"])) and t["states"]["running"] > 0
    f.same("threads", f.named(shown.bursts, 77000006), want)


def cpu(f, name):
    """By thread, process: the time that ran, or all of it."""
    shown, want = Shown(f.body, f.views[name]), collections.Counter()
    for key, tid in f.tids.items():
        want[{"cpu_state": 1, "cpu_thread": int(key[2]), "cpu_process": int(key[1])}[name]] += f.threads[tid]["states"]["running"]
    f.same("time", shown.time, want, slack=sum(shown.bursts.values()))


def cpu_tid(f, name):
    shown = Shown(f.body, f.views[name])
    want = collections.Counter({tid: t["states"]["running"] for tid, t in f.threads.items()})
    f.same("time", collections.Counter({tid: shown.time[tid] for tid in want}), want)
    cpus = [o for o in f.body.names if f.body.names[o].startswith("CPU ")]
    f.near("time of all", shown.total, sum(e - b for o in cpus for b, e, s, _ in f.body.states[o] if s in (35, 36)))


def wait_kind(f, name):
    shown = Shown(f.body, f.views[name])
    f.same("time", shown.time, collections.Counter({2: f.states["blocked uninterruptibly"], 3: f.states["stopped"]}),
           slack=sum(shown.bursts.values()))


CHECKS = {"thread_state": states, "state_time": of_threads, "wakeups": wakeups, "task_handover": task_handover,
          "parallelism": parallelism, "live_threads": live_threads, "load_balance": load_balance, "wait_time": wait_time,
          "ready_time": ready_time, "behind": behind, "behind_time": behind, "lock_class": lock_class, "lock_time": lock_class,
          "lock_owner": lock_owner, "peers": peers, "peer_time": peers, "methods": methods, "method_time": methods,
          "lock_handover": lock_handover, "lock_handover_count": lock_handover, "lock_handover_time": lock_handover,
          "socket_handover": socket_handover, "socket_handover_count": socket_handover, "connections": connections,
          "remote_calls": remote, "remote_served": remote, "remote_time": remote, "virtual_threads": virtual_threads,
          "pinned": pinned, "runs": runs, "cpu_state": cpu, "cpu_thread": cpu, "cpu_process": cpu, "cpu_tid": cpu_tid,
          "wait_kind": wait_kind}
CHECKS.update({name: by_records for name in BY_RECORDS})


def main():
    global wrong
    f, only = Figures(*sys.argv[1:7]), sys.argv[7:]
    for name in sorted(set(f.views) ^ set(CHECKS)):
        complain("%s: no such view, or no check of it" % name)
    failed, done = [], [n for n in f.views if n in CHECKS and (not only or n in only)]
    for name in done:
        before = wrong
        CHECKS[name](f, name)
        if not any(value for w in f.views[name].windows for _, _, _, value in w.lines(f.body)):
            complain("it shows nothing")
        if wrong > before:
            failed.append(name)
            print("-- the view %s" % name)
    print("%d views show what was recorded, but for %d: %s" % (len(done), len(failed), " ".join(failed)))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("views: %s" % error)
