#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With --stacks each wait that is longer has exactly one Java stack, with the line that waits; shorter ones none. Threads that
# are started have one, too: the report tells where, and by whom. Of more than a thousand a second the rest is counted.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
run() { # NAME JAVA THRESHOLD CHECK...
	local name=$1 java=$2 threshold=$3 class=$4
	shift 4
	"${RECORD[@]}" -q --stacks "blocked>$threshold" -o "$TESTDIR/$name" -- "$java" "$OPENS" -cp "$CLASSES" "$class" 2 15 \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" "$@" || fail "$name"
	"$JIS" report -q --json "$TESTDIR/$name" >"$TESTDIR/$name.json" || fail "$name: no report"
	python3 "$CHECKERS/starts.py" "$TESTDIR/$name.dump" "$TESTDIR/$name.json" || fail "$name: starts"
	[ "$threshold" = 100s ] || python3 -c 'import json, sys
assert sum(r["count"] for r in json.load(open(sys.argv[1]))["starts"] if r["place"].startswith(sys.argv[2] + ".")) > 10' \
		"$TESTDIR/$name.json" "$class" || fail "$name: not started in the program"
}
while read -r version java; do
	run "jdk$version" "$java" 5ms Waits --stacks "$here/java/Waits.java"
	run "jdk$version-short" "$java" 100s Waits --no-stacks
	[ "$version" = 17 ] || run "jdk$version-virtual" "$java" 5ms WaitsVirtual --stacks "$here/java/WaitsVirtual.java"
	# Each park is long: it has a stack, or is counted.
	"${RECORD[@]}" -q --stacks 'blocked>50us' -o "$TESTDIR/many" -- "$java" -cp "$CLASSES" ManyParks 8 1000 \
		>"$TESTDIR/many.out" 2>"$TESTDIR/many.err" || { cat "$TESTDIR/many.err"; fail "many: exit status $?"; }
	"$JIS" dump -q --event wait_stack,park_end "$TESTDIR/many" >"$TESTDIR/many.stacks"
	"$JIS" report -q "$TESTDIR/many" >"$TESTDIR/many.report"
	python3 - "$TESTDIR" <<'PY' || fail "jdk$version: many: $(cat "$TESTDIR/many.err")"
import re, sys
t = sys.argv[1]
tid = lambda l: re.search(r"java_tid = (\d+)", l)[1]
made = int(re.search(r"PARKS (\d+)", open(t + "/many.out").read())[1])
lines = list(open(t + "/many.stacks"))
parks = [tid(l) for l in lines if " park_end " in l]
parkers = {x for x in parks if parks.count(x) == 1000}
all = [l for l in lines if " wait_stack " in l]
# Right before the park's end; on a busy machine a parker may wait long for something else.
stacks, last = [], {}
for l in lines:
    if " park_end " in l and tid(l) in parkers and " wait_stack " in last.get(tid(l), ""):
        stacks.append(l)
    last[tid(l)] = l
none = [l for l in all if re.search(r"stack = 0\b", l)]
told = int(re.search(r"(\d+) more waits were as long, and have no stack", open(t + "/many.report").read())[1])
print(made, "parks,", len(stacks), "of them long, of others", len(all) - len(stacks), "left out", len(none))
assert len(parkers) == 8 and made == len(stacks) == 8000
assert told == len(none) > 1000 and len(all) - len(none) >= 900
PY
	rm -r "$TESTDIR/many"
done < <(jdks)
