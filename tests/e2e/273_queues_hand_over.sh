#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Objects that threads hand over by queues: as many links from the one that puts them in to the one that takes them out as
# there were objects, by class of queue and by pair of threads, for as long as they were in it; tasks in a pool's queue are
# none. On every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

check() { # NAME JAVA
	local trace=$TESTDIR/$1
	"${RECORD[@]}" -q --java default,queues -o "$trace" -- "$2" -cp "$CLASSES" QueueRounds 3 100 \
		>"$trace.out" 2>"$trace.err" || { cat "$trace.err"; fail "$1: exit status $?"; }
	"$JIS" report -q --json "$trace" >"$trace.json"
	"$JIS" export paraver -q "$trace" -o "$trace.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$trace.prv" || fail "$1: the Paraver files break a rule"
	python3 - "$trace.out" "$trace.json" "$trace.prv" <<'PY' || fail "$1"
import re, sys, json
report, wrong, pairs = json.load(open(sys.argv[2])), 0, 0
links = report["links"]
classes = {c["class"]: c for c in links["classes"] if c["kind"] == "queue"}
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
of_pair = {}
for line in open(sys.argv[1]):
    if not line.startswith("EXPECT queue"):
        continue
    e = dict(w.split("=") for w in line.split()[2:])
    c = classes.get(e["class"], {"count": 0, "time": 0})
    wait = int(e["wait_ns"])
    print(f"{e['class']}: {c['count']} objects, {c['time'] / 1e6:.1f} ms in it; by the program {wait / 1e6:.1f} ms")
    expect(e["class"], c["count"], int(e["objects"]))
    # What goes to a full queue waits outside of it, too; a thread may lose its CPU before and after.
    if not (0.5 if e["class"].endswith("Array") else 0.95) * wait < c["time"] <= wait:
        wrong += 1
        print("its time is not that")
    for i in range(int(e["pairs"])):
        key = f"maker {i}", f"user {i}"
        of_pair[key] = of_pair.get(key, 0) + int(e["objects"]) // int(e["pairs"])
got = {}
for p in links["pairs"]:
    if p["kind"] == "queue" and p["from"]["name"].startswith("maker"):
        key = p["from"]["name"], p["to"]["name"]
        got[key] = got.get(key, 0) + p["count"]
expect("by pair", got, of_pair)
expect("from or to the pool", [p for p in links["pairs"] if p["kind"] == "queue" and "pool" in p["to"]["name"]], [])
n = sum(1 for line in open(sys.argv[3]) if re.fullmatch(r"3:.*:17\n", line))
expect("communications", n, links["kinds"]["queue"]["count"])
sys.exit(wrong > 0)
PY
}
n=0
while read -r version java; do
	check "jdk$version" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
