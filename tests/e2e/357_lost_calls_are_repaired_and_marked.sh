#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Packets with calls of methods are taken away from a trace: each call of which a record is left is told, with marks where
# something is not known, none is made up, and no other thread's calls change. Shortest and longest are of whole calls.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q --pool 64M --methods-budget 0 --methods 'Calls*,!Calls$Own,!CallsTold,!**.overflow' -o whole -- \
	java -cp "$CLASSES" CallsTold 40 3 platform >told 2>&1 || { cat told; fail "exit status $?"; }
"$JIS" info --strict -q whole >/dev/null || fail "the trace is not whole to begin with"

# take STREAM SHARE...: of the packets with many records those that are so many hundredths into it
take() {
	python3 - "$@" <<'PY'
import struct, sys
path, *shares = sys.argv[1:]
data = open(path, "rb").read()
at, packets = 0, []
while at < len(data):
    n = struct.unpack_from("<Q", data, at + 56)[0] // 8
    packets.append(data[at:at + n])
    at += n
many = [i for i, p in enumerate(packets) if len(p) > 4000]
assert len(many) >= 10, len(many)
gone = {many[len(many) * int(s) // 100] for s in shares}
open(path, "wb").write(b"".join(p for i, p in enumerate(packets) if i not in gone))
PY
}

streams=()
while read -r _ stream; do
	streams+=("$stream")
done < <(cd whole && du -b jvm-*/slot-* | sort -rn | head -n 3)
for plant in "${streams[0]} 40" "${streams[0]} 15 80" "${streams[1]} 30 36 70" "${streams[2]} 75"; do
	read -ra words <<<"$plant"
	rm -rf damaged
	cp -r whole damaged
	take "damaged/${words[0]}" "${words[@]:1}" || fail "$plant: nothing to take"
	echo "$plant"
	python3 "$CHECKERS/lost_calls.py" whole damaged "${words[0]}" "$JIS" || fail "$plant"
	expect_status 3 "$JIS" info --strict -q damaged
	for trace in whole damaged; do
		"$JIS" stats -q --csv $trace >$trace.csv 2>/dev/null || fail "$plant: no figures"
	done
	python3 - <<'PY' || fail "$plant: figures"
import csv
whole, damaged = ({r["method"]: r for r in csv.DictReader(open(f"{name}.csv"))} for name in ("whole", "damaged"))
assert set(damaged) <= set(whole) and len(damaged) > 10, set(damaged) ^ set(whole)
for method, r in damaged.items():
    if int(r["calls"]) == int(r["parts"]):
        continue
    w = whole[method]
    assert int(w["min"]) <= int(r["min"]) <= int(r["max"]) <= int(w["max"]), (method, r["min"], r["max"], w["min"], w["max"])
PY
done
