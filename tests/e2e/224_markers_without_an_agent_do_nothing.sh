#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The marker jar without an agent: off, nothing is printed, no native is looked for.
. "$(dirname "$0")/lib.sh"

"$JAVA" -Xcheck:jni -cp "$CLASSES:$MARKERS" AgentMarkers count 4 1000 >"$TESTDIR/out" 2>"$TESTDIR/err"
[ "$(cat "$TESTDIR/out")" = "END false" ] && [ ! -s "$TESTDIR/err" ] || fail "$(cat "$TESTDIR/out" "$TESTDIR/err")"
"$JAVA" -cp "$CLASSES:$MARKERS" AgentMarkers spans >"$TESTDIR/out" 2>"$TESTDIR/err"
[ "$(cat "$TESTDIR/out")" = "END false" ] && [ ! -s "$TESTDIR/err" ] || fail "$(cat "$TESTDIR/out" "$TESTDIR/err")"
