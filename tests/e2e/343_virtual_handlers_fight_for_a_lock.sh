#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The JDK's HTTP server with a virtual thread for each request, whose handlers all need one thing: its lock, or its
# monitor, is the first lock of the report, waited for as often and as long as the handlers counted. On 21 waiting for a
# monitor and sleeping with one pin carriers, for just that time; on 25 they do not, and locks never do.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

check() { # VERSION JAVA MODE
	local trace=$TESTDIR/$1-$3
	"${RECORD[@]}" -q --syscalls net,io --stacks 'blocked>1ms' -o "$trace" -- "$2" \
		-Djdk.virtualThreadScheduler.parallelism=8 -cp "$CLASSES:$MARKERS" VirtualHandlers "$3" 6 4 100 \
		>"$trace.out" 2>"$trace.err" || { cat "$trace.err"; fail "$1, $3: exit status $?"; }
	grep '^EXPECT' "$trace.out"
	"$JIS" report -q --json "$trace" >"$trace.json"
	"$JIS" why -q --json --span book "$trace" >"$trace.why"
	python3 - "$1" "$3" "$trace.out" "$trace.json" "$trace.why" <<'PY' || fail "JDK $1, $3"
import json, re, sys
version, mode = int(sys.argv[1]), sys.argv[2]
e = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", re.search(r"^EXPECT.*", open(sys.argv[3]).read(), re.M).group())}
report, why = (json.load(open(f)) for f in sys.argv[4:])
reason, name = {"lock": ("park", "java.util.concurrent.locks.ReentrantLock$NonfairSync"),
                "monitor": ("monitor", "VirtualHandlers$Ledger")}[mode]
wrong = []
def expect(what, got, want, within):
    print(f"{what}: {got / 1e6:.1f} ms, by the program {want / 1e6:.1f} ms")
    if abs(got - want) > within * want:
        wrong.append(what)
lock, place = report["locks"][0], report["places"][0]
print(lock)
if (lock["reason"], lock["class"]) != (reason, name):
    wrong.append("the first lock")
if place["place"] != "VirtualHandlers.enter" or place["reason"] != reason:
    wrong.append(f"the first place: {place}")
# Who lets it go is a virtual thread, not its carrier; from 24 on nothing says who ended the wait for a monitor.
wakers = [w["name"] for w in lock["wakers"]]
if not all(w.startswith("virtual-") for w in wakers) or (not wakers and (version, mode) != (25, "monitor")):
    wrong.append(f"woken by {wakers}")
# The shortest ones the program counts as none.
if lock["count"] < e["waits"]:
    wrong.append(f"{lock['count']} waits instead of {e['waits']}")
expect("waited", lock["work_time"], e["wait_ns"], 0.05)
expect("waited there", place["work_time"], e["wait_ns"], 0.05)
sleeps = [p for p in report["places"] if p["place"] == "VirtualHandlers.use" and p["reason"] == "sleep"]
expect("slept", sum(p["work_time"] for p in sleeps), e["slept_ns"], 0.05)
pinned = lock["pinned"], sum(p["pinned"] for p in sleeps)
print("pinned while it waited and slept:", *pinned)
if version == 21 and mode == "monitor":
    # Off the CPU only: waking up is no waiting, and takes its time on a busy machine.
    if pinned[0] < 0.9 * e["wait_ns"] or pinned[1] < 0.8 * e["slept_ns"]:
        wrong.append("too little is pinned")
elif pinned[0] > 0.02 * e["wait_ns"] or pinned[1] > 0.02 * e["slept_ns"]:
    wrong.append("too much is pinned")
rows = why["all"]["reasons"]
print(why["all"]["answer"])
if (rows[0]["reason"], rows[0]["class"]) != (reason, name):
    wrong.append(f"the first row of the critical path: {rows[0]}")
expect("waited, by the critical path",
       sum(r["time"] for r in rows if (r.get("reason"), r.get("class")) == (reason, name)), e["wait_ns"], 0.05)
print(*wrong, sep="\n")
sys.exit(bool(wrong))
PY
}

n=0
while read -r version java; do
	check "$version" "$java" lock
	check "$version" "$java" monitor
	n=$((n + 1))
done < <(jdks 21)
[ $n -gt 0 ] || skip "no JDK with virtual threads"
