#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With --stacks each wait that is longer has exactly one Java stack, with the line that waits; shorter ones none. Threads that
# are started have one, too: the report tells where, and by whom.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
run() { # NAME JAVA THRESHOLD CHECK...
	local name=$1 java=$2 threshold=$3 class=$4
	shift 4
	"${RECORD[@]}" -q --stacks "blocked>$threshold" -o "$TESTDIR/$name" -- "$java" "$OPENS" -cp "$CLASSES" "$class" 2 15 \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" "$@" || fail "$name"
	"$JIS" report -q --json "$TESTDIR/$name" >"$TESTDIR/$name.json" || fail "$name: no report"
	python3 "$CHECKERS/starts.py" "$TESTDIR/$name.dump" "$TESTDIR/$name.json" || fail "$name: starts"
	[ "$threshold" = 100s ] || python3 -c 'import json, sys
assert sum(r["count"] for r in json.load(open(sys.argv[1]))["starts"] if r["place"].startswith(sys.argv[2] + ".")) > 10' \
		"$TESTDIR/$name.json" "$class" || fail "$name: not started in the program"
}
while read -r version java; do
	run "jdk$version" "$java" 5ms Waits --stacks "$here/java/Waits.java"
	run "jdk$version-short" "$java" 100s Waits --no-stacks
	[ "$version" = 17 ] || run "jdk$version-virtual" "$java" 5ms WaitsVirtual --stacks "$here/java/WaitsVirtual.java"
done < <(jdks)
