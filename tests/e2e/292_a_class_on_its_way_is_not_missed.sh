#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A class whose class file has gone by, and which is not loaded yet, when its methods are switched on or off, has them
# on or off for sure: the program holds it up at that very place.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"
need_root

late() { # JAVA METHODS SWITCH PATTERN COUNT...
	local java=$1 methods=$2 switch=$3 pattern=$4 trace
	shift 4
	trace=late$(java_version "$java")$switch
	rm -f in
	mkfifo in
	: >out
	"${RECORD[@]}" -o "$trace" --methods-budget 0 --methods "$methods" -- "$java" -cp "$CLASSES" MethodsRace 1000 <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 60 grep -q PARKED out
	jvm=$(jvm_below $program)
	# The recorder may hear later than the program runs that its agent is ready.
	switch_it() { "$JIS" methods -o "$trace" "$switch" "$pattern" "$jvm" >switched 2>&1; }
	wait_for 60 switch_it
	grep -q '0 methods on, 0 off' switched || { cat switched; fail "the class was there already"; }
	echo go >&8
	exec 8>&-
	wait $program || { cat err; fail "the program ended with $?"; }
	counts "$trace" >got
	printf '%s\n' "$@" | sed '/^$/d' >want
	diff want got || fail "$trace: the calls are not those"
	rm -rf "$trace"
}

L='MethodsRace$Late'
for java in "${JDKS[@]#* }"; do
	late "$java" none --on "$L.count,$L.run" "$L.count 1000" "$L.run 1000"
	late "$java" "$L.count,$L.run" --off "$L.run" "$L.count 1000"
done
