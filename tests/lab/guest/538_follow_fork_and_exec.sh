#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is followed: with UNTIL_EXEC a process is recorded until it becomes another program, children too, but
# for the command's own start.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

cat >"$LAB_TMP/program" <<-SH
	(echo "sub \$BASHPID" >"$LAB_OUT/sub"; exec "$sleeper" 1 50 >"$LAB_OUT/under")
	exec "$sleeper" 1 60 >"$LAB_OUT/after"
SH
for how in "-C" "-C -U"; do
	# shellcheck disable=SC2086 # options
	try_raw follow $how bash "$LAB_TMP/program"
	sub=$(awk '{ print $2 }' "$LAB_OUT/sub")
	grep -q " sched_process_fork .* tid=$sub " "$records.follow" || fail "$how: the child's birth is missing"
	grep -q " sched_process_exec tid=$sub .*jissleep" "$records.follow" || fail "$how: the child's exec is missing"
	if [ "$how" = -C ]; then
		all_there follow under
		all_there follow after
	else
		grep ' sched_process_exec .*/bash' "$records.follow" >/dev/null || fail "$how: the command's start is missing"
		grep ' task_rename .*comm=begin' "$records.follow" && fail "$how: recorded as another program"
		grep " sched_process_exit tid=$sub " "$records.follow" && fail "$how: recorded to its end"
	fi
	ok "$how"
done
"$JIS" record -o "$LAB_TMP/trace" --follow fork -- bash "$LAB_TMP/program" >"$LAB_OUT/jis" 2>&1 || fail "jis record: $(cat "$LAB_OUT/jis")"
"$JIS" dump "$LAB_TMP/trace" >"$LAB_OUT/dump"
grep -q 'comm = "begin"' "$LAB_OUT/dump" && fail "--follow fork: recorded as another program"
grep -q 'sched_process_exec .*jissleep' "$LAB_OUT/dump" || fail "--follow fork: no exec"
"$JIS" info "$LAB_TMP/trace" | grep '^recorded of .*, children, until exec' >/dev/null || fail "jis info does not say it"
ok "--follow fork"
