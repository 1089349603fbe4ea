#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A thread that waits until another has initialised a class: which class is what the program says, in the records and in
# the report, as often; also where the thread asked for another class. Started on every JDK that is here,
# attached on the first.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

RECORDING=("${RECORD[@]}" -q)
n=0
while read -r version java; do
	for how in started $([ "$n" -gt 0 ] || echo attached); do
		name=jdk$version-$how
		echo "$version, $how"
		$how "$name" "$java" -cp "$CLASSES" ClassWaits 2 25
		grep -q '^END$' "$TESTDIR/$name.out" || { cat "$TESTDIR/$name.out"; fail "$name: the program did not end"; }
		"$JIS" dump -q "$TESTDIR/$name" >"$TESTDIR/$name.dump"
		"$JIS" report -q --json "$TESTDIR/$name" >"$TESTDIR/$name.json"
		backend=$("$JIS" info "$TESTDIR/$name" | sed -n 's/^recorder.* \([a-z]*\) backend.*/\1/p')
		python3 "$CHECKERS/class_waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" "$TESTDIR/$name.json" "$backend" || fail "$name"
	done
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
