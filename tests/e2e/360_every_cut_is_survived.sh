#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A real trace cut at packet boundaries and random places, and with flipped bytes: no reading command
# crashes or hangs, and what stands before the damage is still delivered.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

"${RECORD[@]}" -q -o "$TESTDIR/trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" Truth 0.2 >"$TESTDIR/program"
python3 "$CHECKERS/damage.py" "$JIS" "$TESTDIR/trace" "$TESTDIR/work" "${ROUNDS:-60}"
