#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of the recorder: the JVM goes on undisturbed, and after jis recover every marker older than the
# flush interval is in the trace.
. "$(dirname "$0")/lib.sh"
need_root

trace=$TESTDIR/trace flush=300
"${RECORD[@]}" -q -o "$trace" --flush $flush -- "$JAVA" -cp "$CLASSES:$MARKERS" MarkerClock 10 \
	>"$TESTDIR/printed" 2>"$TESTDIR/err" &
recorder=$!
enough() { [ "$(grep -c '^[0-9]' "$TESTDIR/printed")" -gt 800 ]; }
wait_for 60 enough
jvm=$(pgrep -P $recorder) || fail "no JVM"
killed=$(date +%s%N)
kill -KILL $recorder
wait $recorder 2>/dev/null || true
gone() { ! kill -0 "$jvm" 2>/dev/null; }
wait_for 60 gone
grep -q '^END' "$TESTDIR/printed" || { cat "$TESTDIR/err"; fail "the JVM did not live to its end"; }

expect_status 1 "$JIS" info "$trace"
expect_says "jis recover"
expect_status 0 "$JIS" recover "$trace"
expect_status 0 "$JIS" info "$trace"
expect_says "(recovered)"
"$JIS" report -q "$trace" >/dev/null
"$JIS" export paraver -q "$trace" -o "$TESTDIR/x.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/x.prv"
# Numbers are printed with the wall clock at which they were marked: "NUMBER EPOCH-NS".
python3 - "$TESTDIR/printed" "$trace" "$CHECKERS" "$killed" $flush <<'PY'
import sys
sys.path.insert(0, sys.argv[3])
import ctf
killed, flush = int(sys.argv[4]), int(sys.argv[5]) * 1000000
printed = [tuple(map(int, l.split())) for l in open(sys.argv[1]) if l[0].isdigit()]
old = [n for n, t in printed if t < killed - flush - 100000000]
traced = {f["value"] for _, n, f in ctf.events(sys.argv[2]) if n == "java_marker"}
missing = [n for n in old if n not in traced]
print("older than the flush interval %d, in the trace %d, missing %d" % (len(old), len(traced), len(missing)))
sys.exit(1 if missing or not old else 0)
PY
# The next recording cleans up what the killed one left.
"${RECORD[@]}" -q -o "$TESTDIR/next" -- true
[ -z "$(stale_instances)" ] || fail "the killed recorder's tracefs instance is still there"
