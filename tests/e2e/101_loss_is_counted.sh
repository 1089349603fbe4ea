#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With buffers that are far too small records are lost, but every one is counted: produced is what the
# program wrote, and produced = stored + lost for each stream; babeltrace2 finds what is said to be
# stored, and a lost_records for what is not.
. "$(dirname "$0")/lib_jisctl.sh"

markers=1000000
minirec -P 262144 -B "$((65536 * $(getconf _NPROCESSORS_CONF)))" "$TESTDIR/t" -- \
	"$WITNESS" 2 20000 $markers >"$TESTDIR/out"
counts "$TESTDIR/t" | tee "$TESTDIR/counts"
python3 - "$TESTDIR/t" $markers <<'PY'
import json, sys
m = json.load(open(sys.argv[1] + "/manifest.json"))
user = [s for s in m["streams"] if s["path"].startswith("process-")]
written = sum(s["produced"].get("4", 0) for s in user)
assert written == 4 * int(sys.argv[2]) + 1, written
assert sum(s["lost"].get("4", 0) for s in user) > 0, "nothing was lost: the test is no test"
PY
stored=$(awk '{ n += $3 } END { print n }' "$TESTDIR/counts")
lost=$(awk '$4 > 0 { n++ } END { print n + 0 }' "$TESTDIR/counts")
found=$(babeltrace2 "$TESTDIR/t" 2>"$TESTDIR/err" | wc -l)
[ "$found" = "$stored" ] || fail "babeltrace2 finds $found records, $stored are said to be stored"
grep -v 'Tracer discarded' "$TESTDIR/err" && fail "babeltrace2 complains"
told=$(records "$TESTDIR/t" lost_records)
[ "$told" -ge "$lost" ] || fail "$told lost_records for $lost streams with losses"
