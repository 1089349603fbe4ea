#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The jump in the JVM's code for natives, and calls of them by its foreign linker, when it matters: recordings of a JVM
# that runs, one after the other, find each usable, as often as it is wanted, and are exact; and while another agent has
# the class of the probes redefined again and again, which makes the JVM give up the code that was patched, or that calls,
# no call is missed, and the JVM lives; and threads stop in loops of such calls. On each JDK that is here.
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

by() { "$JIS" info "$2" | grep >/dev/null "recorded by $1 natives" || fail "$2: not by $1 natives"; }

# ask N: has the program call each method N times.
ask() {
	local before
	before=$(grep -c '^done' out || true)
	echo "call $1" >&8
	answered() { [ "$(grep -c '^done' out)" -gt "$before" ]; }
	wait_for 100 answered
}

# Nor does a program that calls without end outlive a test that has failed.
program=
trap '[ -z "$program" ] || kill -9 "$program" 2>/dev/null || :' EXIT

# What a way is had by.
declare -A without=([patched]="" [linked]=--no-patch [JNI]=--jni-probes)

again_and_again() { # JAVA WAY...
	local java=$1 way number=0
	shift
	rm -rf in trace*
	mkfifo in
	: >out
	"$java" -cp "$CLASSES" MethodsLive <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 100 grep -q READY out
	for way in "$@"; do
		trace=trace$((++number))
		# shellcheck disable=SC2086 # an option, or none
		"${RECORD[@]}" ${without[$way]} -o $trace -p $program --methods-budget 0 --methods 'MethodsLive$*' 2>rec.err &
		recorder=$!
		attached() { "$JIS" attach -q -o "$trace" "$program" 2>/dev/null; }
		wait_for 100 attached
		ask 3000
		kill -INT $recorder
		wait $recorder || { cat rec.err; fail "the recorder ended with $?"; }
		ask 100
		by $way $trace
		calls=$("$JIS" dump $trace | grep -c 'method_enter { method = [0-9]* (MethodsLive$Whole.inner)')
		[ "$calls" = 3000 ] || fail "$trace: $calls calls of 3000"
	done
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
}

redefined() { # WAY CLASS JAVA
	rm -rf trace
	# shellcheck disable=SC2086 # an option, or none
	"${RECORD[@]}" -q --pool 16M ${without[$1]} --methods-budget 0 --methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' \
		-o trace -- "$3" "-javaagent:redefiner.jar=$2" -cp "$CLASSES" CallsTold 20 3 >out 2>err ||
		{ cat err; fail "exit status $?"; }
	by "$1" trace
	"$JIS" dump trace >dump
	python3 "$CHECKERS/methods.py" out dump || fail "calls are missed"
	redefinitions=$(sed -n 's/^REDEFINED //p' out)
	echo "redefined $redefinitions times"
	[ "$redefinitions" -gt 3 ] || fail "hardly redefined"
}

# Recordings that begin and end while threads are in the midst of calls: at each end the JVM has all threads stop once, as
# its own log says, so that none is in the pool when it goes; and what they have is whole.
in_midst() { # WAY JAVA
	"$2" -Xlog:safepoint:file=safepoints -cp "$CLASSES" CallsTold 10000000 6 >out 2>err &
	program=$!
	wait_for 100 grep -q READY out
	all=0
	for ((i = 0; i < 5; i++)); do
		# shellcheck disable=SC2086 # an option, or none
		"${RECORD[@]}" -q ${without[$1]} -o midst$i -p $program --pool 32M --methods-budget 0 --duration 500ms \
			--methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' 2>rec.err ||
			{ cat rec.err; fail "the recorder ended with $?"; }
		! grep -q jis-pool /proc/$program/maps || fail "the pool is still mapped"
		by "$1" midst$i
		"$JIS" info midst$i >info
		grep -q '^no damaged interval' info || { cat info; fail "something is damaged"; }
		read -r _ _ produced stored lost < <(grep '^of processes ' info)
		[ "$produced" = "$stored" ] && [ "$lost" = 0 ] || { cat info; fail "not whole"; }
		all=$((all + stored))
		rm -r midst$i
	done
	stops=$(grep -c 'GetAllStackTraces' safepoints || true)
	echo "$all records of $1 natives, $stops stops of all threads"
	[ "$stops" -ge 5 ] || fail "threads were not stopped at each end"
	[ "$all" -gt 2000 ] || fail "that is hardly in the midst of calls"
	kill -0 $program || { cat err; fail "the program has ended"; }
	kill $program
	wait $program || :
}

# A thread in a loop of calls, which compilers take for places to stop at, stops when the JVM wants it to. Without that
# the JVM would wait for the loop's end, which comes in hours.
stops() { # WAY JAVA
	local kind status
	for kind in 'told LongLoop$Told.step' 'library library:LongLoop$Library.*'; do
		# shellcheck disable=SC2086 # an option, or none
		"${RECORD[@]}" -q ${without[$1]} --pool 32M --methods-budget 0 --methods "${kind#* }" -o stops -- \
			timeout -s KILL 100 "$2" -cp "$CLASSES" LongLoop "${kind% *}" 3 >out 2>err || {
			status=$?
			cat out err
			fail "${kind% *} by $1 natives: exit status $status"
		}
		by "$1" stops
		"$JIS" info stops | grep 'recorded by'
		echo "${kind% *} by $1 natives: $(tr '\n' ' ' <out)"
		[ "$(grep -c '^stopped [1-9]' out)" = 3 ] || fail "not stopped as often as asked for"
		rm -r stops
	done
}

while read -r version java; do
	echo "JDK $version"
	again_and_again "$java" patched linked linked JNI patched linked
	in_midst patched "$java"
	in_midst linked "$java"
	redefined patched 'java.lang.JProbe$' "$java"
	stops patched "$java"
	stops linked "$java"
	redefined linked 'java.lang.invoke.JProbe$' "$java"
done < <(jdks)
