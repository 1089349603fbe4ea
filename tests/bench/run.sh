#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs all benches and prints a table. Rounds of the same thing are interleaved with the others, so that
# a busy minute of the host does not hit one figure only. Nothing here fails for being slow.
# Usage: tests/bench/run.sh BUILD [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${1:?build directory} rounds=${2:-3}
bin=$BUILD/tests/bench
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
EVENTS=${EVENTS:-5000000}

session() { # STREAMS
	local half=$(($1 / 2))
	"$bin/gentrace" --out "$dir/$1" --kernel-streams "$half" --user-streams "$half" \
		--threads $((half > 16 ? $1 : 16)) --events "$EVENTS" >/dev/null
}

# CPU seconds of a command, children included.
cpu_seconds() {
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for n in 4 64 1000; do session "$n"; done
for ((i = 0; i < rounds; i++)); do
	for n in 4 64 1000; do
		"$bin/merge_bench" "$dir/$n" 1 | sed -n 's/^median \([0-9.]*\).*/\1/p' >>"$dir/merge.$n"
	done
done
printf '%-34s %s\n' bench "M events/s (median of $rounds)"
for n in 4 64 1000; do
	printf '%-34s %s\n' "merge, $n streams" "$(median <"$dir/merge.$n")"
done
if command -v babeltrace2 >/dev/null; then
	for n in 4 64; do
		seconds=$(cpu_seconds babeltrace2 "$dir/$n" --component sink.utils.dummy)
		awk -v e="$EVENTS" -v s="$seconds" -v n="$n" 'BEGIN {
			printf "%-34s %.2f\n", "babeltrace2 dummy, " n " streams", e / s / 1e6 }'
	done
fi
if [ -x "$bin/prv_bench" ]; then
	echo "prv_bench, 64 streams:"
	"$bin/prv_bench" "$dir/64" "$dir/out" -r "$rounds"
fi
# What JaViz took 30 minutes for.
calls=${CALLS:-521410}
"$bin/gentrace" --out "$dir/calls" --kernel-streams 4 --user-streams 4 --methods 130 --calls "$calls" >/dev/null
for by in method context; do
	for ((i = 0; i < rounds; i++)); do
		cpu_seconds "$BUILD/jis" stats -q --by "$by" "$dir/calls"
	done | median | sed "s/^/jis stats, $calls calls of 130 methods by $by: CPU seconds /"
done
if [ -x "$bin/event_bench" ]; then
	echo "event_bench:"
	"$bin/event_bench" || true
fi
# Classes of java.base where there is a JDK, else those of the tests.
if [ -x "$bin/class_bench" ]; then
	classes=$BUILD/tests/classes
	if jimage=$(command -v jimage); then
		home=$(dirname "$(dirname "$(readlink -f "$jimage")")")
		jimage extract --dir "$dir/classes" --include 'regex:/java.base/java/util/.*\.class' "$home/lib/modules" &&
			classes=$dir/classes
	fi
	"$bin/class_bench" "$classes" "$rounds"
fi
