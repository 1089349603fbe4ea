#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Presets app and all: a dry run lists each method of the program's classes that is larger than an accessor, of the JDK's
# none or all, as a recording then traces them, and what is called of them fires; on every JDK that is here. The JVM
# verifies the JDK's classes, too, as the agent has rewritten them.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"

for java in "${JDKS[@]#* }"; do
	v=$(java_version "$java")
	for preset in app all; do
		name=$preset$v
		echo "call 3" | "${RECORD[@]}" -q --methods $preset --methods-dry-run -o "$name-dry" -- \
			"$java" -cp "$CLASSES" MethodsLive >"$name.dry" 2>err || { cat err; fail "$name: dry: exit status $?"; }
		expect "$name-dry"
		echo "call 3" | "${RECORD[@]}" -q --pool 256M --methods-budget 0 --methods $preset -o "$name" -- \
			"$java" -Xverify:all "-Xlog:class+init=info:file=$name.verified" -cp "$CLASSES" MethodsLive >"$name.out" 2>err || { cat err; fail "$name: exit status $?"; }
		[ "$(grep -cE 'Start class verification for: java[./]' "$name.verified")" -gt 50 ] || fail "$name: the JDK's are not verified"
		! grep 'Verification for .* failed\|VerifyError' "$name.verified" "$name.out" err || fail "$name: see above"
		"$JIS" methods --list "$name" >"$name.list" || fail "$name: no list"
		counts "$name" >"$name.fired"
		"$JIS" info "$name" | awk '/^of processes / { n++; lost += $5 } END { exit n != 1 || lost }' || fail "$name: records are lost"
		python3 "$CHECKERS/presets.py" $preset "$CLASSES" "$name.dry" "$name.list" "$name.fired" "$name.out" ||
			fail "$name"
		rm -rf "$name" "$name-dry"
	done
done
