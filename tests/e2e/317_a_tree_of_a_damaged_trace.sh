#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A packet of calls is missing that the manifest does not miss: the tree has the calls that jis stats has, no more and no fewer,
# and says that something is missing.
# Runs beside others.
. "$(dirname "$0")/lib.sh"

"$BUILD/tests/bench/gentrace" --out "$TESTDIR/trace" --kernel-streams 2 --user-streams 2 --methods 20 --calls 100000 --events 1000000 >"$TESTDIR/generated"
"$JIS" tree -q -o "$TESTDIR/whole" "$TESTDIR/trace"
python3 - "$TESTDIR/trace"/jvm-*/slot-1 <<'PY'
import struct, sys
data, packets, at = open(sys.argv[1], "rb").read(), [], 0
while at < len(data):
    packets.append((at, struct.unpack_from("<Q", data, at + 56)[0] // 8))
    at += packets[-1][1]
at, size = packets[len(packets) // 2]
open(sys.argv[1], "wb").write(data[:at] + data[at + size:])
PY
expect_status 0 "$JIS" tree -o "$TESTDIR/cut" "$TESTDIR/trace"
expect_says "packets are missing"
"$JIS" stats -q --csv "$TESTDIR/trace" >"$TESTDIR/stats"
python3 - "$TESTDIR" <<'PY'
import csv, sys
def of_tree(name):
    rows = [l.rstrip("\n").split("\t") for l in open(f"{sys.argv[1]}/{name}.stt")][1:]
    return {r[9]: (int(r[2]), int(r[3])) for r in rows}
stats = {r["method"]: (int(r["calls"]), int(r["parts"])) for r in csv.DictReader(open(f"{sys.argv[1]}/stats"))}
cut, whole = of_tree("cut"), of_tree("whole")
if cut != stats:
    sys.exit(f"the tree has {cut}, jis stats {stats}")
if not 0 < sum(c for c, _ in cut.values()) < sum(c for c, _ in whole.values()):
    sys.exit("nothing was missing")
PY
