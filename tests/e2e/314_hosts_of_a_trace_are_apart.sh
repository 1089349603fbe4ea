#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a merged trace says of a host is what its own session says: a recording is merged with itself under another clock,
# name and boot, at the same time and long after, and each half must have the states, wake-ups, links and calls that the
# recording has, to within what the other clock makes of them. Nothing of one may touch the other, though both have the
# same tids, CPUs, addresses and Java threads.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

"${RECORD[@]}" -q --syscalls io,net -o "$TESTDIR/a" -- "$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 \
	-Djdk.lang.Process.launchMechanism=VFORK -cp "$CLASSES:$MARKERS" RemoteCalls tcp 2 3 30 back >"$TESTDIR/out" 2>"$TESTDIR/err" ||
	{ cat "$TESTDIR/err"; fail "the recording"; }

# other NAME OFFSET: the recording on another host, whose clock is 30 ppm faster; so many seconds later by its time of day.
other() {
	cp -r "$TESTDIR/a" "$TESTDIR/$1"
	python3 "$CHECKERS/fake_clock.py" "$TESTDIR/$1" "$1" "$2" 30
	python3 - "$TESTDIR/$1/manifest.json" "$1" <<'PY'
import json, os, sys
m = json.load(open(sys.argv[1]))
m["uuid"] = os.urandom(16).hex()
m["realtime_offset"] -= 3600 * 10**9 * (1 + len(sys.argv[2]))
json.dump(m, open(sys.argv[1], "w"))
PY
}

look() { # NAME
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.report"
	"$JIS" rmi -q --json --internal "$TESTDIR/$1" >"$TESTDIR/$1.rmi" 2>"$TESTDIR/$1.err"
	"$JIS" export paraver -q --wakeups all "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
}

look a
for at in 0.05 9000; do
	other "beta" "$at"
	"$JIS" merge -q "$TESTDIR/a" "$TESTDIR/beta" -o "$TESTDIR/m" || fail "merge"
	look m
	"$JIS" info -q "$TESTDIR/m" >"$TESTDIR/info"
	grep -q '^1 *beta .* beta$' "$TESTDIR/info" || { cat "$TESTDIR/info"; fail "jis info does not show the host"; }
	[ "$("$JIS" info -q --json "$TESTDIR/m" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["hosts"]))')" = 2 ] ||
		fail "jis info --json has no hosts"
	python3 "$CHECKERS/halves.py" "$TESTDIR/a" "$TESTDIR/m" "$at" || fail "merged with $at s in between"
	rm -rf "$TESTDIR/beta" "$TESTDIR/m"
done
