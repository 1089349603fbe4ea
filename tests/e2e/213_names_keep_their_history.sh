#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Thread.setName, by the thread itself and by another one, keeps its history; null still throws.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentThreads rename | tee "$TESTDIR/out"
grep -q 'null refused' "$TESTDIR/out" || fail "setName(null) did not throw"
python3 - "$TESTDIR/pool" <<'PY'
import re, sys
t = open(sys.argv[1]).read()
jt, tid = re.search(r'java_thread_start java_tid=(\d+) tid=(\d+) .*name="(?:first|third, by main)"', t).groups()
main = re.search(r'java_thread_start java_tid=(\d+) tid=(\d+) .*name="main"', t).groups()
names = re.findall(r'java_thread_name java_tid=%s by_tid=(\d+) name="(.*)"' % jt, t)
print(names)
assert sorted(names) == sorted([(tid, "second, by itself"), (main[1], "third, by main"), (tid, "fourth, by itself")])
assert names[2][1] == "fourth, by itself"
own = re.findall(r'java_thread_name java_tid=%s by_tid=%s name="(.*)"' % main, t)
assert own == ["task-%d" % i for i in range(100)], own
PY
