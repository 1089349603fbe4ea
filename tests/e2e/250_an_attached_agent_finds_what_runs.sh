#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Loaded into a running JVM the agent names the threads that run, on their kernel threads, and
# switches on markers in code that has been compiled without them. So it does where it may not read memory by
# process_vm_readv(), as in a container (EPERM) or on a kernel without it (ENOSYS).
. "$(dirname "$0")/lib.sh"

"$JAVA" --list-modules | grep jdk.attach >/dev/null || skip "this Java has no module jdk.attach"
finds() { # [COMMAND...]: to run the JVM by
	local host jvm name task tid
	rm -rf "$TESTDIR"/{in,out,err,pool,pid,socket,tasks}
	mkfifo "$TESTDIR/in"
	# shellcheck disable=SC2016
	"$TESTPROG/poolhost" -p 4000 -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
		bash -c 'unset JIS_SOCKET; echo $$ >"$1"; exec "${@:2}"' - "$TESTDIR/pid" "$@" "$JAVA" -Xcheck:jni \
		-cp "$CLASSES:$MARKERS" AgentWait <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
	host=$!
	exec 9>"$TESTDIR/in"
	wait_for 30 grep -q READY "$TESTDIR/out"
	jvm=$(cat "$TESTDIR/pid")
	sleep 1 # the worker's loop is compiled by now; if not, the test is only easier
	# The second load is the same as none.
	for _ in 1 2; do
		"$JAVA" -cp "$CLASSES" AgentAttach "$jvm" "$BUILD/libjisagent.so" "socket=$TESTDIR/socket"
	done
	for task in /proc/"$jvm"/task/*; do
		echo "${task##*/} $(cat "$task/comm")"
	done >"$TESTDIR/tasks"
	echo >&9
	exec 9>&-
	wait $host || fail "exit status $?"
	grep -qv '^WARNING: A JVM TI agent\|^WARNING: If a serv\|^WARNING: Dynamic loading' "$TESTDIR/err" && { cat "$TESTDIR/err"; fail "it says something"; }
	grep '^BAD' "$TESTDIR/pool" && fail "bad records"
	grep -q java_marker "$TESTDIR/pool" || fail "the markers are not on"
	# Independent of the JVM's own tables: the kernel's names of the threads.
	for name in 'Signal Dispatcher' 'Finalizer' 'Reference Handler'; do
		tid=$(sed -n "s/.*java_thread_start java_tid=[0-9]* tid=\([0-9]*\) flags=0x3 .*name=\"$name\"/\1/p" "$TESTDIR/pool")
		grep -q "^$tid ${name:0:15}\$" "$TESTDIR/tasks" || { cat "$TESTDIR/tasks"; fail "$name is not on thread $tid"; }
	done
	grep -q 'java_thread_start.*flags=0 .*name="tock"' "$TESTDIR/pool" || fail "a thread started later has no name"
	grep -q 'java_thread_name.*name="tock"' "$TESTDIR/pool" || fail "names given later are not recorded"
}

finds
finds "$TESTPROG/unread" 1
finds "$TESTPROG/unread" 38
