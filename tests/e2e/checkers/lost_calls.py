#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the calls of a trace of which packets were taken away to those of the whole one.

Usage: lost_calls.py WHOLE DAMAGED STREAM JIS. Of the thread that writes to STREAM each call whose two records are
still there must be told as before, with the mark "gap" if records in between are not; one without its exit as repaired,
no longer than it may have been; one without its entry as entry-not-seen, from the gap on or, in no call when records were
gone, from an earlier one on; one without both not at all.
The one's entry and a later one's exit may be taken for a call, if that has the mark "gap". Nothing else may be told, and
of other threads nothing may have changed. The figures count what is told, and as parts those of which a part is not known.
"""
import bisect
import collections
import csv
import re
import subprocess
import sys

CALL = re.compile(r'^(\S+) (\S+) (".*" \[\d+\]) #\d+ in #\d+ depth (\d+) (.+?) \{ wall = (\d+), .*?\}(.*)$')
RECORD = re.compile(r'^(\d+)\.(\d{9}) \S+ (method_\w+|\S+) ')
MARKS = {"entry-not-seen", "goes-on", "cut", "repaired", "gap", "unwound", "doubtful", "started"}
WHOLE = {"unwound", "doubtful", "started"}  # of the marks those of calls whose time is known

whole, damaged, stream, jis = sys.argv[1:]
bad = []


def run(*args):
    p = subprocess.run([jis, "dump", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert p.returncode == 0, (args, p.returncode)
    return p.stdout.splitlines()


def ns(text):
    s, f = text.split(".")
    return int(s) * 10**9 + int(f)


def calls(trace):
    for line in run("--calls", trace):
        m = CALL.match(line)
        assert m, line
        marks = {w for w in re.sub(r"\[[^]]*\]", "", m[7]).split() if w in MARKS}
        yield m[3], ns(m[1]), ns(m[2]), m[5], frozenset(marks)


def times(trace):
    return [ns(".".join(m.group(1, 2))) for m in map(RECORD.match, run("--stream", stream, trace)) if m]


# Where records are gone: between which two that are left, told by those of the whole stream.
left = times(damaged)
gone = sorted((collections.Counter(times(whole)) - collections.Counter(left)).elements())
gaps = []
for t in gone:
    at = bisect.bisect_left(left, t)
    gap = left[at - 1], left[at] if at < len(left) else float("inf")
    if not gaps or gaps[-1] != gap:
        gaps.append(gap)
print(f"{len(gone)} records gone, in {len(gaps)} gaps: {gaps}")
assert gone and gaps


def gap_of(t):
    """The gap that the record at t was in, or None."""
    return next((g for g in gaps if g[0] < t < g[1]), None)


def of_threads(told):
    threads = collections.defaultdict(list)
    for thread, *call in told:
        threads[thread].append(tuple(call))
    return threads


before, after = of_threads(calls(whole)), of_threads(calls(damaged))
assert set(before) == set(after), set(before) ^ set(after)
hit = [t for t in before if sorted(before[t]) != sorted(after[t])]
print("threads whose calls changed:", hit)
assert len(hit) == 1, "records of one thread are gone"
now = collections.Counter(after[hit[0]])
kinds = collections.Counter()


def take(kind, call, fits):
    """One of the calls that are told, which fits."""
    kinds[kind] += 1
    found = next((c for c in by_method[call[2]] if now[c] and fits(c)), None)
    if not found:
        bad.append((kind, call))
    else:
        now[found] -= 1


by_method = collections.defaultdict(list)
for told in now:
    by_method[told[2]].append(told)
entry_gone, exit_gone = [], []
for call in before[hit[0]]:
    begin, end, method, marks = call
    first, last = gap_of(begin), gap_of(end)
    # The exit of a constructor whose super() threw is not recorded: what came next ended it.
    if first and (last or "repaired" in marks):
        kinds["both gone"] += 1
    elif first:
        entry_gone.append((call, first))
    elif last:
        exit_gone.append((call, last))
    else:
        want = marks - {"doubtful"}
        if any(begin <= g[0] and end >= g[1] for g in gaps):
            want |= {"gap"}
        take("both there", call, lambda c: c[:2] == (begin, end) and c[3] - {"doubtful"} == want)
for lost in list(exit_gone):
    for later in entry_gone:
        merged = lost[0][0], later[0][1], lost[0][2]
        if lost[0][2] == later[0][2] and any(now[c] and c[:3] == merged and "gap" in c[3] for c in by_method[merged[2]]):
            take("of two one", merged, lambda c: c[:3] == merged and "gap" in c[3])
            exit_gone.remove(lost)
            entry_gone.remove(later)
            break
for call, gap in exit_gone:
    take("exit gone", call, lambda c: c[0] == call[0] and call[0] <= c[1] <= gap[1] and "repaired" in c[3])
for call, _ in entry_gone:
    take("entry gone", call, lambda c: c[1] == call[1] and any(g[0] <= c[0] <= min(g[1], call[0]) for g in gaps) and "entry-not-seen" in c[3])
print(dict(kinds))
assert kinds["both there"] > 1000 and kinds["both gone"] > 100, kinds
told = [marks for calls_of in after.values() for *_, marks in calls_of]
rows = list(csv.DictReader(subprocess.run([jis, "stats", "-q", "--csv", damaged], stdout=subprocess.PIPE, text=True,
                                          stderr=subprocess.DEVNULL, check=True).stdout.splitlines()))
figures = [sum(int(r[what]) for r in rows) for what in ("calls", "parts")]
counted = [len(told), sum(bool(marks - WHOLE) for marks in told)]
if figures != counted:
    bad.append(("calls and parts by the figures and as told", figures, counted))
left_over = +now
if left_over:
    bad.append(("told, and was not", list(left_over)[:5]))
if bad:
    print(*bad[:20], sep="\n")
    sys.exit(f"{len(bad)} wrong")
