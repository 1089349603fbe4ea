#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flight recorder does not keep the names of all threads that ever were, but those of all that its trace still has: whom the kernel
# tells of by the name's beginning, and whom the process's own records tell of.
# One of its packets is of a thread that had a place of its own for a moment, early, and nobody after it.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
n=7000
# On one CPU: the ring of another that hardly runs them would reach back to the first ones.
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$cpu" "${RECORD[@]}" -q --flight-recorder --buffer 512K --pool 256K --methods 'ManyNames.last' -o trace -- "$REAL_JAVA" -cp "$CLASSES" ManyNames $n 3000 \
	>out 2>err || { cat err; fail "exit status $?"; }
"$JIS" dump trace >dump.txt || fail "jis dump"
python3 - dump.txt $n <<'EOP' || fail "names"
import re, sys
names, renamed, used = {}, set(), set()
for line in open(sys.argv[1]):
    _, stream, event, rest = line.split(" ", 3)
    if event == "java_thread_start":
        names[int(re.search(r"java_tid = (\d+)", rest)[1])] = re.search(r'name = "([^"]*)"', rest)[1]
    elif event == "task_rename" and re.search(r'comm = "\d+ n+"', rest):
        renamed.add(re.search(r'comm = "(\d+ )', rest)[1])
    elif "/slot-" in stream:
        used.update(int(tid) for tid in re.findall(r"java_tid = (\d+)", rest) if tid != "0")
n = int(sys.argv[2])
print(len(names), "names,", len(renamed), "threads of the kernel's,", len(used), "of the process's own")
assert len(renamed) > 20 and len(used) > 20
begin = {name.split("n")[0] for name in names.values()}
assert renamed <= begin, sorted(renamed - begin)
assert used <= set(names), sorted(used - set(names))
assert f"{n - 1} " in begin
# those that ended more than a second before what is kept
assert len(names) < n * 2 / 3, len(names)
EOP
"$JIS" stats -q --csv trace >stats.csv
grep -q 'ManyNames.last",100,' stats.csv || { cat stats.csv; fail "the calls"; }
