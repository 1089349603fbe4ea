#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording a Java call costs, entry and exit, as a ratio to two clock reads and two stores, on each JDK that is
# here, by the way the agent chooses, by that without patching, and by plain JNI; by JFR (25), by
# JVMTI's events, and untraced. Needs root. Usage: tests/bench/calls.sh BUILD [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-40}
JAVA=${JAVA:-$(command -v java)}
TESTDIR=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$TESTDIR"' EXIT
. tests/e2e/lib_check_jni.sh
. tests/e2e/lib_jdks.sh

jfr='method-trace=CallsBench$Traced,jdk.MethodTrace#threshold=0ms,jdk.MethodTrace#stackTrace=false'

told() { # VERSION WAY
	printf 'JDK %-3s %-13s ' "$1" "$2"
	cat "$TESTDIR/out"
}

while read -r version java; do
	bench=("$java" -Xbatch -cp "$BUILD/tests/classes")
	run=(CallsBench "$BUILD/tests/libcalllimit.so" "$rounds")
	for probes in "" --no-patch --jni-probes; do
		"$BUILD/jis" record -q --pool 32M --methods 'CallsBench$Traced,!**.<init>' --methods-budget 0 ${probes:+"$probes"} \
			-o "$TESTDIR/t" -- "${bench[@]}" "${run[@]}" >"$TESTDIR/out" 2>"$TESTDIR/err" </dev/null || cat "$TESTDIR/err"
		told "$version" "${probes:-chosen}"
		"$BUILD/jis" methods --list "$TESTDIR/t" | grep recorded
		rm -rf "$TESTDIR/t"
	done
	# What the JVM itself has: JFR's method tracing (25), without stacks, and JVMTI's events, in which it interprets all.
	if [ "$version" -ge 25 ]; then
		"${bench[@]}" "-XX:StartFlightRecording:$jfr,filename=$TESTDIR/t.jfr" \
			"${run[@]}" 2>&1 </dev/null | grep '^traced' >"$TESTDIR/out"
		told "$version" "JFR"
	fi
	"${bench[@]}" "-agentpath:$BUILD/tests/libmethodevents.so" CallsBench "$BUILD/tests/libcalllimit.so" 3 whole \
		>"$TESTDIR/out" </dev/null
	told "$version" "JVMTI"
	"${bench[@]}" CallsBench "$BUILD/tests/libcalllimit.so" "$rounds" whole >"$TESTDIR/out" </dev/null
	told "$version" "untraced"
done < <(jdks)
