#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A cgroup as target: its members and those of cgroups below it, those that were there, those born there,
# those that come later, each introduced before its first use; nobody else, and who leaves is out.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

mine=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir -p "$mine/in/below" "$mine/out" || fail "no cgroups below $mine"

join() { echo "$1" >"$mine/$2/cgroup.procs" || fail "$1 cannot join $2"; }

start_sleeper before 2 150
before=$sleeper_pid
join "$before" in
start_sleeper below 1 150 unshare --pid --fork --kill-child
below=$(pgrep -P "$sleeper_pid")
below_parent=$sleeper_pid
join "$below" in/below
start_sleeper late 2 150
late=$sleeper_pid
join "$late" out
start_sleeper never 2 150
never=$sleeper_pid
join "$never" out
start_sleeper leaver 2 150
leaver=$sleeper_pid
join "$leaver" in

start_raw cgroup -b $((32 << 20)) -x "cgroup:$mine/in"
join "$late" in
join "$leaver" out
kill -USR1 "$before" "$below" "$late" "$never" "$leaver"
bash -c 'echo $$ >'"$mine/in/below/cgroup.procs; exec \"$sleeper\" 2 150" >"$LAB_OUT/born" 2>&1 || fail "one born there"
wait "$before" "$below_parent" "$late" "$never" "$leaver"
stop_raw cgroup "$raw_pid"
rmdir "$mine/in/below" "$mine/in" "$mine/out" || fail "a cgroup cannot be removed"

all_there cgroup before
all_there cgroup late
all_there cgroup born
# the one in a namespace of its own says its inner numbers
inside=$(threads_of below)
tid=$(awk "$awk_fields"'$3 == "thread_state" && v("ns_tid") == inside && v("pid") == pid { print v("tid"); exit }' \
	inside="$inside" pid="$below" "$records.cgroup")
[ -n "$tid" ] && [ "$tid" != "$inside" ] || fail "no thread_state with ns_tid $inside of $below"
[ "$(slept cgroup "$tid")" = "$(awk '$1 == "slept" { print $3 }' "$LAB_OUT/below")" ] || fail "below: not its sleeps"
# shellcheck disable=SC2046 # numbers
nothing_of cgroup $(threads_of never)
for t in $(threads_of leaver); do
	grep -q " task_rename tid=$t " "$records.cgroup" && fail "$t is recorded though it has left"
done
introduced_first cgroup
ok "before, below, late and born: all; never and leaver: nothing"

# Threads that are there when it begins are told of once, those that come when they are first seen.
for t in $(threads_of before); do
	[ "$(grep -c " thread_state tid=$t " "$records.cgroup")" = 1 ] || fail "$t is introduced $(grep -c " thread_state tid=$t " "$records.cgroup") times"
done
ok "introduced once"
