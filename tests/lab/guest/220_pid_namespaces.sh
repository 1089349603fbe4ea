#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process in a pid namespace is recorded from outside with both its numbers; from inside, the recorder
# names targets by the numbers it sees itself.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

unshare --pid --fork --kill-child sleep 1000 &
sleeper() { inside=$(pgrep -x sleep); }
wait_for 30 "a process in the namespace" sleeper
start_raw outside -C -p "$inside"
stop_raw outside "$raw_pid"
awk "$awk_fields"'$3 == "thread_state" && v("tid") == tid && v("ns_tid") == 1 { n++ } END { exit n != 1 }' tid="$inside" \
	"$records.outside" || fail "no ns_tid 1 for $inside: $(cat "$records.outside")"
ok "outside: tid $inside, ns_tid 1"
kill "$inside"

try_raw inside -C unshare --pid --fork "$load" family
awk "$awk_fields"'$3 == "sched_process_fork" && v("ns_tid") == 1 && v("tid") > 1 { n++ } END { exit n != 1 }' \
	"$records.inside" || fail "no fork with ns_tid 1: $(grep fork "$records.inside")"
ok "a fork into a new namespace"

unshare --pid --fork --mount-proc "$raw" -o "$records.within" "$load" pingpong 200 >"$LAB_OUT/within" 2>&1 ||
	fail "recording within a namespace: $(cat "$LAB_OUT/within")"
switches=$(grep -c ' sched_switch ' "$records.within")
[ "$switches" -gt 200 ] || fail "$switches switches recorded from within a namespace"
ok "within: $switches switches"
