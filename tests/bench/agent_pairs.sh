#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the agent costs a Tomcat: CPU time of its JVM per request under wrk (tomcat_load.sh), in pairs of JVMs of which one is
# recorded with the agent, its default families, and the other by the kernel's side alone (--no-agent), with the same
# options. Both are started at once, warmed up for WARM seconds (15) each, and then loaded in turn, WINDOWS (12) times for a
# second each: so drifts of the machine meet both, and no compiler works anew as after an attach. What a JVM happened to
# compile how is its own for life: each pair is a launch, and the bound is over pairs.
# Usage: tests/bench/agent_pairs.sh BUILD [PAIRS (30)]; JAVA, RECORD_OPTIONS (--syscalls net,io,lock), PAGES. A pair takes a
# minute; nothing else should run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/demo/lib.sh
. tests/bench/tomcat_load.sh
BUILD=$(cd "${1:?build directory}" && pwd) pairs=${2:-30}
jis=$BUILD/jis
read -ra options <<<"${RECORD_OPTIONS:---syscalls net,io,lock}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
recorders=() servers=() ports=()
stop() {
	local i
	for i in "${!recorders[@]}"; do
		kill -INT "${recorders[i]}" 2>/dev/null || true
	done
	wait
	recorders=() servers=()
}
trap 'stop; rm -rf "$dir"' EXIT
[ "$(id -u)" = 0 ] || { echo "recording needs root" >&2; exit 1; }
command -v wrk >/dev/null || { echo "wrk is missing: install wrk" >&2; exit 1; }

# start ARM: 0 with the agent, 1 without.
start() {
	local none=() command
	[ "$1" = 0 ] || none=(--no-agent)
	ports[$1]=$(free_port)
	tomcat_base "$dir/base$1" "${ports[$1]}" "$BUILD/demo-classes/app"
	mapfile -t command < <(tomcat_command "$dir/base$1" -Xmx512m)
	"$jis" record -q "${options[@]}" "${none[@]}" -o "$dir/trace$1" -- "${command[@]}" >"$dir/log$1" 2>&1 &
	recorders[$1]=$!
}

for ((p = 0; p < pairs; p++)); do
	rm -rf "$dir"/{base,trace,log}*
	start $((p % 2))
	start $((1 - p % 2))
	all=(0 0)
	for arm in 0 1; do
		tomcat_wait "${ports[arm]}" "${recorders[arm]}" 200 || { tail "$dir/log$arm"; exit 1; }
		servers[arm]=$(pgrep -P "${recorders[arm]}")
		pages_make "${ports[arm]}" "$dir/pages$arm.lua"
	done
	for arm in 0 1; do
		n=$(load "${ports[arm]}" "$dir/pages$arm.lua" "${WARM:-15}")
		all[arm]=$((all[arm] + n))
	done
	for ((w = 0; w < ${WINDOWS:-12}; w++)); do
		for k in 0 1; do
			arm=$(((w + k + p) % 2))
			jit=$(jit_of "${servers[arm]}")
			before=$(cpu_of "${servers[arm]}")
			n=$(load "${ports[arm]}" "$dir/pages$arm.lua" 1)
			after=$(cpu_of "${servers[arm]}")
			echo "window $p $arm $n $(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }') $(awk -v a="$(jit_of "${servers[arm]}")" \
				-v b="$jit" 'BEGIN { print (a > b ? a - b : 0) }')" >>"$dir/figures"
			all[arm]=$((all[arm] + n))
		done
	done
	stop
	for arm in 0 1; do
		echo "trace $p $arm ${all[arm]} $(records_of "$dir/trace$arm")" >>"$dir/figures"
	done
	printf '\rpair %d of %d' $((p + 1)) "$pairs" >&2
done
echo >&2
"${JAVA:-java}" -version 2>&1 | sed -n '1p'
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/bench python3 - "$dir/figures" <<'PY'
import collections, statistics as st, sys
from differences import difference
n, us, jit = (collections.defaultdict(float) for _ in range(3))
requests, kernel, java, lost = [0, 0], [0, 0], [0, 0], 0
for line in open(sys.argv[1]):
    what, pair, arm, *rest = line.split()
    key = int(pair), int(arm)
    if what == "window":
        n[key] += float(rest[0]); us[key] += float(rest[1]); jit[key] += float(rest[2])
    else:
        requests[key[1]] += int(rest[0]); kernel[key[1]] += int(rest[1]); java[key[1]] += int(rest[2]); lost += int(rest[3])
pairs = sorted({k[0] for k in n})
for arm, name in enumerate(("agent", "kernel")):
    print("%-6s %6.1f us of CPU a request (median of %d launches), %4.1f the compiler's (mean), %5.1f records of the kernel's "
          "and %4.1f of the agent's" %
          (name, st.median(us[p, arm] / n[p, arm] for p in pairs), len(pairs), st.mean(jit[p, arm] / n[p, arm] for p in pairs),
           kernel[arm] / requests[arm], java[arm] / requests[arm]))
def compare(what, cost):
    difference(what, "pair", [(cost(p, 0) / cost(p, 1) - 1) * 100 for p in pairs])
compare("the agent", lambda p, arm: us[p, arm] / n[p, arm])
compare("the agent without the compiler's time", lambda p, arm: (us[p, arm] - jit[p, arm]) / n[p, arm])
if lost: print("%d records were lost, which cost less than one that is kept" % lost)
PY
