#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that blocks leaves its CPU with the number of the call it blocks in, 32-bit calls marked, though no
# call is recorded; so does one that is taken off the CPU within a call; one that is in user mode is in none; of others
# it is not looked at.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

block=$JIS_BUILD/tests/lab/jisblock

try_raw block "$block" block
tid=$(sed -n 's/^thread //p' "$LAB_OUT/block")
sed -n 's/^call //p' "$LAB_OUT/block" >"$LAB_OUT/expected"
sort -s -n -k2,2 "$records.block" | awk -v tid="$tid" "$awk_fields"'
$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
on && $3 == "sched_switch" && v("prev_tid") == tid && v("prev_state") == "0x1" { print v("prev_syscall") }' \
	>"$LAB_OUT/recorded"
[ "$(wc -l <"$LAB_OUT/expected")" -ge 4 ] || fail "the program blocked in nothing: $(cat "$LAB_OUT/block")"
diff "$LAB_OUT/expected" "$LAB_OUT/recorded" || fail "blocked in (<), recorded (>)"
ok "blocked in $(paste -sd' ' "$LAB_OUT/recorded")"

try_raw spin "$block" spin 1500
sort -s -n -k2,2 "$records.spin" | awk "$awk_fields"'
BEGIN { while ((getline line < ARGV[1]) > 0) if (split(line, w, " ") == 2 && w[1] == "thread") spinner[w[2]] = 1; ARGV[1] = "-" }
$3 == "task_rename" && v("tid") in spinner { on[v("tid")] = v("comm") == "begin" }
$3 == "sched_switch" && v("prev_tid") in spinner && on[v("prev_tid")] {
	n[v("prev_syscall")]++
	# the very switch after its rename may still find it in prctl
	if (v("prev_syscall") != -1 && v("prev_syscall") != 157) bad++
}
END { print n[-1] + 0, n[157] + 0, bad + 0; exit bad > 0 || n[-1] < 10 || n[157] > 2 }' "$LAB_OUT/spin" - >"$LAB_OUT/user" ||
	fail "in user mode, in prctl, elsewhere: $(cat "$LAB_OUT/user")"
ok "in user mode: none ($(cat "$LAB_OUT/user"))"

try_raw within "$block" within 2000
read -r _ tid _ counted < <(grep '^thread ' "$LAB_OUT/within")
sort -s -n -k2,2 "$records.within" | awk -v tid="$tid" "$awk_fields"'
$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
on && $3 == "sched_switch" && v("prev_tid") == tid {
	if (v("prev_state") == "0x100") { n++; where[v("prev_syscall")]++ } else { print; bad++ }
}
END {
	for (c in where) if (c != 0 && c != -1 && c != 157 && c != 98) bad++ # prctl and getrusage before and after
	print n + 0, where[0] + 0, where[-1] + 0, bad + 0
	exit bad > 0
}' >"$LAB_OUT/places" || fail "switches of one that reads, in read, in user mode, elsewhere: $(tail -n 3 "$LAB_OUT/places")"
read -r told within user _ <"$LAB_OUT/places"
# it may be preempted between its rename and its looking at its counters
[ $((told - counted)) -le 2 ] && [ $((counted - told)) -le 2 ] || fail "preempted $counted times, $told are recorded"
[ "$within" -ge 10 ] || fail "of $told switches only $within in a read"
[ "$user" -le $((told / 10 + 1)) ] || fail "of $told switches $user in user mode, where it hardly was"
ok "preempted $counted times: $within within a read, $user in user mode"

awk "$awk_fields"'
$3 == "thread_state" || $3 == "sched_process_fork" { target[v("tid")] = 1 }
$3 == "sched_switch" && !(v("prev_tid") in target) { n++; if (v("prev_syscall") != -2) bad++ }
END { exit bad > 0 || !n }' <(sort -s -n -k2,2 "$records.spin") || fail "the call of a foreign thread was told"
ok "not looked at for others"
