#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# babeltrace2 reads a clean run of at least 100,000 events, kernel, system calls and JVM, without a complaint, and
# agrees with jis dump on every field of every event.
. "$(dirname "$0")/lib.sh"
need_root

"${RECORD[@]}" -q --syscalls io,mem,file -o "$TESTDIR/trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" Truth "${SCALE:-3.0}" >"$TESTDIR/program"
python3 "$CHECKERS/ctf_agree.py" "$JIS" "$TESTDIR/trace" "${LEAST:-100000}"
