#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recorder is killed: the JVM goes on, says so once, and ends as it would have.
. "$(dirname "$0")/lib.sh"

mkfifo "$TESTDIR/in"
"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	bash -c 'echo $$ >"$1"; exec "${@:2}"' - "$TESTDIR/pid" "$JAVA" -agentpath:"$BUILD/libjisagent.so" \
	-cp "$CLASSES:$MARKERS" AgentWait <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
host=$!
exec 9>"$TESTDIR/in"
wait_for 30 grep -q READY "$TESTDIR/out"
jvm=$(cat "$TESTDIR/pid")
echo >&9
kill -KILL $host
wait $host || true
wait_for 30 grep -q '^jis: ' "$TESTDIR/err"
for _ in 1 2 3; do echo >&9; done
exec 9>&-
wait_for 30 grep -q '^END' "$TESTDIR/out"
gone() { ! kill -0 "$jvm" 2>/dev/null; }
wait_for 30 gone
[ "$(wc -l <"$TESTDIR/err")" = 1 ] || { cat "$TESTDIR/err"; fail "one line was expected"; }
ls "$PWD"/hs_err_pid"$jvm".log 2>/dev/null && fail "the JVM crashed"
true
