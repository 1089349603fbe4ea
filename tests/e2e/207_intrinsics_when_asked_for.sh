#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Methods that compilers may replace are left out by name and reason, unless the list asks for them: then each call that
# is interpreted is recorded, and the list of methods says that no others are. On each JDK.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"
n=700
for line in "${JDKS[@]}"; do
	read -r version java <<<"$line"
	for what in without with; do
		name=jdk$version-$what
		list='java.lang.Math.max(II)I,Intrinsics.own'
		[ $what = without ] || list+=,intrinsics
		"${RECORD[@]}" -q --methods "$list" -o "$name" -- "$java" -Xint -cp "$CLASSES" Intrinsics $n >out 2>err ||
			{ cat err; fail "$name: exit status $?"; }
		grep -q "^called $n " out || fail "$name: $(cat out)"
		"$JIS" methods --list "$name" >"$name.list"
		counts "$name" >"$name.counts"
		grep -qx "Intrinsics.own $n" "$name.counts" || fail "$name: $(cat "$name.counts")"
	done
	! grep 'Math.max' "jdk$version-without.counts" || fail "JDK $version: recorded unasked"
	grep -q '^java.lang.Math.max(II)I  not traced: it is marked IntrinsicCandidate' "jdk$version-without.list" ||
		fail "JDK $version: not told why: $(cat "jdk$version-without.list")"
	# others call it, too
	calls=$(sed -n 's/^java.lang.Math.max //p' "jdk$version-with.counts")
	[ "${calls:-0}" -ge $n ] || fail "JDK $version: $n calls, recorded ${calls:-none}"
	below=$("$JIS" dump --calls "jdk$version-with" | grep -c 'java.lang.Math.max' || true)
	[ "$below" -ge $n ] || fail "JDK $version: $below calls listed"
	grep '^java.lang.Math.max(II)I  number .*, interpreter only' "jdk$version-with.list" || fail "JDK $version: not said to be of the interpreter"
	! grep '^Intrinsics.own.*interpreter only' "jdk$version-with.list" || fail "JDK $version: said of others, too"
	pairs=$("$JIS" stats -q --by pair --csv "jdk$version-with" | grep -c 'Intrinsics.own.*Math.max' || true)
	[ "$pairs" -ge 1 ] || fail "JDK $version: no calls from own: $("$JIS" stats -q --by pair "jdk$version-with" | head)"
	echo "JDK $version: $calls calls"
done
