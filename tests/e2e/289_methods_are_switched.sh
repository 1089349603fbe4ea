#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Methods are switched on and off while the program runs, also one that was attached to; what was attached to is as
# exact as what was started. What is told of a method (its flags) is what is recorded of it from then on.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"

# ask N: has the program call each N times.
live_ask() {
	local before
	before=$(grep -c '^done' out || true)
	echo "call $1" >&8
	live_done() { [ "$(grep -c '^done' out)" -gt "$before" ]; }
	wait_for 60 live_done
}

live() { # JAVA ATTACH
	local java=$1 attach=$2 v trace
	v=$(java_version "$java")
	trace=live$v$attach
	echo "== $v live${attach:+, attached}"
	rm -f in
	mkfifo in
	: >out
	if [ "$attach" ]; then
		"$java" -cp "$CLASSES" MethodsLive <in >out 2>err &
		program=$!
		exec 8>in
		wait_for 60 grep -q READY out
		jvm=$(jvm_below $program)
		live_ask 2
		record_start "$trace" -p "$jvm" --methods none
		ready() { "$JIS" attach -q -o "$trace" "$jvm" 2>/dev/null; }
		wait_for 60 ready
	else
		"${RECORD[@]}" -o "$trace" --methods none -- "$java" -cp "$CLASSES" MethodsLive <in >out 2>err &
		program=$!
		exec 8>in
		wait_for 60 grep -q READY out
		jvm=$(jvm_below $program)
	fi
	live_ask 5
	"$JIS" methods -q -o "$trace" --on "${P}Whole.*" "$jvm"
	live_ask 7
	expect_status 0 "$JIS" methods -o "$trace" --off "${P}Whole.inner" --on "${P}Other.plain" "$jvm"
	expect_says "1 methods on, 1 off"
	live_ask 11
	"$JIS" methods -q -o "$trace" --on "mark:${P}Whole.outer" "$jvm"
	live_ask 3
	"$JIS" methods -q -o "$trace" --off '**' "$jvm"
	live_ask 13
	expect_status 1 "$JIS" methods -o "$trace" --on 'a:b' "$jvm"
	if [ "$attach" ]; then
		record_end
		live_ask 2
		exec 8>&-
		wait $program || fail "the program ended with $?"
		! grep -q jis-pool "/proc/$jvm/maps" 2>/dev/null || fail "the pool is left"
	else
		exec 8>&-
		wait $program || { cat err; fail "the program ended with $?"; }
	fi
	expect "$trace" "${P}Whole.serve 21" "${P}Whole.outer 21" "${P}Whole.inner 7" "${P}Other.plain 14" "${P}Whole.<init> 3"
	"$JIS" dump --event methods_changed "$trace" >changed
	[ "$(grep -c 'asked = 2' changed)" = 4 ] || { cat changed; fail "not four changes"; }
	[ "$("$JIS" dump --event method_off "$trace" | grep -c 'asked = 2, calls = 0')" = 5 ] || fail "not five methods were switched off"
	# Marked later, and told so: once as it was, once as a span too.
	"$JIS" dump --event traced_method "$trace" | sed -n 's/.*Whole\.outer.* flags = \(0x[0-9a-f]*\).*/\1/p' >flags
	[ "$(wc -l <flags)" = 2 ] && [ $(($(head -1 flags) & 0x80)) = 0 ] && [ $(($(tail -1 flags) & 0x80)) = 128 ] ||
		{ cat flags; fail "the flags of a method that was marked later"; }
	[ "$("$JIS" dump --event span_begin "$trace" | wc -l)" = 3 ] || fail "not three spans"
	rm -rf "$trace"
}

# All shapes of calls, in a JVM that is attached to before they begin.
exact() { # JAVA
	local trace
	trace=exact$(java_version "$1")
	rm -f in
	mkfifo in
	: >out
	"$1" -Xcheck:jni -cp "$CLASSES" CallsTold 10 2 wait <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 60 grep -q READY out
	jvm=$(jvm_below $program)
	record_start "$trace" -p "$jvm" --pool 64M --methods-budget 0 \
		--methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow'
	ready() { "$JIS" attach -q -o "$trace" "$jvm" 2>/dev/null; }
	wait_for 60 ready
	echo go >&8
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
	wait "$recorder" || { cat rec.err; fail "the recorder ended with $?"; }
	! grep -v '^WARNING: A JVM TI agent\|^WARNING: If a serv\|^WARNING: Dynamic loading' err | grep . || fail "the JVM says something"
	"$JIS" dump "$trace" >dump
	python3 "$CHECKERS/methods.py" out dump || fail "$trace"
	rm -rf "$trace"
}

for java in "${JDKS[@]#* }"; do
	live "$java" ""
	live "$java" attached
	exact "$java"
done
