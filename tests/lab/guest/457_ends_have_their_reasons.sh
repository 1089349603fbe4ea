#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads of a killed process end with the signal, those of one that exits with its status, whoever called it.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

try_raw ends -C "$reason" ends
check()	# WORD CODE: three threads of that process ended with it
{
	local pid

	pid=$(sed -n "s/^$1 //p" "$LAB_OUT/ends")
	awk "$awk_fields"'$3 == "sched_process_exit" && v("pid") == pid { n++; if (v("exit_code") != code) { print; bad++ } }
	END { exit bad > 0 || n != 3 }' pid="$pid" code="$2" "$records.ends" ||
		fail "$1 $pid: $(grep sched_process_exit "$records.ends")"
	ok "$1: 3 threads with $2"
}
check killed 9
check left $((3 << 8))
