#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of a JVM in full flight: every marker number it had printed is in the trace.
. "$(dirname "$0")/lib.sh"
need_root

for ((round = 1; round <= ${KILLS:-3}; round++)); do
	trace=$TESTDIR/trace$round
	"${RECORD[@]}" -q -o "$trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" MarkerVictim >"$TESTDIR/printed$round" 2>"$TESTDIR/err" &
	recorder=$!
	enough() { [ "$(cat "$TESTDIR/printed$round" 2>/dev/null | wc -l)" -gt $((round * ${PRINTED:-2000})) ]; }
	wait_for 60 enough
	pkill -KILL -P $recorder || fail "no JVM to kill"
	status=0
	wait $recorder || status=$?
	[ $status = 137 ] || { cat "$TESTDIR/err"; fail "exit status $status, 137 expected"; }
	# The last line may be cut off in the middle by the kill: then it was not printed.
	python3 - "$TESTDIR/printed$round" "$trace" "$CHECKERS" <<'PY'
import sys
sys.path.insert(0, sys.argv[3])
import ctf
printed = [int(l) for l in open(sys.argv[1]).read().split("\n")[:-1] if l.isdigit()]
traced = {f["value"] for _, n, f in ctf.events(sys.argv[2]) if n == "java_marker"}
missing = [n for n in printed if n not in traced]
print("printed %d, in the trace %d, missing %d" % (len(printed), len(traced), len(missing)))
sys.exit(1 if missing or not printed else 0)
PY
done
