#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pool whose queue the program replaces by reflection, the old one being collected: each task is told with as many
# waiting as the pool itself had, and the JVM comes to no harm. On every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

n=0
while read -r version java; do
	trace=$TESTDIR/jdk$version out=$TESTDIR/jdk$version.out
	"${RECORD[@]}" -q -o "$trace" -- "$java" -Xcheck:jni -XX:+UseSerialGC --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
		-cp "$CLASSES" OtherQueue >"$out" 2>"$TESTDIR/err" || { cat "$out" "$TESTDIR/err"; fail "jdk$version: exit status $?"; }
	grep -q '^END$' "$out" || fail "jdk$version: the program did not end"
	! jni_complaints "$out" || fail "jdk$version: the JVM complains"
	sed -n 's/^QUEUED //p' "$out" >"$TESTDIR/want"
	"$JIS" dump -q --thread main --event task_submit "$trace" | sed 's/.* queued = \([-0-9]*\).*/\1/' >"$TESTDIR/got"
	[ "$(wc -l <"$TESTDIR/want")" = 60 ] || fail "jdk$version: the program gave not 60 tasks"
	diff "$TESTDIR/want" "$TESTDIR/got" >&2 || fail "jdk$version: the numbers of waiting tasks differ"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
