#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With all switches recorded, the thread that leaves a CPU is the one the switch before brought there, on
# each CPU from the first record to the last; and every thread that is no target was named before.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

check_chain()	# NAME
{
	awk "$awk_fields"'
	$3 == "sched_switch" {
		n++
		if ($1 in on && on[$1] != v("prev_tid")) { print $0 ": CPU " $1 " was held by " on[$1]; bad++ }
		on[$1] = v("next_tid")
	}
	END { print n " switches"; exit bad > 0 || n < 1000 }' "$records.$1" >"$LAB_OUT/chain.$1" ||
		fail "$1: $(head -n 5 "$LAB_OUT/chain.$1")"
	ok "$1: chain of $(cat "$LAB_OUT/chain.$1")"
}

check_names()	# NAME: in time order, each tid that is no target thread has a name before it is used
{
	sort -s -n -k2,2 "$records.$1" | awk "$awk_fields"'
	$3 == "task_name" || $3 == "thread_state" || $3 == "sched_process_fork" { known[v("tid")] = 1 }
	$3 == "sched_switch" { use(v("prev_tid")); use(v("next_tid")) }
	$3 == "sched_waking" { use(v("waker_tid")) }
	function use(tid) { if (tid != 0 && !(tid in known)) { print $0 ": " tid " is nobody"; known[tid] = 1; bad++ } }
	END { exit bad > 0 }' >"$LAB_OUT/names.$1" || fail "$1: $(head -n 5 "$LAB_OUT/names.$1")"
	ok "$1: names before use"
}

(while :; do /bin/true; done) &
try_raw all -a -b $((64 << 20)) "$load" cross 1500
[ "$(lost_of all)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/all")"
check_chain all
check_names all

try_raw some -b $((64 << 20)) "$load" cross 1500
kill %1
check_names some
between_others some >"$LAB_OUT/foreign" ||
	fail "a switch between two threads that are no targets, and no target waits there: $(head -n 3 "$LAB_OUT/foreign")"
ok "without -a only switches that touch a target, or that a target waits behind: $(tail -n 1 "$LAB_OUT/foreign")"
