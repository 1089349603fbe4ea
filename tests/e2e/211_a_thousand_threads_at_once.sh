#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 1,000 threads alive at once: each has its name, its slot and all its records.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentThreads burst 1000
grep -c '^BAD' "$TESTDIR/pool" && fail "bad records"
[ "$(grep -o 'name="burst-[0-9]*"' "$TESTDIR/pool" | sort -u | wc -l)" = 1000 ] || fail "names are missing"
for type in 1 2; do
	[ "$(grep -o "java_marker .* type=$type value=.*" "$TESTDIR/pool" | sort -u | wc -l)" = 1000 ] || fail "markers $type"
done
# Each marker is on the kernel thread that the thread's start names.
python3 - "$TESTDIR/pool" <<'PY'
import re, sys
thread, wrong, n = {}, 0, 0
lines = open(sys.argv[1]).read().split("\n")
for l in lines:
    m = re.search(r"java_thread_start java_tid=(\d+) tid=(\d+)", l)
    if m: thread[m[1]] = m[2]
for l in lines:
    m = re.search(r" tid=(\d+) .*java_marker java_tid=(\d+)", l)
    if m:
        n += 1
        wrong += thread[m[2]] != m[1]
print("%d markers, %d on the wrong thread" % (n, wrong))
sys.exit(wrong or n != 2000)
PY
