#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Running and ready times and the number of switches of each thread of a Java program are those of the
# kernel's own books; the Paraver trace keeps all rules; nothing is lost.
. "$(dirname "$0")/lib_truth.sh"

watch_begin
before=$(steal_ns)
"${RECORD[@]}" -q -o "$TESTDIR/trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" Truth "${SCALE:-1.0}" >"$TESTDIR/program"
steal=$(($(steal_ns) - before))
grep -q '^END' "$TESTDIR/program" || fail "the program did not end well"

states_are_true "$TESTDIR/trace" "$TESTDIR/program" "$steal"
