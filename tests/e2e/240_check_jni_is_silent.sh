#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# -Xcheck:jni has nothing to say about the agent, and the records are the same.
. "$(dirname "$0")/lib.sh"

run() { # CLASS ARGS...
	"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- "$JAVA" -Xcheck:jni \
		-agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" "$@" >"$TESTDIR/out" 2>&1 || fail "exit status $?: $(cat "$TESTDIR/out")"
	[ "$(grep -cv '^END\|^false true\|^null refused' "$TESTDIR/out")" = 0 ] || { cat "$TESTDIR/out"; fail "$*: warnings"; }
	grep '^BAD' "$TESTDIR/pool" && fail "bad records"
	true
}
run AgentThreads names
run AgentThreads rename
run AgentThreads burst 200
run AgentMarkers loaders "$MARKERS"
run AgentMarkers spans
run AgentMarkers count 4 1000
run AgentGc 4 2
