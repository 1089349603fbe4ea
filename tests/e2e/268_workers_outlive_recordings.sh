#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Workers of pools that live through several recordings, virtual ones too where there are any, are told anew in
# each, with the tasks they ran in it and no others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }

rounds_done() { [ "$(grep -c '^DONE' "$TESTDIR/out")" = "$1" ]; }

# one_round NUMBER: the program gives tasks to its pools, and says how many.
one_round() {
	echo >&9
	wait_for 60 rounds_done "$1"
}

check() { # TRACE ROUND
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	python3 - "$TESTDIR/out" "$TESTDIR/$1.json" "$2" <<'PY' || fail "$1"
import json, re, sys
report, wanted, wrong = json.load(open(sys.argv[2])), {}, 0
for line in open(sys.argv[1]):
    m = re.match(r"ROUND (\d+) hash=(\w+) ran=(\d+)", line)
    if m and m.group(1) == sys.argv[3]:
        wanted[int(m.group(2), 16)] = int(m.group(3))
got = {p["hash"]: p for p in report["pools"]}
for pool, n in wanted.items():
    p = got.get(pool, {"submitted": 0, "begun": 0, "linked": 0, "run": {"count": 0}})
    if not p["submitted"] == p["begun"] == p["linked"] == p["run"]["count"] == n:
        wrong += 1
        print("pool %x: %d ran, %s" % (pool, n, p))
errors = {k: v for k, v in report["counts"]["errors"].items() if v and "task" in k}
print("%d pools, %d wrong, %s" % (len(wanted), wrong, errors))
sys.exit(wrong > 0 or not wanted or bool(errors))
PY
}

while read -r version java; do
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$java" -cp "$CLASSES" TaskRounds <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	one_round 1
	for ((round = 2; round < 5; round++)); do
		trace=jdk$version-$round
		"${RECORD[@]}" -q -o "$TESTDIR/$trace" -p $jvm 2>"$TESTDIR/rec" &
		host=$!
		wait_for 60 attached "$TESTDIR/$trace" $jvm
		one_round $round
		kill -INT $host
		wait $host || [ $? = 130 ] || { cat "$TESTDIR/rec"; fail "jis record ended with $?"; }
		check "$trace" $round
	done
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/err"; fail "the program ended with $?"; }
done < <(jdks)
