#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Members of the module's group record their own processes, and see nothing of others: no targets of other
# users, no cgroups or machine-wide events, no names of foreign threads; a process of theirs that executes
# a set-user-ID program is no longer shown.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

rights=$JIS_BUILD/tests/lab/jisrights
raw=$JIS_BUILD/tests/lab/jisraw
load=$JIS_BUILD/tests/lab/jisload
member=(setpriv --reuid 4001 --regid 4001 --groups 4321)

load_module gid=4321
[ "$(cat /sys/module/jis/parameters/gid)" = 4321 ] || fail "the parameter gid is $(cat /sys/module/jis/parameters/gid)"
chgrp 4321 /dev/jis && chmod 660 /dev/jis
setpriv --reuid 4001 --regid 4001 --clear-groups "$raw" true >"$LAB_OUT/outsider" 2>&1 &&
	fail "who is not in the group can record"
"$rights" group 4001 4321 4002 || fail "see above"
ok "rights of members"

install -d -o 4001 "$LAB_TMP/own"
"${member[@]}" "$raw" -C -o "$LAB_TMP/own/records" "$load" cross 500 >"$LAB_OUT/own" 2>&1 ||
	fail "a member cannot record: $(tail "$LAB_OUT/own")"
[ "$(grep -c ' sched_switch ' "$LAB_TMP/own/records")" -gt 500 ] || fail "hardly any switches"
grep -q ' thread_state .*comm=jis' "$LAB_TMP/own/records" || fail "no names of its own"
grep -q ' task_name ' "$LAB_TMP/own/records" || fail "no foreign thread is mentioned"
grep ' task_name ' "$LAB_TMP/own/records" | grep -v 'comm=$' && fail "names of foreign threads"
ok "its own, and no foreign name"

# Nor what others do on a CPU for which a thread of the member's waits.
for ((i = 0; i < 2; i++)); do
	"$load" pingpong 100000 >/dev/null 2>&1 &
	others[i]=$!
done
"${member[@]}" "$raw" -C -o "$LAB_TMP/own/waits" chrt -i 0 bash -c "for ((i = 0; i < $(nproc); i++)); do
	(end=\$((SECONDS + 3)); while [ \$SECONDS -lt \$end ]; do :; done) & done; wait" >"$LAB_OUT/waits" 2>&1 ||
	fail "a member cannot record: $(tail "$LAB_OUT/waits")"
kill "${others[@]}"
sed -n 's/.* \(thread_state\|sched_process_fork\) \(.* \)\?tid=\([0-9]*\) .*/\3/p' "$LAB_TMP/own/waits" | sort -u >"$LAB_TMP/mine"
[ "$(wc -l <"$LAB_TMP/mine")" -gt "$(nproc)" ] || fail "its own threads are not introduced: $(cat "$LAB_TMP/mine")"
awk 'function v(name,   i) { for (i = 4; i <= NF; i++) if (index($i, name "=") == 1) return substr($i, length(name) + 2) }
	NR == FNR { mine[$1]; next }
	$3 == "sched_switch" { n++; if (!(v("prev_tid") in mine) && !(v("next_tid") in mine)) { print; bad = 1 } }
	END { exit bad || n < 10 }' "$LAB_TMP/mine" "$LAB_TMP/own/waits" >"$LAB_OUT/foreign" || fail "switches of others: $(head -n 3 "$LAB_OUT/foreign")"
ok "no switch between others"

# shellcheck disable=SC2016
sessions=$("${member[@]}" bash -c 'n=0; while [ $n -lt 40 ] && exec {f}<>/dev/jis; do n=$((n + 1)); done 2>/dev/null; echo $n')
[ "$sessions" = 16 ] || fail "a member has $sessions sessions at once"
ok "16 sessions at once"

cp "$load" "$LAB_TMP/own/load"
"${member[@]}" env -C "$LAB_TMP/own" "$JIS" record -o trace -- ./load pingpong 300 >"$LAB_OUT/jis" 2>&1 ||
	fail "jis record as a member: $(cat "$LAB_OUT/jis")"
"$JIS" dump "$LAB_TMP/own/trace" >"$LAB_OUT/dump" || fail "jis dump of a member's trace"
[ "$(grep -c 'task_rename .*comm = "begin"' "$LAB_OUT/dump")" = 2 ] || fail "jis record as a member: not two threads: $(cat "$LAB_OUT/jis")"
"${member[@]}" env -C "$LAB_TMP/own" "$JIS" record -o all --all -- true >"$LAB_OUT/all" 2>&1 && fail "--all as a member"
grep -q 'not permitted' "$LAB_OUT/all" || fail "it said: $(cat "$LAB_OUT/all")"
ok "jis record"

# A set-user-ID program: a copy of sleep, which is in the trace with root's recording only.
cp "$(command -v sleep)" "$LAB_TMP/own/rootsleep"
chown 0:0 "$LAB_TMP/own/rootsleep"
chmod 4755 "$LAB_TMP/own/rootsleep"
mount | grep "on $LAB_TMP .*nosuid" >/dev/null && skip "no set-user-ID programs here"
for who in member root; do
	"${member[@]}" "$rights" suid "$LAB_TMP/own/rootsleep" 2 >"$LAB_OUT/suid.$who" &
	pid=$!
	[ "$who" = root ] || member_pid=$pid
	wait_for 30 "the program" grep -q waiting "$LAB_OUT/suid.$who"
	run=()
	[ "$who" = root ] || run=("${member[@]}")
	"${run[@]}" "$raw" -o "$LAB_TMP/own/suid.$who" -p "$pid" >"$LAB_OUT/record.$who" 2>&1 &
	recorder=$!
	wait_for 60 "the recording" grep -q '^recording' "$LAB_OUT/record.$who"
	kill -USR1 "$pid"
	wait "$pid" || fail "the set-user-ID program ended with $?"
	sleep 0.5
	kill -INT $recorder
	wait $recorder || fail "recording as $who: $(tail "$LAB_OUT/record.$who")"
done
grep -q " sched_process_exec .*rootsleep" "$LAB_TMP/own/suid.root" || fail "root does not see the program"
grep -q " sched_process_exit " "$LAB_TMP/own/suid.root" || fail "root does not see its end"
grep -q " sched_waking tid=$member_pid " "$LAB_TMP/own/suid.member" || fail "the member does not see its own process"
grep -E " sched_process_exec | sched_process_exit " "$LAB_TMP/own/suid.member" && fail "the member sees root's program"
# the last it sees is the name, which the thread takes before it gets the rights
sort -s -n -k2,2 "$LAB_TMP/own/suid.member" | sed '1,/ task_rename .*comm=rootsleep/d' | grep " sched_waking tid=$member_pid " &&
	fail "the member sees root's program wake up"
ok "a set-user-ID program is out of sight"
