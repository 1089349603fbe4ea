#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Connections that virtual threads serve are theirs, by name, whatever carries them: each has the requests the
# program made, is used by one thread, and is handed to it by another. From the start and attached.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

RECORDING=("${RECORD[@]}" -q --syscalls "net,io")
check() { # NAME JAVA HOW
	$3 "$1" "$2" -cp "$CLASSES" VirtualServer 12 6
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	python3 - "$TESTDIR/$1.json" 12 6 <<'PY' || fail "$1"
import json, sys
report, n, each, wrong = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), 0
c = report["connections"]
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
# The JDK has connections of its own: pairs of sockets, to wake its pollers where it has no other means.
ends = {o: [x for x in c["list"] if x["origin"] == o and x["requests"]] for o in ("accepted", "connected")}
handlers, handed = [], 0
for x in ends["accepted"]:
    names = [t["name"] for t in x["threads"]]
    handlers += names
    handed += x["handovers"]
    expect(f"opener of #{x['number']}", x["opener"]["name"], "acceptor")
    expect(f"requests of #{x['number']}", (x["requests"], x["bytes_in"], x["bytes_out"]), (each, each * 100, each * 200))
    expect(f"hand-overs and requests without, #{x['number']}", x["handovers"] + x["kept"], each)
    expect(f"first hand-over of #{x['number']}", x["handovers"] >= 1, True)
expect("handlers", sorted(handlers), sorted(f"handler {i}" for i in range(n)))
clients = []
for x in ends["connected"]:
    clients += [t["name"] for t in x["threads"]]
    expect(f"answers of #{x['number']}", (x["requests"], x["bytes_out"], x["bytes_in"]), (each, each * 100, each * 200))
expect("clients", sorted(clients), sorted(f"client {i}" for i in range(n)))
givers = sorted({p["from"]["name"] for p in report["links"]["pairs"]
                 if p["kind"] == "socket" and p["to"]["name"].startswith("handler")})
print(f"{len(handlers)} connections, {handed} hand-overs of {n * each} requests by {', '.join(givers)}; {wrong} wrong")
# They wait for each: the poller gives it to them.
expect("hand-overs by a poller", handed > n * each / 2, True)
sys.exit(wrong > 0)
PY
}

n=0
while read -r version java; do
	n=$((n + 1))
	for how in $HOWS; do
		check "$version-$how" "$java" "$how"
	done
done < <(jdks 21)
[ $n -gt 0 ] || skip "no JDK with virtual threads"
