#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JaViz's size for real: client and server, 130 methods, 521,410 calls, 407 of them remote (tests/e2e/lib_javiz.sh). Elapsed
# time of the client from exec to exit, and with the tool's own start around it; CPU time of both with the tool's; untraced and
# traced in turn; size of the trace; CPU seconds from it to statistics and to call trees. JaViz: 1.5 times, 17 MB, half an hour.
# Needs root.
# Usage: tests/bench/javiz.sh BUILD [ROUNDS]; JAVA.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-15}
JAVA=${JAVA:-$(command -v java)} jis=$BUILD/jis
. tests/e2e/lib_javiz.sh
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
[ "$(id -u)" = 0 ] || { echo "recording needs root" >&2; exit 1; }
javiz_make "$dir/classes" || { echo "no javac beside $JAVA" >&2; exit 1; }
run=("$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$dir/classes")
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# CPU time of a process so far, in seconds (clock_getcpuclockid).
cpu_of() { python3 -c "import time; print(time.clock_gettime_ns((~$1 << 3) | 2) / 1e9)"; }

# one ARM: the client's elapsed seconds, those of the whole command, the client's and the server's CPU seconds.
one() {
	local arm=$1 server='' port client=(/usr/bin/time -f %e -o "$dir/time.own" "${run[@]}") host
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	if [ "$arm" = traced ]; then
		rm -rf "$dir/trace"
		"$jis" record -q -o "$dir/trace" --methods "$javiz_methods" --methods-budget 0 -- \
			"${run[@]}" JavizServer <"$dir/in" >"$dir/out" 2>"$dir/err" &
		client=("$jis" record --join "$dir/trace" -q -- "${client[@]}")
	else
		"${run[@]}" JavizServer <"$dir/in" >"$dir/out" 2>"$dir/err" &
	fi
	host=$!
	exec 9>"$dir/in"
	until grep -q '^PORT' "$dir/out"; do
		kill -0 $host 2>/dev/null || { cat "$dir/err"; exit 1; }
		sleep 0.05
	done
	port=$(sed -n 's/^PORT //p' "$dir/out")
	server=$host
	[ "$arm" = untraced ] || server=$(pgrep -P $host -x java)
	/usr/bin/time -f '%e %U %S' -o "$dir/time" "${client[@]}" JavizClient "$port" >/dev/null 2>"$dir/client.err"
	awk -v own="$(cat "$dir/time.own")" -v s="$(cpu_of "$server")" '{ print own, $1, $2 + $3 + s }' "$dir/time" >>"$dir/$arm"
	exec 9>&-
	wait $host || { cat "$dir/err"; exit 1; }
}

for ((i = 0; i < rounds; i++)); do
	for arm in $([ $((i % 2)) = 0 ] && echo untraced traced || echo traced untraced); do one $arm; done
	/usr/bin/time -f '%U %S' -o "$dir/time" "$jis" stats -q "$dir/trace" >/dev/null
	awk '{ print $1 + $2 }' "$dir/time" >>"$dir/stats"
	/usr/bin/time -f '%U %S' -o "$dir/time" "$jis" tree -q -o "$dir/tree" "$dir/trace"
	awk '{ print $1 + $2 }' "$dir/time" >>"$dir/tree.cpu"
	rm -f "$dir"/tree.{jta,mth,stt}
	printf '\rround %d of %d' $((i + 1)) "$rounds" >&2
done
echo >&2
"$JAVA" -version 2>&1 | sed -n 1p
for what in "1 elapsed time of the client" "2 the same, with what starts it" "3 CPU time of client and server"; do
	u=$(awk -v c="${what%% *}" '{ print $c }' "$dir/untraced" | median) t=$(awk -v c="${what%% *}" '{ print $c }' "$dir/traced" | median)
	awk -v w="${what#* }" -v u="$u" -v t="$t" 'BEGIN { printf "%s: untraced %.2f s, traced %.2f s, %.2f times\n", w, u, t, t / u }'
done
echo "the trace: $(du -sb --apparent-size "$dir/trace" | cut -f1) bytes"
echo "to statistics $(median <"$dir/stats") s of CPU, to call trees $(median <"$dir/tree.cpu") s (medians of $rounds)"
