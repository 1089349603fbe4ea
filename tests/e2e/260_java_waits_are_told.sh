#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each kind of wait of platform threads, made a known number of times: how often, on what, held by whom, with
# which timeout, how long. The program says what it did; on every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
run() { # NAME JAVA OPTION...
	local name=$1 java=$2
	shift 2
	"${RECORD[@]}" -q -o "$TESTDIR/$name" -- "$java" "$OPENS" "$@" -cp "$CLASSES" Waits 3 15 >"$TESTDIR/$name.out" \
		2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -q '^END$' "$TESTDIR/$name.out" || { cat "$TESTDIR/$name.out"; fail "$name: the program did not end"; }
	grep -v '^EXPECT\|^END$' "$TESTDIR/$name.out" && fail "$name: the JVM says something"
	grep -v '^Picked up JAVA_TOOL_OPTIONS' "$TESTDIR/$name.err" && fail "$name: stderr is not empty"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" --no-stacks || fail "$name"
}
n=0
while read -r version java; do
	run "jdk$version" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
