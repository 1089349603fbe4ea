#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tree of a chain of JVMs that call each other: what serves a call is in the call that has its number, by what the program
# says at both ends; callbacks, exceptions, a server that dies; traced methods where they are made, threads in the call that
# started them. The file's links hold together by a reader that shares no code with the writer; what the tool prints of it is
# what is in it. With and without traced methods, TLS, virtual threads; on every JDK that is here.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

check() { # NAME JAVA RECORD-OPTIONS SOCKETS HOPS THREADS CALLS MORE...
	local name=$1 java=$2
	read -ra options <<<"$3"
	shift 3
	"${RECORD[@]}" -q "${options[@]}" -o "$TESTDIR/$name" -- "$java" -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 \
		-Djdk.lang.Process.launchMechanism=VFORK -Dsockets="$TESTDIR" -cp "$CLASSES:$MARKERS" RemoteCalls "$@" \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	"$JIS" dump -q "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	"$JIS" tree -q -o "$TESTDIR/$name" --profiles "$TESTDIR/$name" >"$TESTDIR/$name.said" || fail "$name: jis tree"
	[ ! -s "$TESTDIR/$name.said" ] || fail "$name: a tree that is kept is printed"
	echo -n "$name: "
	python3 "$CHECKERS/tree_calls.py" "$TESTDIR/$name.jta" "$TESTDIR/$name.dump" || fail "$name: the tree"
	"$JIS" tree -q --json --internal "$TESTDIR/$name.jta" >"$TESTDIR/$name.all"
	"$JIS" tree -q --json --internal --order begin "$TESTDIR/$name.jta" >"$TESTDIR/$name.begins"
	"$JIS" tree -q --json --find Chain.call "$TESTDIR/$name.jta" >"$TESTDIR/$name.found"
	"$JIS" tree -q --json --find Chain.call --breadth "$TESTDIR/$name.jta" >"$TESTDIR/$name.broad"
	"$JIS" rmi -q --json --internal "$TESTDIR/$name" >"$TESTDIR/$name.rmi"
	python3 - "$TESTDIR/$name" "$CHECKERS" <<'PY' || fail "$name"
import json, subprocess, os, sys
sys.path.insert(0, sys.argv[2])
from jta_file import INTERNAL, JVM, METHOD, REMOTE, ROOT, SERVED, UNMATCHED, Tree
base, wrong = sys.argv[1], 0
tree = Tree(base + ".jta")
said = next(line for line in open(base + ".out") if line.startswith("CALLS "))
said = {k: int(v) for k, v in (w.split("=") for w in said.split()[1:])}
def lines(suffix):
    return [json.loads(line) for line in open(base + suffix)]
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
records = tree.records[1:]
def named(r, text):
    return text in tree.method[r.method]
calls = [r for r in records if r.kind == REMOTE and (named(r, "Chain.call") or named(r, "Back.back"))]
expect("calls and callbacks", len(calls), said["returned"])
for r in calls:
    expect(f"{r.number}: served by", [(c.kind, tree.method[c.method]) for c in r.children if c.kind == SERVED],
           [(SERVED, tree.method[r.method])])
rmi = json.load(open(base + ".rmi"))
expect("remote calls", sum(r.kind == REMOTE for r in records), rmi["calls"])
expect("linked", sum(r.kind == SERVED and not r.flags & UNMATCHED for r in records),
       rmi["matches"]["UID"] + rmi["matches"]["connection"])
expect("the JDK's own", sum(r.kind == REMOTE and bool(r.flags & INTERNAL) for r in records), rmi["internal"])
# What is printed: each record once, below its own parent, in the order of ends or begins.
for suffix, key in (".all", None), (".begins", lambda c: (c.begin, c.number)):
    want = []
    def walk(r, depth):
        want.append((r.number, tree.parent(r), depth, r.begin, r.end))
        for c in sorted(r.children, key=key) if key else r.children:
            walk(c, depth + 1)
    sys.setrecursionlimit(100000)
    walk(tree.records[tree.root], 0)
    expect(suffix, [(o["number"], o["parent"], o["depth"], o["begin"], o["end"]) for o in lines(suffix)] == want, True)
found = {r.number for r in records if named(r, "Chain.call") and not r.flags & INTERNAL}
expect("found", {o["number"] for o in lines(".found")}, found)
expect("found level by level", {o["number"] for o in lines(".broad")}, found)
def depth(n):
    return len(path(n))
def path(n):
    out = []
    while n:
        out.append(n)
        n = tree.parent(tree.records[n])
    return out
broad = [depth(o["number"]) for o in lines(".broad")]
expect("levels in order", broad, sorted(broad))
deepest = max(found, key=depth)
out = subprocess.run([os.environ["JIS"], "tree", "-q", "--json", "--path", str(deepest), base + ".jta"],
                     capture_output=True, text=True, check=True).stdout
expect("the path", [json.loads(line)["number"] for line in out.splitlines()], path(deepest)[::-1])
# What a thread did: each of its calls once, those too that it served.
of_thread = {}
for r in records:
    if r.thread and tree.thread[r.thread][1]:
        of_thread.setdefault(tree.thread[r.thread][1], []).append(r)
serving = [tid for tid, of in of_thread.items() if any(r.kind == SERVED for r in of)]
calling = [tid for tid, of in of_thread.items() if any(r.kind == REMOTE for r in of)]
for tid in serving[:3] + calling[:2]:
    out = subprocess.run([os.environ["JIS"], "tree", "-q", "--json", "--internal", "--thread", str(tid), base + ".jta"],
                         capture_output=True, text=True, check=True).stdout
    numbers = [json.loads(line)["number"] for line in out.splitlines()]
    expect(f"calls of thread {tid} and in them, once", len(numbers), len(set(numbers)))
    expect(f"calls of thread {tid}", {r.number for r in of_thread[tid]} <= set(numbers), True)
expect("threads that serve", len(serving) > 0, True)
# Statistics, from the records.
stats = {}
for line in open(base + ".stt"):
    if not line.startswith("#"):
        f = line.rstrip("\n").split("\t")
        stats[int(f[0]), f[1], f[9]] = [int(x) for x in f[2:9]]
kinds = {METHOD: "method", REMOTE: "remote", SERVED: "served"}
sums = {}
for r in records:
    if r.kind in kinds:
        sums.setdefault((r.jvm, kinds[r.kind], tree.method[r.method]), []).append(None if r.flags & 1 else r.end - r.begin)
expect("lines of statistics", sorted(stats), sorted(sums))
for key, times in sums.items():
    whole = [t for t in times if t is not None]
    mean = sum(whole) / len(whole) if whole else 0
    deviation = (sum((t - mean) ** 2 for t in whole) / len(whole)) ** .5 if whole else 0
    got, want = stats.get(key), [len(times), len(times) - len(whole), sum(whole), min(whole, default=0),
                                 max(whole, default=0), mean, deviation]
    expect(f"statistics of {key}", got and (got[:5] == want[:5] and all(abs(a - b) <= 1 + 1e-9 * b for a, b in zip(got[5:], want[5:]))), True)
# The profiles of each JVM: entries and exits, both ends of calls with one UID, and links.
def profile(suffix):
    return {jvm: [line.rstrip("\n").split("\t") for line in open(f"{base}.{name}-{pid}.{suffix}") if line[0] != "#"]
            for jvm, (pid, name) in tree.jvm.items() if os.path.exists(f"{base}.{name}-{pid}.{suffix}")}
prf, clp, svp, mrg = (profile(s) for s in ("prf", "clp", "svp", "mrg"))
for jvm in tree.jvm:
    own = [r for r in records if r.jvm == jvm]
    made, served = ([r for r in own if r.kind == k] for k in (REMOTE, SERVED))
    begun = sorted((r.begin, r.thread, r.method) for r in own if r.kind == METHOD)
    ended = sorted((r.end, r.thread, r.method) for r in own if r.kind == METHOD)
    lines_of = prf.get(jvm, [])
    expect("entries", sorted(tuple(map(int, l[1:])) for l in lines_of if l[0] == "S"), begun)
    expect("exits", sorted(tuple(map(int, l[1:])) for l in lines_of if l[0] in "EX"), ended)
    for what, file, of in ("calls made", clp, made), ("calls served", svp, served):
        expect(what, sorted((int(l[0]), int(l[1]), int(l[2]), int(l[5])) for l in file.get(jvm, [])),
               sorted((r.begin, r.end, r.thread, r.method) for r in of))
    expect("links", sorted((l[0], int(l[1]), int(l[2])) for l in mrg.get(jvm, []) if l[0] in "CV"),
           sorted([("C", r.begin, r.thread) for r in made if any(c.kind == SERVED for c in r.children)] +
                  [("V", r.begin, r.thread) for r in served if not r.flags & UNMATCHED]))
    expect("entries and exits in .mrg", [l for l in mrg.get(jvm, []) if l[0] in "SEX"], lines_of)
ends = [{(l[7], l[6]) for ls in f.values() for l in ls if l[7] != "-"} for f in (clp, svp)]
expect("UIDs with the client's port, at both ends", len(ends[0] & ends[1]), rmi["matches"]["UID"])
sys.exit(wrong > 0)
PY
}
n=0
while read -r version java; do
	home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	[ -e "$home/conf/security/java.security" ] || { echo "jdk$version: no security settings"; continue; }
	check "jdk$version-plain" "$java" "" tcp 3 4 50 back broken
	check "jdk$version-methods" "$java" "--methods RemoteCalls*.*" tcp 3 4 50 back
	[ "$version" -lt 21 ] || check "jdk$version-virtual" "$java" "--methods RemoteCalls*.*" tcp 2 20 20 back virtual
	n=$((n + 1)) last=$TESTDIR/jdk$version-plain.jta
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

# What cannot be shown is said, with the remedy.
"$JIS" tree -q --open 999999999 "$last" >"$TESTDIR/out" 2>"$TESTDIR/err" && fail "a record that is not there"
grep -q 'there are records 1 to ' "$TESTDIR/err" || { cat "$TESTDIR/err"; fail "the message"; }
echo nothing >"$TESTDIR/no.jta"
"$JIS" tree -q "$TESTDIR/no.jta" 2>"$TESTDIR/err" && fail "a file that is no tree"
grep -q 'jis tree -o PREFIX DIR makes one' "$TESTDIR/err" || { cat "$TESTDIR/err"; fail "the message"; }
