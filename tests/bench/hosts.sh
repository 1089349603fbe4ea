#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# jis merge: two sessions of EVENTS events each put together: CPU seconds, events a second and memory, against babeltrace2, which
# writes each as a CTF trace of its own, and cp, which copies as many bytes. Interleaved; medians.
# Usage: tests/bench/hosts.sh BUILD [ROUNDS [EVENTS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${1:?build directory} rounds=${2:-3} events=${3:-5000000}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
cpu() { # FILE COMMAND...: its CPU seconds into FILE.cpu, its memory in MiB into FILE.mib
	local file=$1
	shift
	/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@"
	awk '{ print $1 + $2 }' "$dir/time" >>"$dir/$file.cpu"
	awk '{ print $3 / 1024 }' "$dir/time" >>"$dir/$file.mib"
}
for seed in 1 2; do
	"$BUILD/tests/bench/gentrace" --out "$dir/$seed" --kernel-streams 4 --user-streams 4 --events "$events" --seed $seed >/dev/null
done
for ((i = 0; i < rounds; i++)); do
	rm -rf "$dir/merged" "$dir/ctf" "$dir/copy"
	cpu merge "$BUILD/jis" merge -q "$dir/1" "$dir/2" -o "$dir/merged" 2>"$dir/said"
	[ -e "$dir/merged/manifest.json" ] || { cat "$dir/said"; exit 1; }
	mkdir "$dir/ctf" "$dir/copy"
	cpu ctf sh -c 'for i in 1 2; do babeltrace2 --output-format=ctf -w "$0/ctf/$i" "$0/$i" >/dev/null || exit 1; done' "$dir"
	cpu cp cp -r "$dir/1" "$dir/2" "$dir/copy"
done
seconds=$(median <"$dir/merge.cpu") others=$(median <"$dir/ctf.cpu")
awk -v n=$((2 * events)) -v s="$seconds" -v o="$others" -v c="$(median <"$dir/cp.cpu")" -v m="$(median <"$dir/merge.mib")" -v r="$rounds" 'BEGIN {
	printf "%d events of two sessions: %.2f s of CPU, %.1f M events/s, %.0f MiB; babeltrace2 %.2f s (%.1f times as much), cp %.2f s (median of %d)\n",
		n, s, n / s / 1e6, m, o, o / s, c, r }'
