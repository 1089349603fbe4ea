#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Thread names as Java has them: quotes, newlines, UTF-8, long ones cut; group and daemon flag.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentThreads names
has() { grep -qF -- "$1" "$TESTDIR/pool" || { cat "$TESTDIR/pool"; fail "no record: $1"; }; }
has 'name="plain"'
has 'name="with \"quotes\" and \\"'
has 'name="two\x0alines\x09and a tab"'
has 'name="hé € 𝄞"'
has 'name=""'
has 'name="nul␀inside"'
has $'name="lone \xef\xbf\xbd surrogate"'
has "name=\"$(printf 'x%.0s' {1..300})\""
has "name=\"$(printf 'y%.0s' {1..1023})\""
has "name=\"$(printf 'y%.0s' {1..1020})...\""
has "name=\"$(printf '€%.0s' {1..340})...\""
group=$(sed -n 's/.*string_def id=\([0-9]*\) text="group \\"g\\""$/\1/p' "$TESTDIR/pool")
[ "$(grep -c "java_thread_start .*flags=0x1 group=$group " "$TESTDIR/pool")" = 11 ] || fail "group or daemon flag"
[ "$(grep -c "string_def.*group" "$TESTDIR/pool")" = 1 ] || fail "the group's name was written more than once"
# Threads that ran before: main on its own kernel thread, and others.
grep -q 'java_thread_start java_tid=[0-9]* tid=[1-9][0-9]* flags=0x2 group=[0-9]* name="main"' "$TESTDIR/pool" || fail "main"
grep -q 'tid=[1-9][0-9]* flags=0x3 group=[0-9]* name="Signal Dispatcher"' "$TESTDIR/pool" || fail "Signal Dispatcher"
has 'message type=1 kind=1'
has 'vm_info'
for phase in 1 2 3; do has "vm_phase phase=$phase"; done
