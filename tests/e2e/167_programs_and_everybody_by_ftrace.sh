#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs by name, everybody, and "until it executes another program" as targets of the ftrace backend: all sleeps of
# those meant, by whatever way they came to run the program, and nothing of others.
. "$(dirname "$0")/lib.sh"
need_root
. "$(dirname "$0")/lib_sleepers.sh"
cd "$TESTDIR" || exit 1

cp "$sleeper" alpha && cp "$sleeper" beta
cp /bin/sh shell
printf '#!%s/shell\nsleep 1\nexit\n' "$PWD" >script
printf '#!/bin/sh\n"%s/beta" 1 100\nexit\n' "$PWD" >named
printf '#!/bin/sh\n"%s/beta" 1 100\nexit\n' "$PWD" >unnamed
chmod +x script named unnamed
seen_of() { # RECORDING TID
	grep -c " \(thread_state\|task_rename\|sched_process_[a-z]*\|sched_wak[a-z_]*\): .* tid = $2," "$1.bt" || true
}

# Programs by name: what runs already, later ones, one by exec of another program, a script by its own name; not what
# these start, nor others. The interpreter of a script is found as long as that runs.
./alpha -g 2 100 >running &
running=$!
wait_for 60 grep -q '^ready' running
start_record exe --executable alpha --executable named --executable shell --follow exec
kill -USR1 $running
./alpha 2 100 >later &
later=$!
sh -c 'exec ./alpha 1 100' >execed
./beta 1 100 >other
./named >below &
named=$!
wait $running $later $named
./script &
script=$!
wait $script
stop_record exe
for name in running later execed; do check exe $name all; done
for name in other below; do check exe $name none; done
grep -q " sched_process_exec: .* tid = $named,.*/named\"" exe.bt || fail "the script named is missing"
grep -q " sched_process_exec: .* tid = $script,.*/script\"" exe.bt || fail "a script of the shell's is missing"
"$JIS" info exe | grep >/dev/null '^recorded of *executable alpha$' || fail "jis info does not say it"

# With children: what named starts; not what unnamed does.
start_record children --executable named --follow fork,exec
./named >below &
./unnamed >other
wait $!
stop_record children
check children below all
check children other none

# Until exec: the shell and its child, but nothing of the programs they become.
cat >program <<SH
(sh -c 'echo \$PPID' >sub; exec "$sleeper" 1 50 >under)
exec "$sleeper" 1 50 >after
SH
"$JIS" record --backend ftrace --no-agent -q -o until --follow fork -- bash program || fail "--follow fork"
babeltrace2 until/kernel >until.bt || fail "babeltrace2 does not read it"
sub=$(cat sub)
grep -q " sched_process_fork: .* tid = $sub," until.bt || fail "the child's birth is missing"
grep -q " sched_process_exec: .* tid = $sub,.*jissleep" until.bt || fail "the child's exec is missing"
! grep ' task_rename: .*"begin"' until.bt || fail "recorded as another program"
! grep " sched_process_exit: .* tid = $sub," until.bt || fail "recorded to its end"

# Everybody: who was there, and who comes; each described.
./alpha -g 2 100 >running &
running=$!
wait_for 60 grep -q '^ready' running
# But those that have ended and wait for their parent: nothing is told of them.
threads() {
	{ cat /proc/[0-9]*/task/[0-9]*/stat 2>/dev/null || true; } | sed -nE 's/^([0-9]+) \(.*\) ([A-Za-z]) .*/\1 \2/p' |
		awk '$2 !~ /[ZXx]/ {print $1}' | sort -u
}
threads >before
start_record all --all
threads >begun
kill -USR1 $running
./beta 2 100 >later
wait $running
stop_record all
check all running all
check all later all
sed -n 's/.* thread_state: .* tid = \([0-9]*\),.*/\1/p' all.bt | sort -n | tee told | sort -nu >once
comm -12 before begun >there # whoever is missing in one of them has come or gone
missing=$(comm -23 there <(sort once))
echo "$(wc -l <once) threads are described; $(wc -l <there) were there before and when it had begun"
[ -z "$missing" ] || fail "threads that were there are not described: $missing"
cmp told once || fail "somebody is described twice"
! grep -q ' task_name: ' all.bt || [ $exact = 0 ] || fail "somebody is foreign: $(grep -m 3 ' task_name: ' all.bt)"
[ "$(seen_of all 1)" -gt 0 ] || fail "init is not there"
