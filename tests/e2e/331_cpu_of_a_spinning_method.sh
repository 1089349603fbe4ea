#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The CPU time of a traced method, which spins while another process wants its CPU, is what the kernel has in its books of
# the thread (RUSAGE_THREAD), within 1 %. Interpreted and compiled, started and attached, on each JDK. Where the kernel did
# not tell of a switch, as busy ones do at times, the trace says so, and the books lie between its CPU time and that with what
# is unknown; what a hypervisor took of the CPU is in the trace's time, and not in the kernel's (clock_task), which has it
# in /proc/stat.
. "$(dirname "$0")/lib_methods.sh"

sh -c 'while :; do :; done' &
neighbour=$!
taskset -pc 0 $neighbour >neighbour
trap 'kill $neighbour 2>/dev/null || true' EXIT

# What a hypervisor took of CPU 0 so far, ms.
stolen() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu0" { print $9 * 1000 / hz }' /proc/stat; }

# check NAME MILLISECONDS STOLEN: what the trace says, and the program, which spun for longer than that since stolen()
# printed STOLEN
check() {
	"$JIS" info --strict -q "$1" >"$1.info" || fail "$1: records were lost"
	"$JIS" stats -q --csv "$1" >"$1.csv"
	python3 - "$1" "$2" "$(stolen)" "$3" <<-'PY' || fail "$1: see above"
		import csv, sys
		name, least = sys.argv[1], int(sys.argv[2])
		stolen = (float(sys.argv[3]) - float(sys.argv[4])) * 1e6
		spun = [tuple(map(int, line.split()[1:])) for line in open("out") if line.startswith("SPUN ")]
		row = [r for r in csv.DictReader(open(name + ".csv")) if r["method"].startswith("SpinBooks.spin")][0]
		told, wall = sum(s[0] for s in spun), sum(s[1] for s in spun)
		cpu, ready = int(row["cpu"]), int(row["ready"])
		calls = int(row["calls"])
		unknown = int(row["unknown"])
		off = max(cpu - stolen - told, told - cpu - unknown) / told
		print("%s: %d calls, CPU %.3f ms by the trace, %.3f by the kernel's books (%.2f %%), ready %.3f, unknown %.3f of %.3f ms; stolen %.0f" %
		      (name, calls, cpu / 1e6, told / 1e6, off * 100, ready / 1e6, unknown / 1e6, wall / 1e6, stolen / 1e6))
		untold = "did not tell of" in open(name + ".info").read()
		assert unknown <= (0.02 * wall if untold else 0), "too much is unknown"
		assert calls == len(spun), (calls, len(spun))
		assert told < 0.9 * wall, "nobody wanted its CPU"
		assert off <= 0.01, "more than 1 % apart"
		assert wall > least * 1e6
	PY
}
n=0
for line in "${JDKS[@]}"; do
	read -r version java <<<"$line"
	for how in int compiled; do
		name=jdk$version-$how options=()
		[ $how = compiled ] || options=(-Xint)
		rm -f in
		mkfifo in
		: >out
		"${RECORD[@]}" -q -o "$name" --methods none -- taskset -c 0 "$java" "${options[@]}" -cp "$CLASSES" SpinBooks "$BUILD/tests/libspinbooks.so" \
			<in >out 2>err &
		recorder=$!
		exec 8>in
		wait_for 120 grep -q READY out
		"$JIS" methods -q -o "$name" --on 'SpinBooks.spin' "$(jvm_below $recorder)"
		before=$(stolen)
		echo "3 600" >&8
		exec 8>&-
		wait $recorder || { cat err; fail "$name: exit status $?"; }
		check "$name" 1800 "$before"
	done
	name=jdk$version-attached
	rm -f in
	mkfifo in
	: >out
	taskset -c 0 "$java" -cp "$CLASSES" SpinBooks "$BUILD/tests/libspinbooks.so" <in >out 2>err &
	program=$!
	exec 8>in
	wait_for 120 grep -q READY out
	jvm=$(jvm_below $program)
	record_start "$name" -p "$jvm" --methods 'SpinBooks.spin'
	ready() { "$JIS" attach -q -o "$name" "$jvm" 2>/dev/null; }
	wait_for 60 ready
	before=$(stolen)
	echo "3 600" >&8
	spun() { grep -q '^done' out; }
	wait_for 60 spun
	record_end
	exec 8>&-
	wait $program || fail "$name: the program ended with $?"
	check "$name" 1800 "$before"
	n=$((n + 1))
done
[ $n -ge 1 ] || fail "no JDK"
