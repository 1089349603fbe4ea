#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Children of a target are recorded from their birth to their end when that was asked for, their children
# and threads too, and not otherwise.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

who()	# NAME WORD
{
	sed -n "s/^$2 //p" "$LAB_OUT/$1"
}

has()	# NAME EVENT FIELD=VALUE...
{
	local name=$1 event=$2 line

	shift 2
	line=$(grep " $event " "$records.$name")
	for f; do
		line=$(grep -E "( |^)$f( |\$)" <<<"$line") || return 1
	done
}

must()
{
	has "$@" || fail "missing: $*"
}

try_raw with -C "$load" family
parent=$(who with parent) child=$(who with child) grandchild=$(who with grandchild)
must with sched_process_fork "parent_tid=$parent" "tid=$child" "pid=$child"
must with sched_process_fork "parent_tid=$child" "tid=$grandchild" "pid=$grandchild" comm=jisload
grep ' sched_process_fork ' "$records.with" | grep "parent_tid=$child " | grep -v "tid=$grandchild " |
	grep -q " pid=$child " || fail "the child's thread is missing"
for p in $child $grandchild; do
	must with sched_wakeup_new "tid=$p"
	must with sched_switch "next_tid=$p"
	must with sched_process_exit "tid=$p"
done
must with sched_process_exec "tid=$grandchild" "old_tid=$grandchild" filename=.*/true
must with task_rename "tid=$grandchild" comm=true
must with sched_process_exit "tid=$child" exit_code=1792
ok "with children"

# nothing of a child before its fork
sort -s -n -k2,2 "$records.with" | awk "$awk_fields"'
$3 == "sched_process_fork" || $3 == "thread_state" { born[v("tid")] = 1 }
$3 == "sched_wakeup_new" && !(v("tid") in born) { print; bad++ }
END { exit bad > 0 }' || fail "a thread wakes before its fork is recorded"
ok "birth comes first"

try_raw without "$load" family
parent=$(who without parent) child=$(who without child) grandchild=$(who without grandchild)
has without sched_process_fork "tid=$child" && fail "the fork of a child that was not asked for"
for event in sched_process_exit sched_wakeup sched_wakeup_new sched_waking; do
	has without $event "tid=$child" && fail "$event of a child that was not asked for"
	has without $event "tid=$grandchild" && fail "$event of a grandchild that was not asked for"
done
must without sched_process_exit "tid=$parent"
ok "without children"
