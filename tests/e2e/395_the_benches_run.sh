#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench measures to its end: each bench is called as it wants to be, and prints its figures.
. "$(dirname "$0")/lib.sh"

expect_status 0 env EVENTS=20000 CALLS=2000 TMPDIR="$TESTDIR" bash "$here/../bench/run.sh" "$BUILD" 1
expect_says "merge, 1000 streams"
grep -q '^merge+prv .* lines ' "$TESTDIR/out" || { cat "$TESTDIR/out" "$TESTDIR/err"; fail "prv_bench has measured nothing"; }
grep -q '^jis stats, 2000 calls .* [0-9.]*$' "$TESTDIR/out" || fail "jis stats was not measured"
grep -q '^limit .* ratio ' "$TESTDIR/out" || fail "event_bench has measured nothing"
grep -q '^rewrite .* us a class ' "$TESTDIR/out" || fail "class_bench has measured nothing"
! grep -rqi 'usage' "$TESTDIR/out" "$TESTDIR/err" || fail "a bench was called in the wrong way"

need_root
expect_status 0 env TMPDIR="$TESTDIR" bash "$here/../bench/javiz.sh" "$BUILD" 1
grep -qE '^CPU time of client and server: untraced [0-9.]+ s, traced [0-9.]+ s, [0-9.]+ times$' "$TESTDIR/out" || fail "javiz.sh has measured no time"
grep -qE '^the trace: [0-9]{7,8} bytes$' "$TESTDIR/out" || fail "javiz.sh has no trace"
