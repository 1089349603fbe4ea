#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A Java thread whose cgroup has used up its quota: the report has it ready and throttled as long as cpu.stat of the
# cgroup says, the Paraver trace as often too; each JDK, started and attached.
# lab-timeout: 600
# lab-suite: bookworm

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
cd "$LAB_TMP" || exit 1
top=/sys/fs/cgroup/k474 inner=/sys/fs/cgroup/k474/inner
if ! echo +cpu >/sys/fs/cgroup/cgroup.subtree_control; then skip "no cpu controller"; fi
try_raw features true
if ! grep -qE '^features 0x[0-9a-f]*[4567cdef][0-9a-f]{2}$' "$LAB_OUT/features"; then
	skip "this kernel does not let the module see quotas: $(grep features "$LAB_OUT/features")"
fi
gone() { rmdir "$inner" "$top" 2>/dev/null; }
clean_up()
{
	[ ! -e "$top" ] || { echo 1 >"$top/cgroup.kill"; wait_for 20 "the cgroups' end" gone; }
}
trap clean_up EXIT

attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }

# record_one NAME HOW JAVA: the program in the cgroup above the one with the quota
record_one()
{
	local name=$1 how=$2 jvm host
	local program=("$3" "${jvm_fast[@]}" -cp "$JIS_BUILD/tests/classes" Throttled "$inner" 610)

	if [ "$how" = started ]; then
		# shellcheck disable=SC2016
		"$JIS" record -q --backend kmod -o "$name" -- \
			bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$top" "${program[@]}" >"$name.out" 2>"$name.err" ||
			fail "$name: $(cat "$name.out" "$name.err")"
		return
	fi
	mkfifo "$name.in"
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$top" "${program[0]}" -Dwait=true "${program[@]:1}" \
		<"$name.in" >"$name.out" 2>"$name.err" &
	jvm=$!
	exec 9>"$name.in"
	wait_for 120 "the program" grep -q READY "$name.out"
	"$JIS" record -q --backend kmod -o "$name" -p $jvm 2>"$name.rec" &
	host=$!
	wait_for 120 "an attached agent" attached "$name" $jvm
	echo >&9
	exec 9>&-
	wait $jvm || fail "$name: the program ended with $?: $(cat "$name.out" "$name.err")"
	wait $host || fail "$name: the recorder ended with $?: $(cat "$name.rec")"
}

for home in /usr/lib/jvm/java-*-openjdk-amd64; do
	[ ! -L "$home" ] || continue
	for how in started attached; do
		name=$(basename "$home")-$how
		mkdir -p "$inner" && echo threaded >"$inner/cgroup.type" && echo +cpu >"$top/cgroup.subtree_control" &&
			echo "20000 100000" >"$inner/cpu.max" || fail "no threaded cgroup with a quota"
		record_one "$name" "$how" "$home/bin/java"
		read -r times us < <(awk '$1 == "nr_throttled" { n = $2 } $1 == "throttled_usec" { print n, $2 }' "$inner/cpu.stat")
		clean_up
		"$JIS" report --json "$name" >"$name.json" || fail "$name: report"
		"$JIS" export paraver "$name" -q -o "$name.prv" || fail "$name: export"
		python3 - "$name" "$times" "$us" <<'PY' || fail "$name: not as cpu.stat has it"
import json, os, re, sys
name, times, us = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
told = dict(w.split("=") for w in re.search("SPUN (.*)", open(name + ".out").read()).group(1).split())
report = json.load(open(name + ".json"))
t = next(t for t in report["threads"] if t.get("java_tid") == int(told["java_tid"]))
# The rows of the .prv follow the .row file; the subject is the only one that is ever throttled.
throttled = [l.split(":") for l in open(name + ".prv") if l.startswith("1:") and l.rstrip().endswith(":37")]
rows = {l[4] + ":" + l[3] for l in throttled}
shown = sum(int(l[6]) - int(l[5]) for l in throttled)
print("throttled: cpu.stat %d times %d us; report %d us; Paraver %d times %d us; the program: %s" %
      (times, us, t["throttled"] / 1000, len(throttled), shown / 1000, told))
# cpu.stat counts periods of 100 ms. Of a CPU the module knows from the thread's first turn there on: what ends before that
# is not told (456).
periods = sum(1 + (int(l[6]) - int(l[5])) // 100000000 for l in throttled)
missing = max(0, times - periods)
assert times >= 10 and len(throttled) <= times and missing < os.cpu_count() and len(rows) == 1
slack = max(2000, us / 50)
for told_us in t["throttled"] / 1000, shown / 1000:
    assert us - slack - missing * 100000 <= told_us <= us + slack
assert sum(p["throttled"] for p in report["threads"]) == t["throttled"]
# of its time in there, by its own books, the quota kept it from the CPU but for what it had and what others took
assert t["throttled"] <= int(told["wall"]) - int(told["cpu"]) + 1000000 and t["throttled"] <= t["states"]["ready"]
PY
		ok "$name"
	done
done
