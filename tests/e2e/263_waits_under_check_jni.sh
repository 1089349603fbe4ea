#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# -Xcheck:jni has nothing to say about the records of waits, with stacks, and they are the same as without.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
run() { # NAME JAVA CLASS
	local name=$1 java=$2 class=$3
	"${RECORD[@]}" -q --stacks 'blocked>5ms' -o "$TESTDIR/$name" -- "$java" -Xcheck:jni "$OPENS" -cp "$CLASSES" \
		"$class" 2 15 >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" ||
		{ cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -v '^EXPECT\|^END$' "$TESTDIR/$name.out" && fail "$name: the JVM says something"
	grep -v '^Picked up JAVA_TOOL_OPTIONS' "$TESTDIR/$name.err" && fail "$name: stderr is not empty"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" || fail "$name"
}
while read -r version java; do
	run "jdk$version" "$java" Waits
	[ "$version" = 17 ] || run "jdk$version-virtual" "$java" WaitsVirtual
done < <(jdks)
