#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pool whose queue the program replaces by reflection, the old one being collected: each task is told with as many
# waiting as the pool itself had, and its class, and the JVM comes to no harm; also where all objects have one hash. On every
# JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

n=0
check() { # NAME JAVA [OPTION]...
	local trace=$TESTDIR/$1 out=$TESTDIR/$1.out java=$2 name=$1 status=0
	shift 2
	"${RECORD[@]}" -q -o "$trace" -- "$java" -Xcheck:jni -XX:+UseSerialGC --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
		"$@" -cp "$CLASSES" OtherQueue >"$out" 2>"$TESTDIR/err" || status=$?
	[ $status = 0 ] || { cat "$out" "$TESTDIR/err"; fail "$name: exit status $status"; }
	grep -q '^END$' "$out" || fail "$name: the program did not end"
	! jni_complaints "$out" || fail "$name: the JVM complains"
	sed -n 's/^QUEUED //p' "$out" >"$TESTDIR/want"
	{
		"$JIS" dump -q --event string_def "$trace" | sed 's/.* id = \([0-9]*\), .*"\(.*\)" }$/NAME \1 \2/'
		"$JIS" dump -q --thread main --event task_submit "$trace" |
			sed 's/.* class_name = \([0-9]*\), .* queued = \([-0-9]*\).*/TASK \1 \2/'
	} | awk '$1 == "NAME" { name[$2] = $3 } $1 == "TASK" { print $3, name[$2] }' >"$TESTDIR/got"
	[ "$(wc -l <"$TESTDIR/want")" = 60 ] || fail "$name: the program gave not 60 tasks"
	[ "$(cut -d' ' -f2 "$TESTDIR/want" | sort -u | wc -l)" = 2 ] || fail "$name: not of two classes"
	diff "$TESTDIR/want" "$TESTDIR/got" >&2 || fail "$name: the numbers of waiting tasks, or their classes, differ"
	n=$((n + 1))
}

while read -r version java; do
	check "jdk$version" "$java"
	check "jdk$version-same-hash" "$java" -XX:+UnlockExperimentalVMOptions -XX:hashCode=2
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
