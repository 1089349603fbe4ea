#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Virtual threads: start, end, name, each mount and unmount, and their sleeps, parks, monitors, waits and joins,
# told with their own numbers; a pinned park is told once. JDK 21 and 25.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

run() { # NAME JAVA OPTION...
	local name=$1 java=$2
	shift 2
	"${RECORD[@]}" -q -o "$TESTDIR/$name" -- "$java" "$@" -cp "$CLASSES" WaitsVirtual 3 15 >"$TESTDIR/$name.out" \
		2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -v '^EXPECT\|^END$' "$TESTDIR/$name.out" && fail "$name: the JVM says something"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" || fail "$name"
}
n=0
while read -r version java; do
	run "jdk$version" "$java"
	n=$((n + 1))
done < <(jdks 21)
[ "$n" -gt 0 ] || skip "no JDK 21 or 25"
