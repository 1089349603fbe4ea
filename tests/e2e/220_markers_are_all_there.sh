#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Markers from many threads: each one is in the pool once, in order, with either clock.
. "$(dirname "$0")/lib.sh"

check() { # OPTION
	"$TESTPROG/poolhost" "$@" -p 4000 -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
		"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentMarkers count 8 20000
	python3 - "$TESTDIR/pool" <<'PY'
import re, sys
seen = {}
for l in open(sys.argv[1]):
    assert not l.startswith("BAD"), l
    m = re.search(r"java_marker java_tid=\d+ type=(\d+) value=(\d+)", l)
    if m: seen.setdefault(int(m[1]), []).append(int(m[2]))
assert sorted(seen) == list(range(100, 108)), sorted(seen)
assert all(v == list(range(20000)) for v in seen.values())
print("160000 markers, all in order")
PY
}
check
check -r
