#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# When the disk is full, and when the size limit is reached, the recording ends in good order: a readable
# trace, a complete manifest, accounts that add up.
. "$(dirname "$0")/lib_jisctl.sh"

mkdir "$TESTDIR/small"
mount -t tmpfs -o size=4m tmpfs "$TESTDIR/small" || skip "no tmpfs can be mounted here"
trap 'umount "$TESTDIR/small"' EXIT
minirec "$TESTDIR/small/t" -- "$WITNESS" 2 3000 400000 >"$TESTDIR/out" 2>"$TESTDIR/err" || true
grep -q 'disk full' "$TESTDIR/err" || fail "the full disk was not told"
counts "$TESTDIR/small/t"
[ "$(manifest "$TESTDIR/small/t" stop_reason)" = "disk full" ] || fail "reason in the manifest"
[ "$(records "$TESTDIR/small/t" marker)" -gt 1000 ] || fail "what was there has gone"
! grep -v 'Tracer discarded' "$TESTDIR/babeltrace.err" || fail "babeltrace2 complains"

minirec -m 300000 "$TESTDIR/limit" -- "$WITNESS" 2 3000 400000 >"$TESTDIR/out" 2>"$TESTDIR/err"
counts "$TESTDIR/limit"
[ "$(manifest "$TESTDIR/limit" stop_reason)" = "max-size" ] || fail "reason in the manifest"
[ "$(records "$TESTDIR/limit" session_mark "mark=5")" = 1 ] || fail "the mark is missing"
[ "$(records "$TESTDIR/limit" marker)" -gt 100 ] || fail "too little was kept"

expect_status 99 minirec "$TESTDIR/limit" -- true
expect_says "File exists"
