#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of the JVM: each marker number it had printed is in the pool.
. "$(dirname "$0")/lib.sh"

for round in 1 2 3; do
	printed=$TESTDIR/printed.$round
	: >"$printed"
	"$TESTPROG/poolhost" -p 4000 -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
		bash -c 'echo $$ >"$1"; exec "${@:2}"' - "$TESTDIR/pid" "$JAVA" -agentpath:"$BUILD/libjisagent.so" \
		-cp "$CLASSES:$MARKERS" MarkerVictim >"$printed" &
	host=$!
	enough() { [ "$(wc -l <"$printed")" -gt $((round * 3000)) ]; }
	wait_for 60 enough
	kill -KILL "$(cat "$TESTDIR/pid")"
	status=0
	wait $host || status=$?
	[ $status = 137 ] || fail "exit status $status, 137 expected"
	python3 - "$printed" "$TESTDIR/pool" <<'PY'
import re, sys
printed = [int(l) for l in open(sys.argv[1]).read().split("\n")[:-1] if l.isdigit()]
pool = open(sys.argv[2]).read()
kept = set(int(v) for v in re.findall(r"type=77 value=(\d+)", pool))
missing = [n for n in printed if n not in kept]
print("printed %d, in the pool %d, missing %d" % (len(printed), len(kept), len(missing)))
sys.exit(1 if missing or not printed else 0)
PY
done
