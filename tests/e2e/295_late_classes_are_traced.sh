#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Classes that are not prepared when methods are chosen, or whose place is known only when they are, get their probes
# when they are; one that never can be prepared costs the others nothing, and the JVM few stops.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"
need_root

said() { grep -q "^$1" out; }
ask() { # COMMAND ANSWER
	echo "$1" >&9
	wait_for 60 said "$2"
}
attached() { "$JIS" attach -q -o trace "$jvm" 2>/dev/null; }
stops() { grep -c 'RedefineClasses' safepoints || true; }

one_jvm() { # VERSION JAVA
	local before during list
	rm -rf in out trace safepoints classes
	mkdir classes
	cp "$CLASSES"/MethodsLate*.class classes
	rm 'classes/MethodsLate$Missing.class'
	mkfifo in
	"$2" -cp classes -Xlog:safepoint:file=safepoints MethodsLate <in >out 2>err &
	jvm=$!
	exec 9>in
	wait_for 60 said UP
	list='MethodsLate$C*,MethodsLate$Late,MethodsLate$Broken,subtypes:MethodsLate$Base,!**.<init>'
	before=$(stops)
	"${RECORD[@]}" -q --methods "$list" -o trace -p $jvm 2>rec &
	host=$!
	wait_for 60 attached
	during=$(($(stops) - before))
	ask all ALL
	ask late LATE
	ask deep OTHER
	ask broken BROKEN
	kill -INT $host
	wait $host || [ $? = 130 ] || { cat rec; fail "jis record ended with $?"; }
	exec 9>&-
	wait $jvm || { cat err; fail "the program ended with $?"; }
	said 'BROKEN not to be linked' || fail "the test's own class is not broken"
	counts trace >got
	cat got
	echo "$during stops for classes at the begin, $(stops) in all"
	for ((i = 0; i < 10; i++)); do
		grep -qx "MethodsLate\$C$i.m 1" got || fail "C$i.m has not one call"
	done
	awk '$1 == "MethodsLate$Late.m" || $1 == "MethodsLate$Deep.deep" { n += $2 > 0 && $2 <= 500 }
		END { exit n != 2 }' got || fail "late classes are not traced"
	grep -qx 'MethodsLate$Other.other 1' got || fail "the first call of a class below a known one is missing"
	! grep -q Broken got || fail "a class that cannot be linked has calls"
	! grep 'cannot be rewritten' rec || fail "a class was not rewritten"
	# hooks and methods, each at most one request; ten classes and a broken one are no more
	[ "$during" -le 3 ] || fail "$during stops for 10 classes"
}

while read -r version java; do
	echo "== $version"
	one_jvm "$version" "$java"
done < <(jdks)
