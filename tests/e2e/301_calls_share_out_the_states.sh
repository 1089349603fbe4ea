#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What jis says of calls is what comes out when it is worked out anew from the events: their numbers, durations and
# percentiles, and how much of each call its thread ran, was ready and was blocked. On a made trace, whose every event
# is there; and on a program's own, in which for each call all that adds up and each call it counted is there.
. "$(dirname "$0")/lib.sh"

"$BUILD/tests/bench/gentrace" --out "$TESTDIR/made" --kernel-streams 4 --user-streams 4 --methods 130 --calls 20000 \
	>/dev/null || fail "no trace was made"
python3 "$CHECKERS/calls.py" "$TESTDIR/made" "$JIS" || fail "the figures are not those of the trace"

# Each format has the same figures, and each export the same time.
"$JIS" stats -q --json "$TESTDIR/made" >"$TESTDIR/json"
"$JIS" stats -q --csv "$TESTDIR/made" >"$TESTDIR/csv"
python3 - "$TESTDIR/json" "$TESTDIR/csv" <<'END' || fail "JSON and CSV differ"
import csv, json, sys
a, b = json.load(open(sys.argv[1]))["lines"], list(csv.DictReader(open(sys.argv[2])))
assert len(a) == len(b) > 100
for x, y in zip(a, b):
    for k, v in y.items():
        assert str(x["by_reason"].get(k, x["own_by_reason"].get(k.removeprefix("own "), x.get(k, 0)))) == v, (k, v, x)
END
own() { python3 -c 'import csv, sys; print(sum(int(r[sys.argv[1]]) for r in csv.DictReader(sys.stdin)))' "$1" <"$TESTDIR/csv"; }
collapsed() { "$JIS" export collapsed -q --calls "$@" "$TESTDIR/made" | awk '{ s += $NF } END { printf "%d\n", s }'; }
[ "$(collapsed wall)" = "$(own own)" ] || fail "collapsed stacks hold another wall time"
[ "$(collapsed cpu --by-reason)" = "$(own own_cpu)" ] || fail "collapsed stacks hold another CPU time"
[ "$(collapsed off-cpu)" = $(($(own own_ready) + $(own own_blocked))) ] || fail "... another time off the CPU"

# In Paraver each call begins once and ends once.
"$JIS" export paraver -q "$TESTDIR/made" -o "$TESTDIR/made.prv" || fail "no export"
grep -o ':60000019:[0-9]*$' "$TESTDIR/made.prv" | awk -F: '$3 { b++ } !$3 { e++ } END { exit b != 20000 || e != 20000 }' ||
	fail "not each call is in the .prv file"
grep -q '^8 com.acme.Class1.method8$' "$TESTDIR/made.pcf" || fail "a method has no name in the .pcf file"

expect_status 2 "$JIS" stats --by colour "$TESTDIR/made"
expect_says "none of method, pair, context, thread"
expect_status 2 "$JIS" stats --sort colour "$TESTDIR/made"
expect_says "no field"
expect_status 2 "$JIS" export collapsed --calls later "$TESTDIR/made"
expect_status 2 "$JIS" export collapsed "$TESTDIR/made"

[ "$(id -u)" = 0 ] || exit 0
"${RECORD[@]}" -q --pool 64M --methods-budget 0 --methods 'Calls*,!Calls$Own,!CallsTold,!**.overflow' \
	-o "$TESTDIR/real" -- java -cp "$CLASSES" CallsTold 20 3 platform >"$TESTDIR/real.out" || fail "not recorded"
"$JIS" dump -q --calls "$TESTDIR/real" >"$TESTDIR/real.calls"
"$JIS" stats -q --csv "$TESTDIR/real" >"$TESTDIR/real.csv"
python3 - "$TESTDIR/real.out" "$TESTDIR/real.calls" "$TESTDIR/real.csv" <<'END' || fail "the program's calls are others"
import collections, csv, re, sys
told, seen = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    if line.startswith("CALLS "):
        _, cls, name, _, n = line.split()
        told[cls + "." + name] += int(n)
overloaded = set()
for row in csv.DictReader(open(sys.argv[3])):
    method = row["method"].split("(")[0]
    seen[method] += int(row["calls"])
    if "(" in row["method"]:
        overloaded.add(method)
for method in told:
    # The compiler's bridges have the name of what they call, and are not counted by the program.
    assert seen[method] == told[method] or method in overloaded and seen[method] > told[method], \
        (method, seen[method], told[method])
assert len(overloaded) < len(told) / 2
calls = open(sys.argv[2]).read().splitlines()
assert len(calls) == sum(seen.values()) >= sum(told.values()) > 10000
for line in calls:
    f = {k: int(v) for k, v in re.findall(r"(\w+) = (\d+)", line)}
    assert sum(f[p] for p in ("cpu", "ready", "blocked", "carrying", "unknown")) == f["wall"], line
    blocked = sum(int(n) for n in re.findall(r" (\d+)\]", line))
    assert blocked == f["ready"] + f["blocked"] or "[" not in line.split("}")[1], line
print(len(calls), "calls")
END
