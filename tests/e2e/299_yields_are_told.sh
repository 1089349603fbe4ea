#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each Thread.yield is a recorded sched_yield, of its thread, and what threads wait for their CPU after one is told as
# yielded, not as preempted; no more of them than there were yields.
. "$(dirname "$0")/lib.sh"
need_root

N=2000
"${RECORD[@]}" -q --syscalls sched_yield -o "$TESTDIR/trace" -- taskset -c 0 "$JAVA" -XX:+UseSerialGC -cp "$CLASSES" Yields 2 $N >"$TESTDIR/out"
grep -q '^END$' "$TESTDIR/out" || fail "the program did not end"
"$JIS" info --strict "$TESTDIR/trace" >"$TESTDIR/info" || { cat "$TESTDIR/info"; fail "records were lost"; }
for i in 0 1; do
	got=$("$JIS" dump --thread "yields-$i" --event syscall_enter "$TESTDIR/trace" | grep -c 'nr = sched_yield')
	# The JVM's own locks yield, too, when they spin.
	[ "$got" -ge $N ] && [ "$got" -le $((N + 20)) ] || fail "yields-$i: $got calls, not $N"
done
"$JIS" report -q --json "$TESTDIR/trace" >"$TESTDIR/report.json"
python3 - "$TESTDIR/report.json" $N <<'PY'
import json, sys
n = int(sys.argv[2])
threads = [t for t in json.load(open(sys.argv[1]))["threads"] if t["name"].startswith("yields-")]
told = [t["reasons"].get("yielded", {"count": 0})["count"] for t in threads]
preempted = [t["reasons"].get("preempted", {"count": 0})["count"] for t in threads]
print("yielded and waited:", told, "preempted:", preempted)
# Both are on one CPU: whoever yields makes way, but where the other has not begun or has ended.
sys.exit(not (len(told) == 2 and all(c <= n + 20 for c in told) and sum(told) > 9 * sum(preempted)))
PY
