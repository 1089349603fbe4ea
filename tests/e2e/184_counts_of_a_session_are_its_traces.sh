#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a session says in the end that it produced, stored and lost is what its trace has, each record once, for a
# flight recorder too; and with a loss.
. "$(dirname "$0")/lib_jisctl.sh"

check() { # NAME OPTION...
	local name=$1
	shift
	minirec "$@" "$TESTDIR/$name" -- "$WITNESS" 4 2000 500 >"$TESTDIR/$name.said" 2>"$TESTDIR/$name.err" ||
		fail "$name: $(cat "$TESTDIR/$name.err")"
	counts "$TESTDIR/$name" >"$TESTDIR/$name.counts" || fail "$name: $(cat "$TESTDIR/$name.counts")"
	python3 - "$TESTDIR/$name" <<'PY'
import json, re, sys
m = json.load(open(sys.argv[1] + "/manifest.json"))
said = [l for l in open(sys.argv[1] + ".said") if l.startswith("produced=")][-1]
said = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", said)}
for key in "produced", "stored", "lost":
    there = sum(sum(s[key].values()) for s in m["streams"])
    print(key, said[key], there)
    assert said[key] == there, "%s: the session says %d, the trace has %d" % (key, said[key], there)
assert said["stored"] > 1000
PY
}

check plain
check flight -F
check lossy -B "$((64 * 1024 * $(getconf _NPROCESSORS_CONF)))" -f 2000
check flight-lossy -F -B "$((64 * 1024 * $(getconf _NPROCESSORS_CONF)))" -P 262144
