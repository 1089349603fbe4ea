#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording remote calls costs: how long a call of a chain of three JVMs takes, with all of them recorded without an
# agent's family, and with remote calls. Rounds of the two in changing order, each with JVMs of its own; the median of the
# rounds' differences, by call: each has two ends. All on one CPU, the recorder too, so that all it takes is in it, and the time
# to wake another CPU, which scatters by more than what is measured, is not. The first half of the calls is not timed.
# Usage: tests/bench/rmi_cost.sh BUILD [ROUNDS [CALLS]]; JAVA, CPU (the last one).
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-9} calls=${3:-100000} hops=3
java=$(readlink -f "$(command -v "${JAVA:-java}")") cpu=${CPU:-$(($(nproc) - 1))}
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
[ "$(id -u)" = 0 ] || { echo "recording needs root" >&2; exit 1; }

run() { # FAMILIES: ns a call of the chain
	rm -rf "$dir/trace"
	taskset -c "$cpu" "$BUILD/jis" record -q --java "$1" -o "$dir/trace" -- "$java" -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 -Djdk.lang.Process.launchMechanism=VFORK \
		-cp "$BUILD/tests/classes:$BUILD/jis-markers.jar" RemoteCalls tcp $hops 0 "$calls" time 2>"$dir/err" |
		sed -n 's/^MEAN //p'
}
for ((i = 1; i <= rounds; i++)); do
	echo -ne "\rround $i of $rounds" >&2
	if ((i % 2)); then
		off=$(run threads)
		on=$(run rmi)
	else
		on=$(run rmi)
		off=$(run threads)
	fi
	echo "$off $on" >>"$dir/rounds"
done
echo >&2
"$java" -version 2>&1 | head -n 1
python3 - "$dir/rounds" $hops <<'PY'
import statistics, sys
rounds = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
hops = int(sys.argv[2])
added = sorted((on - off) / hops / 1e3 for off, on in rounds)
print(f"{statistics.median(off for off, _ in rounds) / hops / 1e3:.1f} us a call, "
      f"{statistics.median(on for _, on in rounds) / hops / 1e3:.1f} us recorded (medians of {len(rounds)})")
print(f"added a call, both ends: median {statistics.median(added):.2f} us, {added[0]:.2f} to {added[-1]:.2f} us")
PY
