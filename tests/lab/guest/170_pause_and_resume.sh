#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Nothing is recorded between pause and resume, though targets work, are born and die; after it the threads
# are described anew, those born meanwhile included, and what died is no target.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

mkfifo "$LAB_TMP/in"
bash -c 'while read -r line; do (read -r _ <<<"$line"; sleep 0.01); eval "$line"; echo done; done' <"$LAB_TMP/in" >"$LAB_TMP/said" &
pid=$!
exec 5>"$LAB_TMP/in"
said() { [ "$(grep -c "done" "$LAB_TMP/said")" -ge "$1" ]; }
n=0
tell()
{
	n=$((n + 1))
	echo "$*" >&5
	wait_for 60 "an answer to '$*'" said $n
}

start_raw paused -C -f 20 -p "$pid"
tell :
sleep 0.3
kill -USR1 "$raw_pid"
sleep 0.3
for _ in 1 2 3 4 5; do tell :; done
tell 'sleep 1000 & echo "born $!"'
born=$(sed -n 's/^born //p' "$LAB_TMP/said")
sleep 0.3
kill -USR2 "$raw_pid"
sleep 0.3
tell :
sleep 0.3
stop_raw paused "$raw_pid"
kill "$born"
exec 5>&-

sort -s -n -k2,2 "$records.paused" >"$LAB_TMP/sorted"
dumps=$(awk "$awk_fields"'$3 == "thread_state" && v("tid") == pid { print $2 }' pid="$pid" "$LAB_TMP/sorted" | wc -l)
[ "$dumps" = 2 ] || fail "$dumps dumps of the shell, not one at start and one at resume"
awk "$awk_fields"'$3 == "thread_state" && v("tid") == born { found = 1 } END { exit !found }' born="$born" "$LAB_TMP/sorted" ||
	fail "what was born during the pause ($born) is not in the dump at its end"
# each answer takes one fork: one before the pause and one after it are recorded, those between are not
forks=$(grep -c ' sched_process_fork ' "$LAB_TMP/sorted")
[ "$forks" = 2 ] || fail "$forks forks recorded, not 2"
ok "$(grep -c "done" "$LAB_TMP/said") answers, $forks of them recorded; 2 dumps"
