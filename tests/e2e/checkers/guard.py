#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what the guard did to MethodsRates against what the program says and the JVM's own log of what it redefined.

Usage: guard.py NAME OUT. NAME.safepoints, NAME.redefined: the JVM's logs of safepoints and of classes redefined, with
decorator timenanos; NAME.dump: of jis dump, of the dictionary, the recorder, and where safepoints begin; NAME.enters:
of calls after the last decision; NAME.info, NAME.csv: of jis info --json and stats --csv; NAME/methods.off; OUT: what
the program printed.
"""
import csv
import json
import re
import sys

from safepoints import LATE, mapping, read_dump, read_log

WINDOW = 2_000_000_000
DECISIONS = 5
SLACK = 1_000_000  # between the two clocks, and between a record and what it is of
GUARD = 3
P = "MethodsRates$"
RECORD = re.compile(r"^(\d+)\.(\d{9}) \S+ (\w+) \{ (.*) \}$")
REDEFINED = re.compile(r"^\[(\d+)ns\] ?redefined name=(\S+), count=(\d+) ")


def records(path):
    """What the guard switched off, as (time, method, fields), its changes, as (time, fields); when tracing began."""
    off, changed, begin = [], [], None
    for line in open(path):
        m = RECORD.match(line)
        if not m or m[3] not in ("method_off", "methods_changed"):
            continue
        time = int(m[1] + m[2])
        fields = {k: int(v) for k, v in re.findall(r"(\w+) = (\d+)", m[4])}
        if m[3] == "method_off":
            assert fields["asked"] == GUARD, line
            off.append((time, re.search(r"\((.*)\)", m[4])[1], fields))
        elif fields["asked"] == GUARD:
            changed.append((time, fields))
        else:
            assert begin is None, "changed by somebody else"
            begin = time
    return off, changed, begin


def class_of(method):
    return method.rsplit(".", 1)[0]


def decisions(off, changed):
    """Each change with the methods told before it."""
    out, off = [], sorted(off)
    for time, fields in changed:
        out.append((time, fields, [name for t, name, _ in off if t <= time]))
        off = [o for o in off if o[0] > time]
    assert not off, off
    return out


def check_log(steps, begin, stem):
    """The JVM stopped once for each decision, within the pause told, and redefined its classes once, all at once."""
    names, syncs, events, _ = read_dump(stem + ".dump", None)
    with open(stem + ".info") as f:
        to_trace = mapping(json.load(f), syncs)
    stops = [tuple(map(to_trace, s[1:])) for s in read_log(stem + ".safepoints") if s[0] == "RedefineClasses"]
    done = [(to_trace(int(m[1])), m[2], int(m[3])) for m in map(REDEFINED.match, open(stem + ".redefined")) if m]
    done = [d for d in done if d[1].startswith(P)]
    told = [t for t, kind, e in events if kind == "begin" and names.get(e["operation"]) == "RedefineClasses"]
    before, times = begin, {}
    for time, fields, methods in steps:
        inside = [s for s in stops if s[2] > time - fields["pause"] - SLACK and s[0] < time + SLACK]
        assert len(inside) == 1, (time, fields, stops)
        start, _, end = inside[0]
        assert start > time - fields["pause"] - SLACK and end < time + SLACK, (time, fields, inside)
        assert 0 < end - start < fields["pause"] + SLACK, (inside, fields)
        assert any(abs(t - start) < LATE for t in told), (start, told)
        here = [d for d in done if start - SLACK < d[0] < end + SLACK]
        assert sorted(d[1] for d in here) == sorted({class_of(m) for m in methods}), (here, methods)
        for _, name, count in here:
            times[name] = times.get(name, 0) + 1
            assert count == times[name], (here, times)
        # It has decided a bit before the JVM does it, and may have been quicker the second time.
        assert start - before > WINDOW - WINDOW / 4, (before, start)
        before = start
        print(f"{(end - start) / 1e6:.3f} ms of {fields['pause'] / 1e6:.3f} ms are the JVM's stop, for",
              ", ".join(sorted(d[1] for d in here)))
    # and none at any other time: what is off stays off
    assert len(done) == sum(times.values()), (done, times)


def main():
    stem, out = sys.argv[1:]
    made = {w[1]: int(w[2]) for w in map(str.split, open(out)) if w and w[0] == "CALLS"}
    seen = {re.sub(r"\(.*", "", r["method"]): int(r["calls"]) for r in csv.DictReader(open(stem + ".csv"))}
    off, changed, begin = records(stem + ".dump")
    rules = dict(re.match(r"!(.*)\(.* calls in (\d+) ms", line).groups() for line in open(stem + "/methods.off"))
    steps = decisions(off, changed)
    print(seen, made, rules)
    first = {P + n for n in ("A.a", "B.b", "A.c")}
    later = sorted(n for n in made if ".h" in n)
    # Where calls were slower than what they are said to cost, the rest goes two seconds later; each later one at its time.
    assert 1 + min(len(later), DECISIONS - 1) <= len(steps) <= DECISIONS, steps
    assert first.union(*[s[2] for s in steps]) == first.union(later[:len(steps) - 1]), steps
    gone = [m for s in steps for m in s[2]]
    assert len(gone) == len(set(gone)) and set(gone) == set(rules) >= first, (gone, rules)
    assert min(int(ms) for ms in rules.values()) >= 2000
    assert all(f["window"] >= WINDOW for _, _, f in off)
    for _, fields, methods in steps:
        want = {"enabled": 0, "disabled": len(methods), "classes": len({class_of(m) for m in methods})}
        assert all(fields[k] == v for k, v in want.items()), (fields, methods)
    for name, calls in made.items():
        assert 0 < seen[name] < calls if name in gone else seen[name] == calls, (name, seen[name], calls)
    on = {re.search(r"\((.*)\) \}$", line)[1] for line in open(stem + ".enters")}
    assert on and not on & set(gone), on
    # those of one request were switched off at once
    if first <= set(steps[0][2]):
        assert max(seen[n] for n in first) - min(seen[n] for n in first) < 6000
    check_log(steps, begin, stem)


if __name__ == "__main__":
    main()
