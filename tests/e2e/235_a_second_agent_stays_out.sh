#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent loaded by JAVA_TOOL_OPTIONS and twice more by -agentpath, once from another file: one of them
# records, the others say one line each, and there is one process with all its markers.
. "$(dirname "$0")/lib.sh"
need_root

mkdir "$TESTDIR/copy"
cp "$BUILD/libjisagent.so" "$TESTDIR/copy/"
chmod 755 "$TESTDIR" "$TESTDIR/copy"
second=-agentpath:$BUILD/libjisagent.so third=-agentpath:$TESTDIR/copy/libjisagent.so
expect_status 0 "${RECORD[@]}" -o "$TESTDIR/t" -- \
	"$JAVA" "$second" "$third" -cp "$CLASSES:$MARKERS" AgentMarkers count 2 100
expect_says "(1 JVMs)"
[ "$(grep -c '^jis: ' "$TESTDIR/err")" = 2 ] && [ "$(grep -c '^jis: loaded twice' "$TESTDIR/err")" = 2 ] ||
	{ cat "$TESTDIR/err"; fail "two lines of the agent were expected"; }
[ "$(find "$TESTDIR/t" -name 'jvm-*' | wc -l)" = 1 ] || fail "there are directories of $(ls "$TESTDIR/t")"
"$JIS" dump "$TESTDIR/t" >"$TESTDIR/dump"
markers=$(grep -c ' java_marker ' "$TESTDIR/dump")
[ "$markers" = 200 ] || fail "$markers markers instead of 200"

# Without a recorder there is one line, as for one agent; and none when it is switched off.
lines() { # LINES COMMAND...
	local lines=$1
	shift
	expect_status 0 "$@" -cp "$CLASSES:$MARKERS" AgentMarkers count 2 100
	[ "$(grep -c '^jis: ' "$TESTDIR/err")" = "$lines" ] || { cat "$TESTDIR/err"; fail "$lines lines were expected"; }
}
lines 1 "$JAVA" "$second" "$second"
lines 0 env JIS_DISABLE=1 "$JAVA" "$second" "$third"
