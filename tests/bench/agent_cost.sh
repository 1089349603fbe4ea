#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording costs a Tomcat: CPU time of its JVM per request under wrk, of its example servlets and JSPs in turn (or
# of PAGES, below /examples), in eight sessions, without a recording, with the kernel's side alone (--no-agent), and with
# the agent too. Rounds of the three in changing order in one JVM, each after SETTLE seconds (12) under load, as an attach
# and a detach have the JIT compiler work anew; what its threads still take while it is measured is in the figures, and
# told. Differences are taken within a round.
# Usage: tests/bench/agent_cost.sh BUILD [ROUNDS [SECONDS]]; JAVA, RECORD_OPTIONS (--syscalls net,io), PAGES, SETTLE, WARM
# (seconds before the first round). A bound needs five rounds.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/demo/lib.sh
. tests/bench/tomcat_load.sh
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-30} seconds=${3:-4}
jis=$BUILD/jis
read -ra options <<<"${RECORD_OPTIONS:---syscalls net,io}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
server='' recorder=''
cleanup() {
	[ -z "$recorder" ] || kill -INT "$recorder" 2>/dev/null || true
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap cleanup EXIT
[ "$(id -u)" = 0 ] || { echo "recording needs root" >&2; exit 1; }
command -v wrk >/dev/null || { echo "wrk is missing: install wrk" >&2; exit 1; }

port=$(free_port)
tomcat_base "$dir/base" "$port" "$BUILD/demo-classes/app"
mapfile -t command < <(tomcat_command "$dir/base" -Xmx512m)
"${command[@]}" >"$dir/tomcat.log" 2>&1 &
server=$!
tomcat_wait "$port" $server 200 || { tail "$dir/tomcat.log"; exit 1; }

pages_make "$port" "$dir/pages.lua"
measure() { # ARM
	local before after n warm jit
	case $1 in
	kernel) "$jis" record -q "${options[@]}" --no-agent -p $server -o "$dir/trace" 2>"$dir/record.log" & recorder=$! ;;
	agent) "$jis" record -q "${options[@]}" -p $server -o "$dir/trace" 2>"$dir/record.log" & recorder=$! ;;
	esac
	warm=$(load "$port" "$dir/pages.lua" "${SETTLE:-12}")
	jit=$(jit_of "$server")
	before=$(cpu_of "$server")
	n=$(load "$port" "$dir/pages.lua" "$seconds")
	after=$(cpu_of "$server")
	jit=$(awk -v a="$(jit_of "$server")" -v b="$jit" -v n="$n" 'BEGIN { print (a > b ? a - b : 0) / n }')
	if [ -n "$recorder" ]; then
		kill -INT $recorder
		wait $recorder || { cat "$dir/record.log"; exit 1; }
		recorder=
	fi
	echo "$1 $(awk -v a="$after" -v b="$before" -v n="$n" 'BEGIN { print (a - b) / n }') $((warm + n)) $(records_of "$dir/trace") $jit" \
		>>"$dir/figures"
	rm -rf "$dir/trace"
}

load "$port" "$dir/pages.lua" "${WARM:-20}" >/dev/null
arms=(off kernel agent)
for ((i = 0; i < rounds; i++)); do
	for ((k = 0; k < 3; k++)); do
		measure "${arms[(i + k * (1 + i / 3 % 2)) % 3]}"
	done
	printf '\rround %d of %d' $((i + 1)) "$rounds" >&2
done
echo >&2
"${command[0]}" -version 2>&1 | sed -n '1p'
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/bench python3 - "$dir/figures" <<'PY'
import statistics as st, sys
from differences import difference
arms = {"off": [], "kernel": [], "agent": []}
requests = {a: 0 for a in arms}
kernel, java = dict(requests), dict(requests)
jit, lost = {a: [] for a in arms}, 0
for line in open(sys.argv[1]):
    arm, us, n, k, j, l, compiler = line.split()
    lost += int(l)
    jit[arm].append(float(compiler))
    arms[arm].append(float(us))
    requests[arm] += int(n); kernel[arm] += int(k); java[arm] += int(j)
off = st.median(arms["off"])
for arm, v in arms.items():
    print("%-7s %7.1f us of CPU a request (median of %d), %4.1f the compiler's (mean), %5.1f records of the kernel's and "
          "%5.1f of the agent's" %
          (arm, st.median(v), len(v), st.mean(jit[arm]), kernel[arm] / requests[arm], java[arm] / requests[arm]))
def compare(what, a, b):
    return difference(what, "round", [(x - y) / off * 100 for x, y in zip(arms[a], arms[b])]) * off / 100
compare("the agent", "agent", "kernel")
if lost: print("%d records were lost, which cost less than one that is kept" % lost)
us = compare("the kernel's side", "kernel", "off")
print("%.0f ns each of the kernel's records" % (us * 1000 * requests["kernel"] / kernel["kernel"]))
PY
