#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A thread that computes is stopped for as many collections and safepoints as the program caused, no oftener than it gave
# up its CPU, and for as long as the kernel's own books have it asleep. Started with the JVM and attached, on every JDK
# that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

read -ra OPTIONS <<<"${JVM_OPTIONS:--XX:+UseSerialGC}"
RECORDING=("${RECORD[@]}" -q)
n=0
while read -r version java; do
	for how in $HOWS; do
		name=jdk$version-$how
		$how "$name" "$java" "${OPTIONS[@]}" -cp "$CLASSES" Stops "${STOPS:-8}"
		grep -q '^END$' "$TESTDIR/$name.out" || { cat "$TESTDIR/$name.out"; fail "$name: the program did not end"; }
		"$JIS" report -q --json "$TESTDIR/$name" >"$TESTDIR/$name.json"
		echo "$version, $how"
		python3 "$CHECKERS/stops.py" "$TESTDIR/$name.out" "$TESTDIR/$name.json" || fail "$name"
	done
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
