#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How often methods are called, by whom, by which threads, how long the calls took, and what they waited for is what the
# program says that timed and counted its own calls, of virtual threads too; collapsed stacks and Paraver have the calls as
# the records nest; the dictionary has each method's loader, file and lines. On each JDK.
. "$(dirname "$0")/lib_methods.sh"
javap=$(dirname "$(readlink -f "$REAL_JAVA")")/javap
[ -x "$javap" ] || skip "no javap beside $REAL_JAVA"
"$javap" -p -l -s -cp "$CLASSES" 'CallTimes$Work' 'CallTimes$Graph' 'CallTimes$Other' >javap

# run NAME JAVA [virtual]: its statistics.
run() {
	local name=$1 java=$2 before steal
	shift 2
	before=$(steal_ns)
	"${RECORD[@]}" -q --methods-budget 0 --syscalls io,net,lock \
		--methods 'CallTimes$Work,CallTimes$Graph,CallTimes$Other,java.util.concurrent.Semaphore.release()V' -o "$name" -- \
		"$java" -cp "$CLASSES" CallTimes 4 25 "$@" >out 2>err || { cat err; fail "$name: exit status $?"; }
	steal=$(($(steal_ns) - before))
	echo "== $name, $((steal / 1000000)) ms taken by others"
	"$JIS" info --strict -q "$name" >info || { cat info; fail "$name: records were lost"; }
	python3 "$CHECKERS/call_times.py" out "$name" "$JIS" $steal "$@" || fail "$name: the statistics"
}

for line in "${JDKS[@]}"; do
	read -r version java <<<"$line"
	name=jdk$version
	run "$name" "$java"
	"$JIS" export paraver -q "$name" -o "$name.prv"
	python3 "$CHECKERS/nesting.py" "$name" "$JIS" "$name.prv" || fail "$name: the exports"
	"$JIS" dump -q --raw "$name" >dump
	python3 "$CHECKERS/methods_about.py" javap dump out || fail "$name: the dictionary"
	rm -rf "$name" "$name".*
	[ "$version" = 17 ] || run "$name-virtual" "$java" virtual
	rm -rf "$name-virtual"
done
