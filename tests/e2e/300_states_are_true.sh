#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Running and ready times and the number of switches of each thread of a Java program are those of the
# kernel's own books; the Paraver trace keeps all rules; nothing is lost.
. "$(dirname "$0")/lib.sh"
need_root

before=$(steal_ns)
"${RECORD[@]}" -q -o "$TESTDIR/trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" Truth "${SCALE:-1.0}" >"$TESTDIR/program"
steal=$(($(steal_ns) - before))
grep -q '^END' "$TESTDIR/program" || fail "the program did not end well"

"$JIS" info --json "$TESTDIR/trace" >"$TESTDIR/info.json"
python3 - "$TESTDIR/info.json" <<'PY' || fail "records were lost"
import json, sys
t = json.load(open(sys.argv[1]))["totals"]
print(t)
sys.exit(t["lost"] != 0 or t["produced"] != t["stored"])
PY
"$JIS" export paraver -q "$TESTDIR/trace" -o "$TESTDIR/truth.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/truth.prv"
# Does this kernel's tracepoint see each switch? Where it does, nothing may be unknown.
unknown=0
if [ "$BACKEND" != kmod ] && ! tracepoint_sees_all; then
	echo "this kernel's sched_switch tracepoint misses switches: what lies between may be unknown"
	# On an idle machine these are most of the switches that end idling.
	unknown=70
	PER_SWITCH=${PER_SWITCH:-2000}
fi
python3 "$CHECKERS/truth.py" "$TESTDIR/trace" "$TESTDIR/truth.prv" "$TESTDIR/program" --steal "$steal" \
	--unknown $unknown --per-switch "${PER_SWITCH:-200}"
