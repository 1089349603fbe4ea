#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A monitor, a lock, a notification and a condition that a program hands from one thread to another a known number of
# times are so many hand-overs, by class and by pair of threads, in the report and in Paraver. From the start
# and attached, on every JDK that is here; and where stops of the JVM come into it all the time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
ROUNDS=${ROUNDS:-12}
read -ra OPTIONS <<<"${JVM_OPTIONS:-} $OPENS"
RECORDING=("${RECORD[@]}" -q)
check() { # NAME JAVA HOW [OPTION...]
	$3 "$1" "$2" "${OPTIONS[@]}" "${@:4}" -cp "$CLASSES" LockHandOver "$ROUNDS"
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	python3 - "$TESTDIR/$1.json" "$TESTDIR/$1.prv" "$ROUNDS" <<'PY' || fail "$1"
import collections, json, sys
links, n, wrong = json.load(open(sys.argv[1]))["links"], int(sys.argv[3]), 0
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
juc = "java.util.concurrent.locks."
want = {("monitor", "LockHandOver$Shared"): n, ("lock", juc + "ReentrantLock$NonfairSync"): n,
        ("notify", "LockHandOver$Bell"): n, ("unpark", juc + "AbstractQueuedSynchronizer$ConditionObject"): n}
classes = {(c["kind"], c["class"]): c["count"] for c in links["classes"]}
for key, count in want.items():
    expect("%s of %s" % key, classes.get(key), count)
for kind in "monitor", "lock":
    pairs = {(p["from"]["name"], p["to"]["name"]): p["count"] for p in links["pairs"] if p["kind"] == kind}
    # They may hand over what the JDK locks, too, such as the lock under which a class is initialised.
    spare = sum(count for (k, name), count in classes.items() if k == kind and (k, name) not in want)
    both = pairs.get(("giver", "taker"), 0), pairs.get(("taker", "giver"), 0)
    expect(f"{kind} from giver to taker", min(both[0], n), n)
    expect(f"{kind} beyond those, of {spare} of the JDK's", sum(both) - n <= spare, True)
base = sys.argv[2][:-4]
labels, types, inside = {}, [], False
for line in open(base + ".pcf"):
    if line.startswith("EVENT_TYPE"):
        types, inside = [], False
    elif line.startswith("VALUES"):
        inside = "77000020" in types
    elif inside and line.strip():
        labels[int(line.split()[0])] = line.split(None, 1)[1].strip()
    elif not inside and line.startswith("0 "):
        types.append(line.split()[1])
bursts, tags, longest = collections.Counter(), collections.Counter(), 0
begun = {}
for line in open(sys.argv[2]):
    f = line.strip().split(":")
    if f[0] == "3":
        tags[int(f[14])] += 1
    elif f[0] == "2" and f[6] == "77000020":
        row = tuple(f[2:5])
        if f[7] != "0":
            bursts[labels[int(f[7])]] += 1
            begun[row] = int(f[5])
        else:
            longest = max(longest, int(f[5]) - begun.pop(row))
kinds = links["kinds"]
for tag, kind in (11, "monitor"), (12, "lock"), (13, "notify"), (14, "unpark"):
    expect(f"arrows, {kind}", tags[tag], kinds[kind]["count"])
for (kind, name), count in want.items():
    expect(f"bursts of {name}", bursts[name], count)
expect("hand-overs under way", begun, {})
print(f"{sum(bursts.values())} hand-overs, the longest {longest / 1e6:.3f} ms, {wrong} wrong")
sys.exit(wrong > 0)
PY
}
n=0
while read -r version java; do
	for how in $HOWS; do
		check "jdk$version-$how" "$java" "$how"
	done
	check "jdk$version-stops" "$java" started -Dstops=true -Xmx32m -XX:+UseSerialGC
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
