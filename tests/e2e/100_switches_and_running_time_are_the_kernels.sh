#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each switch of each thread is in the trace, its running time is that of the kernel's book within 1 % and 2 us
# a switch, each marker is there in its order; with both clocks, with and without the switches of all others.
. "$(dirname "$0")/lib_jisctl.sh"
. "$(dirname "$0")/lib_watch.sh"

# Does this kernel's tracepoint show each switch meanwhile? Where it does, none may be missing.
run() { # NAME OPTION...
	local name=$1 before steal missed=0
	shift
	watch_begin
	before=$(steal_ns)
	minirec "$@" "$TESTDIR/$name" -- "$WITNESS" 2 3000 20000 200000 >"$TESTDIR/$name.out"
	steal=$(($(steal_ns) - before))
	if ! watch_end && [ "$BACKEND" != kmod ]; then
		echo "this kernel's sched_switch tracepoint misses switches: what it does not show is not judged"
		# An idle machine's misses are many: most switches that end idling. Each shows as up to two oddities.
		missed=200
	fi
	counts "$TESTDIR/$name"
	python3 "$CHECKERS/witness.py" "$TESTDIR/$name" "$TESTDIR/$name.out" --steal "$steal" --missed $missed ||
		fail "$name"
}

run auto
run raw -c raw
run all -a
run fast-flush -f 10
