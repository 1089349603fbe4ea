#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Call trees: from the trace of a simulated JVM to .jta, .mth and .stt. CPU seconds for 521,410 calls of 130 methods, which took
# JaViz half an hour; calls a second and memory for CALLS of them, against writing as many bytes (dd); what is read of that tree,
# with the page cache empty of it, to show its root's first children. With BIG=125000000: that of a tree of 10 GB, too.
# Usage: tests/bench/tree.sh BUILD [ROUNDS [CALLS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${1:?build directory} rounds=${2:-3} calls=${3:-10000000}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
trace() { # CALLS
	rm -rf "$dir/trace"
	"$BUILD/tests/bench/gentrace" --out "$dir/trace" --kernel-streams 4 --user-streams 4 --methods 130 --calls "$1" \
		--events $((10 * $1)) >/dev/null
}
cpu() { # FILE COMMAND...: its CPU seconds into FILE.cpu, its memory in MiB into FILE.mib
	local file=$1
	shift
	/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@"
	awk '{ print $1 + $2 }' "$dir/time" >>"$dir/$file.cpu"
	awk '{ print $3 / 1024 }' "$dir/time" >>"$dir/$file.mib"
}
cold() { # TREE: forgets what is cached of it, shows the first lines, says what was read
	sync "$1"
	dd if="$1" iflag=nocache count=0 status=none
	/usr/bin/time -f '%I' -o "$dir/time" "$BUILD/jis" tree -q --depth 2 --lines 20 "$1" >/dev/null
	echo "$(stat -c %s "$1") bytes of tree, cold: $(($(cat "$dir/time") * 512)) bytes read for the first 20 lines of two levels"
}

trace 521410
for ((i = 0; i < rounds; i++)); do cpu small "$BUILD/jis" tree -q -o "$dir/tree" "$dir/trace"; done
echo "521,410 calls, trace to tree and statistics: $(median <"$dir/small.cpu") s of CPU (median of $rounds)"
trace "$calls"
for ((i = 0; i < rounds; i++)); do
	cpu large "$BUILD/jis" tree -q -o "$dir/tree" "$dir/trace"
	rm -f "$dir/copy"
	cpu copy dd if=/dev/zero of="$dir/copy" bs=1M count=$(($(stat -c %s "$dir/tree.jta") >> 20)) status=none
	cpu stats "$BUILD/jis" stats -q "$dir/trace" >/dev/null
done
awk -v n="$calls" -v s="$(median <"$dir/large.cpu")" -v d="$(median <"$dir/copy.cpu")" -v t="$(median <"$dir/stats.cpu")" -v m="$(median <"$dir/large.mib")" 'BEGIN {
	printf "%d calls: %.2f s of CPU, %.2f M calls/s, %.0f MiB; jis stats of the same trace %.2f s; dd of as many bytes %.2f s\n", n, s, n / s / 1e6, m, t, d }'
cold "$dir/tree.jta"
if [ -n "${BIG:-}" ]; then
	rm -f "$dir/copy" "$dir"/tree.*
	trace "$BIG"
	"$BUILD/jis" tree -q -o "$dir/tree" "$dir/trace"
	cold "$dir/tree.jta"
fi
