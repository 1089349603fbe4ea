# SPDX-License-Identifier: MIT
"""Calls of a made trace, worked out anew from babeltrace2's events, against what jis says of them.

calls.py TRACE JIS: each thread's states from its switches and wake-ups, each call's share of them, and from that
the figures of jis stats (by method and by pair), and every line of jis dump --calls.
"""
import collections
import csv
import math
import re
import subprocess
import sys

import ctf

BEGIN = 1 << 20  # ticks of the session's begin; three are a nanosecond
UNWOUND = 0x80000000
PARTS = ("cpu", "ready", "blocked", "unknown")


class Thread:
    def __init__(self):
        self.state = "unknown"
        self.since = 0
        self.calls = []  # [method, begin, {part: own}, {part: in the calls in it}]


def ns(ticks):
    return (ticks - BEGIN) / 3


def spend(thread, now):
    if thread.calls:
        thread.calls[-1][2][thread.state] += now - thread.since
    thread.since = now


def become(thread, state, now):
    spend(thread, now)
    thread.state = state


def events(trace):
    """As ctf.events(), with whose the packet is."""
    for line in ctf.lines(trace):
        ticks, name, rest = ctf.LINE.match(line).groups()
        owner = re.search(r"vtid = (\d+)", rest)
        yield int(ticks), name, ctf.parse_fields(rest[rest.rindex("{"):]), int(owner.group(1)) if owner else 0


def replay(trace):
    threads = collections.defaultdict(Thread)
    done = []
    for ticks, name, f, owner in events(trace):
        now = ns(ticks)
        if name == "thread_state":
            become(threads[f["tid"]], "blocked", now)
        elif name == "sched_switch":
            if f["prev_tid"]:
                become(threads[f["prev_tid"]], "blocked" if f["prev_state"] & 0xff else "ready", now)
            if f["next_tid"]:
                become(threads[f["next_tid"]], "cpu", now)
        elif name == "sched_wakeup":
            become(threads[f["tid"]], "ready", now)
        elif name in ("method_enter", "method_exit"):
            thread = threads[owner]
            spend(thread, now)
            method = f["method"] & ~UNWOUND
            if name == "method_enter":
                thread.calls.append([method, now, collections.Counter(), collections.Counter()])
                continue
            called, begin, own, inner = thread.calls.pop()
            assert called == method, "the trace itself is wrong"
            whole = own + inner
            outer = [c[0] for c in thread.calls]
            if outer:
                thread.calls[-1][3].update(whole)
            done.append((begin, now, method, len(outer) + 1, outer, whole, own, f["method"] & UNWOUND))
    assert not any(t.calls for t in threads.values())
    return done


def text(method):
    return "com.acme.Class%d.method%d" % (method // 8, method) if method else "-"


failures = []


def expect(what, got, want, slack):
    if abs(got - want) > slack:
        failures.append("%s: %s, should be %s" % (what, got, want))


def check_line(key, row, calls, recursive):
    """calls: of the line; recursive(call): inside of another of the line. Times are rounded at each boundary."""
    n = len(calls)
    expect("%s: calls" % (key,), int(row["calls"]), n, 0)
    expect("%s: thrown" % (key,), int(row["thrown"]), sum(1 for c in calls if c[7]), 0)
    slack = 8 * n + 16
    outermost = [c for c in calls if not recursive(c)]
    expect("%s: total" % (key,), int(row["total"]), sum(c[1] - c[0] for c in outermost), slack)
    expect("%s: own" % (key,), int(row["own"]), sum(sum(c[6].values()) for c in calls), slack)
    for part in PARTS:
        # A state that begins or ends inside of a call is rounded, too.
        expect("%s: %s" % (key, part), int(row[part]), sum(c[5][part] for c in outermost), slack)
        expect("%s: own %s" % (key, part), int(row["own_" + part]), sum(c[6][part] for c in calls), slack)
    times = sorted(c[1] - c[0] for c in calls)
    mean = sum(times) / n
    expect("%s: min" % (key,), int(row["min"]), times[0], 2)
    expect("%s: max" % (key,), int(row["max"]), times[-1], 2)
    expect("%s: mean" % (key,), int(row["mean"]), mean, 2)
    expect("%s: sd" % (key,), int(row["sd"]), math.sqrt(sum((t - mean) ** 2 for t in times) / n), 3 + mean / 1e6)
    for share, field in ((0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p999")):
        want = times[max(0, math.ceil(share * n - 1e-9) - 1)]
        expect("%s: %s" % (key, field), int(row[field]), want, 2 + want / 60)


def stats(jis, trace, by):
    out = subprocess.run([jis, "stats", "-q", "--csv", "--by", by, trace], stdout=subprocess.PIPE, check=True)
    return list(csv.DictReader(out.stdout.decode().splitlines()))


def main(trace, jis):
    done = replay(trace)
    by_method, by_pair = collections.defaultdict(list), collections.defaultdict(list)
    for call in done:
        by_method[text(call[2])].append(call)
        by_pair[text(call[4][-1] if call[4] else 0), text(call[2])].append(call)

    rows = stats(jis, trace, "method")
    expect("lines by method", len(rows), len(by_method), 0)
    for row in rows:
        check_line(row["method"], row, by_method[row["method"]], lambda c: c[2] in c[4])

    rows = stats(jis, trace, "pair")
    expect("lines by pair", len(rows), len(by_pair), 0)

    def pair_recursive(call):
        path = [0] + call[4] + [call[2]]
        return (path[-2], path[-1]) in list(zip(path, path[1:]))[:-1]
    for row in rows:
        key = row["caller"], row["method"]
        check_line(key, row, by_pair[key], pair_recursive)

    # Each context is told once, and they hold all calls.
    rows = stats(jis, trace, "context")
    paths = collections.Counter(" > ".join(text(m) for m in c[4] + [c[2]]) for c in done)
    expect("contexts", len(rows), len(paths), 0)
    for row in rows:
        expect("calls of %s" % row["context"], int(row["calls"]), paths[row["context"]], 0)

    # For every call the parts add up to its wall time, to the nanosecond.
    out = subprocess.run([jis, "dump", "-q", "--calls", trace], stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = out.splitlines()
    expect("lines of jis dump --calls", len(lines), len(done), 0)
    for line in lines:
        f = {k: int(v) for k, v in re.findall(r"(\w+) = (\d+)", line)}
        parts = [f[p] for p in ("cpu", "ready", "blocked", "carrying", "unknown")]
        if sum(parts) != f["wall"]:
            failures.append("does not add up: " + line)
    for what in failures[:20]:
        print(what)
    print("%d calls, %d methods, %d pairs, %d contexts: %d differences"
          % (len(done), len(by_method), len(by_pair), len(paths), len(failures)))
    return 1 if failures or not done else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
