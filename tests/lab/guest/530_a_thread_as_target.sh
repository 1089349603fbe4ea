#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread as target: all of its switches and nothing of its siblings; its children are not followed.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

start_sleeper two 2 200
read -r one other < <(threads_of two | paste -sd' ')
start_raw thread -x "thread:$one"
kill -USR1 "$sleeper_pid"
wait "$sleeper_pid" || fail "the sleeper ended with $?"
stop_raw thread "$raw_pid"
n=$(awk -v tid="$one" '$1 == "slept" && $2 == tid { print $3 }' "$LAB_OUT/two")
[ "$(slept thread "$one")" = "$n" ] || fail "$one slept $n times, $(slept thread "$one") are recorded"
nothing_of thread "$other" "$sleeper_pid"
[ "$(grep -c ' thread_state ' "$records.thread")" = 1 ] || fail "$(grep -c ' thread_state ' "$records.thread") threads introduced"
between_others thread >"$LAB_OUT/foreign" || fail "switches of others: $(head -n 3 "$LAB_OUT/foreign")"
grep -q " sched_process_exit tid=$one " "$records.thread" || fail "its end is missing"
introduced_first thread
ok "thread $one of $sleeper_pid: $n sleeps, and nothing of $other"

# by its number in a namespace, from within
unshare --pid --fork --mount-proc bash -c '
	. "$0/lib.sh"; raw=$1; records=$2; sleeper=$3
	'"$(declare -f start_raw is_recording stop_raw start_sleeper threads_of)"'
	start_sleeper inside 1 100
	start_raw within -x "thread:$(threads_of inside)"
	kill -USR1 "$sleeper_pid"; wait "$sleeper_pid"
	stop_raw within "$raw_pid"' "$(dirname "$0")" "$raw" "$records" "$sleeper" || fail "within a namespace: see above"
inside=$(threads_of inside)
tid=$(awk "$awk_fields"'$3 == "thread_state" && v("ns_tid") == inside { print v("tid") }' inside="$inside" "$records.within")
[ -n "$tid" ] && [ "$tid" != "$inside" ] || fail "no thread_state with ns_tid $inside: $(grep thread_state "$records.within")"
[ "$(slept within "$tid")" = "$(awk '$1 == "slept" { print $3 }' "$LAB_OUT/inside")" ] || fail "not its sleeps within a namespace"
ok "within a namespace: $inside, outside $tid"
