#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Members of the module's group record their own processes, and see nothing of others: no targets of other
# users, no cgroups or machine-wide events, no names of foreign threads; a process of theirs that executes
# a set-user-ID program is no longer shown.
# lab-suite: bookworm

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

# All calls and each family a member may have, while root signals its process: the sender is a number, and of descriptors
# there is what the process itself can ask for.
cat >"$LAB_TMP/own/work.py" <<-'PY'
	import mmap, os, signal, socket, threading
	got = 0
	def on(*_):
	    global got
	    got += 1
	signal.signal(signal.SIGUSR1, on)
	gone = os.open("gone", os.O_RDWR | os.O_CREAT)
	os.unlink("gone")
	pair = socket.socketpair()
	poller = os.eventfd(0)
	mine = [gone, os.open("/etc/hostname", os.O_RDONLY), os.open(".", os.O_RDONLY), *os.pipe(),
	        pair[0].fileno(), pair[1].fileno(), poller, 9]
	memory = mmap.mmap(-1, 1 << 24)
	print("waiting", os.getpid(), open("/proc/self/comm").read().strip(), flush=True)
	print("cgroup", open("/proc/self/cgroup").read().split(":")[-1].strip())
	while got < 100:
	    for fd in mine:
	        os.fstat(fd)
	    os.write(gone, b"x")
	    memory[got << 14] = 1
	    signal.sigtimedwait([], 0.001)
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]) # whose handler ends before the process does
	for fd in [0, 1, 2, *mine]:
	    print("fd", fd, os.readlink(f"/proc/self/fd/{fd}").replace(" ", "_"))
PY
for families in 2 16 31; do # those of the whole machine
	"${member[@]}" "$raw" -e $families true >"$LAB_OUT/families" 2>&1 && fail "families $families as a member"
	grep -q 'Operation not permitted' "$LAB_OUT/families" || fail "families $families: $(cat "$LAB_OUT/families")"
done
install -d -m 700 "$LAB_TMP/roots" && echo secret >"$LAB_TMP/roots/inherited"
cp "$(command -v bash)" "$LAB_TMP/roots/rootsecret"
"${member[@]}" env -C "$LAB_TMP/own" python3 work.py 9<"$LAB_TMP/roots/inherited" </dev/null >"$LAB_OUT/work" 2>"$LAB_TMP/work.err" &
work=$!
wait_for 60 "the program" grep -q waiting "$LAB_OUT/work"
"${member[@]}" "$raw" -e 13 -S all -b $((32 << 20)) -o "$LAB_TMP/own/signalled" -p $work >"$LAB_OUT/record.signalled" 2>&1 &
recorder=$!
wait_for 60 "the recording" grep -q '^recording' "$LAB_OUT/record.signalled"
# shellcheck disable=SC2016
"$LAB_TMP/roots/rootsecret" -c 'while kill -USR1 $1 2>/dev/null; do sleep 0.01; done' - $work &
sender=$!
wait $work || fail "the program ended with $?: $(cat "$LAB_TMP/work.err")"
wait $sender
sleep 0.5
kill -INT $recorder
wait $recorder || fail "recording what root signals: $(tail "$LAB_OUT/record.signalled")"
python3 - "$LAB_TMP/own/signalled" "$LAB_OUT/work" $sender <<-'PY' >"$LAB_OUT/signalled" || fail "what root signals: $(cat "$LAB_OUT/signalled")"
	import collections, sys
	said = [l.split() for l in open(sys.argv[2])]
	pid, comm = said[0][1:3]
	links = {l[1]: l[2] for l in said if l[0] == "fd"}
	own, = [l[1] for l in said if l[0] == "cgroup"]
	count, bad, named = collections.Counter(), [], set()
	for line in open(sys.argv[1], errors="replace"):
	    _, _, event, *rest = line.split()
	    v = dict(x.split("=", 1) for x in rest if "=" in x)
	    count[event] += 1
	    count["by root"] += event == "signal_generate" and v["sender_tid"] == sys.argv[3]
	    if v.get("comm", "") not in ("", comm) or (v.get("comm") and v.get("pid", pid) != pid):
	        bad.append(line)
	    if event == "fd_file":
	        named.add(v["fd"])
	        if v["pid"] != pid or links.get(v["fd"]) != v["path"]:
	            bad.append(line)
	    # its own cgroup, and those it is in by that
	    if event == "cgroup_name" and not (own + "/").startswith(v["path"].rstrip("/") + "/"):
	        bad.append(line)
	    if "secret" in line and v.get("fd") != "9":
	        bad.append(line)
	few = [e for e in ("fd_file", "syscall_exit", "signal_deliver", "irq_entry", "by root") if count[e] < 5]
	print(bad[:5], few, sorted(named), links, dict(count))
	sys.exit(bool(bad or few) or "9" not in named or len(named) < 9)
PY
ok "its own, with all calls and families, while root signals it"

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
