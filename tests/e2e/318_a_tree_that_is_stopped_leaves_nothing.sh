#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A signal while a tree is made: neither a file of it nor its scratch directory stays, and the signal is what ended the tool.
# Runs beside others.
. "$(dirname "$0")/lib.sh"

"$BUILD/tests/bench/gentrace" --out "$TESTDIR/trace" --kernel-streams 2 --user-streams 2 --methods 20 --calls 3000000 --events 30000000 >"$TESTDIR/generated"
mkdir "$TESTDIR/scratch"
python3 - "$JIS" "$TESTDIR" <<'PY'
import os, signal, subprocess, sys, time
jis, directory = sys.argv[1:]
scratch, wrong = directory + "/scratch", 0
def stop(number, arguments, begun, pause):
    tool = subprocess.Popen([jis, "tree", *arguments, directory + "/trace"], stdout=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=scratch))
    while tool.poll() is None and not begun():
        if pause:
            time.sleep(pause)
    tool.send_signal(number)
    left = tool.wait(), os.listdir(scratch), [f for f in os.listdir(directory) if f.startswith("kept")]
    if left != (-number, [], []):
        print(f"{number!r}: status, scratch, files {left}")
        return 1
    return 0
in_scratch = lambda: os.listdir(scratch)
wrong += stop(signal.SIGINT, [], in_scratch, .001)
wrong += stop(signal.SIGTERM, ["-o", directory + "/kept"], lambda: os.path.exists(directory + "/kept.jta"), .001)
# As soon as there is anything, so some before it has looked at the trace.
for i in range(50):
    wrong = wrong or stop(signal.SIGHUP, [], in_scratch, 0)
sys.exit(wrong > 0)
PY
