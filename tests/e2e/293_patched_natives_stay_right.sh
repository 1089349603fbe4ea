#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The jump in the JVM's code for natives, when it matters: two recordings of a JVM that runs, one after the other, both
# find it usable and are exact; and while another agent has java.lang.JProbe$ redefined again and again, which
# makes the JVM give up the code that was patched, no call is missed, and the JVM lives. On each JDK that is here.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR"
[ "$(uname -m)" = x86_64 ] || skip "there is no such jump on this machine"
JDK=$(dirname "$(dirname "$(readlink -f "$REAL_JAVA")")")
[ -x "$JDK/bin/javac" ] || skip "no javac beside $JAVA"

"$JDK/bin/javac" --release 17 -d classes "$here/agents/ProbeRedefiner.java"
printf 'Premain-Class: ProbeRedefiner\nCan-Retransform-Classes: true\n' >manifest
(cd classes && "$JDK/bin/jar" --create --file ../redefiner.jar --manifest ../manifest ./*.class)

by_patch() { "$JIS" info "$1" | grep >/dev/null 'recorded by patched natives' || fail "$1: not by patched natives"; }

# ask N: has the program call each method N times.
ask() {
	local before
	before=$(grep -c '^done' out || true)
	echo "call $1" >&8
	answered() { [ "$(grep -c '^done' out)" -gt "$before" ]; }
	wait_for 100 answered
}

twice() { # JAVA
	rm -rf in first second
	mkfifo in
	: >out
	"$1" -cp "$CLASSES" MethodsLive <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 100 grep -q READY out
	for trace in first second; do
		"${RECORD[@]}" -o $trace -p $program --methods-budget 0 --methods 'MethodsLive$*' 2>rec.err &
		recorder=$!
		attached() { "$JIS" attach -q -o "$trace" "$program" 2>/dev/null; }
		wait_for 100 attached
		ask 3000
		kill -INT $recorder
		wait $recorder || { cat rec.err; fail "the recorder ended with $?"; }
		ask 100
		by_patch $trace
		calls=$("$JIS" dump $trace | grep -c 'method_enter { method = [0-9]* (MethodsLive$Whole.inner)')
		[ "$calls" = 3000 ] || fail "$trace: $calls calls of 3000"
	done
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
}

redefined() { # JAVA
	rm -rf trace
	"${RECORD[@]}" -q --pool 16M --methods-budget 0 --methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' \
		-o trace -- "$1" -javaagent:redefiner.jar -cp "$CLASSES" CallsTold 20 3 >out 2>err ||
		{ cat err; fail "exit status $?"; }
	by_patch trace
	"$JIS" dump trace >dump
	python3 "$CHECKERS/methods.py" out dump || fail "calls are missed"
	redefinitions=$(sed -n 's/^REDEFINED //p' out)
	echo "redefined $redefinitions times"
	[ "$redefinitions" -gt 3 ] || fail "hardly redefined"
}

while read -r version java; do
	echo "JDK $version"
	twice "$java"
	redefined "$java"
done < <(jdks)
