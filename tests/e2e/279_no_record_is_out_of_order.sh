#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a program that does everything at once (Churn) no record is out of order and none contradicts another, with every
# collector of every JDK that is here: collections for room in the metaspace, which HotSpot tells of twice, waits for
# classes that other threads initialise, which it tells the end of, and waits that throw, which it tells the begin of.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

ROUNDS=${ROUNDS:-1}
check() { # NAME JAVA COLLECTOR
	local trace=$TESTDIR/$1
	"${RECORD[@]}" -q -o "$trace" -- "$2" -XX:+Use"$3"GC -Xmx96m -XX:MetaspaceSize=2m -XX:+IgnoreUnrecognizedVMOptions -XX:-ScavengeBeforeFullGC \
		-Xlog:gc:file="$trace.gclog" -cp "$CLASSES" Churn "$ROUNDS" >"$trace.out" 2>"$trace.err" ||
		{ cat "$trace.err"; fail "$1: exit status $?"; }
	"$JIS" report -q --json "$trace" >"$trace.json"
	"$JIS" dump -q "$trace" | grep -E ' (string_def|monitor_wait|monitor_waited) ' >"$trace.waits" || true
	python3 "$CHECKERS/orders.py" "$trace.out" "$trace.json" "$trace.gclog" "$trace.waits" "$3" || fail "$1"
	rm -r "$trace"
}
n=0
while read -r version java; do
	for collector in ${COLLECTORS:-G1 Parallel Serial Z Shenandoah}; do
		"$java" -XX:+Use"$collector"GC -version >/dev/null 2>&1 || continue
		check "jdk$version-$collector" "$java" "$collector"
		n=$((n + 1))
	done
done < <(jdks)
[ "$n" -ge 3 ] || fail "only $n collectors"
