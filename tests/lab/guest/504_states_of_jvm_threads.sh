#!/bin/bash
# SPDX-License-Identifier: MIT
#
# When a Java thread leaves a CPU, the trace has what HotSpot thought of it: one that parks, sleeps or waits
# is blocked, and how; one in a system call of its own is in native code; one that is preempted computes. The
# numbers are those the JVM itself exports by name. Threads of a JVM that are not Java's have none.
# lab-timeout: 600

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
for home in /usr/lib/jvm/java-*-openjdk-*; do
	[ -x "$home/bin/java" ] && [ ! -L "$home" ] || continue
	name=${home##*/}
	for how in "" --no-vm-states; do
		rm -rf "$LAB_TMP/trace"
		# shellcheck disable=SC2086 # an option or none
		"$JIS" record -o "$LAB_TMP/trace" --backend kmod $how -- "$home/bin/java" "${jvm_fast[@]}" \
			-cp "$JIS_BUILD/tests/classes" VmStates 240 >"$LAB_OUT/$name$how" 2>&1 || fail "$name: $(tail "$LAB_OUT/$name$how")"
		grep -q '^done$' "$LAB_OUT/$name$how" || fail "$name: the program has not ended well"
		grep -i 'not recorded: unknown layout' "$LAB_OUT/$name$how" && fail "$name: its layout is not known"
		"$JIS" dump "$LAB_TMP/trace" | tr -d ',' >"$LAB_OUT/dump" || fail "$name: dump"
		# tid, state, both words of each switch of the threads named st-*
		awk '
		function v(name,   i) { for (i = 1; i < NF; i++) if ($i == name && $(i + 1) == "=") return $(i + 2); return "" }
		/ java_thread_start .*name = "st-/ { match($0, /"st-[a-z]*"/); who[v("tid")] = substr($0, RSTART + 1, RLENGTH - 2) }
		/ sched_switch / && v("prev_tid") in who {
			print who[v("prev_tid")], v("prev_state"), v("prev_vm_state"), v("prev_os_state") }
		' "$LAB_OUT/dump" | sort | uniq -c >"$LAB_OUT/$name$how.states"
		if [ -n "$how" ]; then
			awk '{ n++ } $4 || $5 { print; bad++ } END { exit bad > 0 || n < 6 }' "$LAB_OUT/$name$how.states" ||
				fail "$name: states in spite of $how: $(cat "$LAB_OUT/$name$how.states")"
			continue
		fi
		# HotSpot: _thread_in_native 4, _thread_in_vm 6, _thread_in_Java 8, _thread_blocked 10, odd ones between;
		# RUNNABLE 2, MONITOR_WAIT 3, CONDVAR_WAIT 4, OBJECT_WAIT 5, SLEEPING 7
		awk '
		# before it is registered, and when it is gone, a thread has none
		$4 == 0 && $5 == 0 { if ($3 != "0x4" && $1 > 5) { print "no states: " $0; bad++ } next }
		$4 < 2 || $4 > 11 || $5 < 1 || $5 > 8 { print "no states: " $0; bad++ }
		$3 == "0x1" { n[$2, $4, $5] += $1; all[$2] += $1 }
		# At least 40 of 240: a busy host may keep an emulated CPU for longer than the 3 ms, which then are over at once.
		function most(who, vm, os,   k, sum, i, list) {
			k = split(os, list, " ")
			for (i = 1; i <= k; i++)
				sum += n[who, vm, list[i]]
			if (sum < 40 || sum * 10 < all[who] * 6) { print who ": " sum " of " all[who] " are " vm " " os; bad++ }
		}
		END {
			most("st-park", 10, "4")
			most("st-sleep", 10, "4 7")
			most("st-wait", 10, "5")
			most("st-native", 4, "2")
			exit bad > 0
		}' "$LAB_OUT/$name.states" >"$LAB_OUT/$name.verdict" ||
			fail "$name: $(cat "$LAB_OUT/$name.states" "$LAB_OUT/$name.verdict")"
		awk '$2 == "st-monitor" && $4 == 10 && $5 == 3 { n += $1 } END { exit n < 10 }' "$LAB_OUT/$name.states" ||
			fail "$name: st-monitor was hardly ever blocked at its monitor: $(cat "$LAB_OUT/$name.states")"
	done
	ok "$name: $(wc -l <"$LAB_OUT/$name.states") kinds of states"
	tested=1
done
[ -n "${tested:-}" ] || skip "no JVM here"
