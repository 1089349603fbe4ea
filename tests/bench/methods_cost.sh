#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording the calls of a server's methods costs: CPU time of a Tomcat's JVM per request under wrk, of its example
# servlet: without a recording (off); recorded without a word of methods (plain); with no method chosen (none); with
# preset web, all sizes and no limit (all); with preset web as it is by default (web), and which methods that switched off.
# Rounds of the five in changing order in one JVM; differences are taken within a round: of none over plain, of all and web
# over none, as the kernel's side and the other families are the same there. Then how long Tomcat takes to start, with
# preset web and without.
# What is measured begins SETTLE (20) seconds after the recording, by when the guard has decided, at times twice, and the
# compilers have done most of what rewriting threw away: what they still do is told apart, by the CPU time of the threads that are
# none of theirs. Calls a request are those of the whole recording.
# Usage: tests/bench/methods_cost.sh BUILD [ROUNDS (8) [SECONDS (4) [STARTS (5)]]]; JAVA, SETTLE, and
# ARMS: two or more of "off plain none all web", all five if not given; percents are of off, or of the first without it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/demo/lib.sh
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-8} seconds=${3:-4} starts=${4:-5} settle=${SETTLE:-20}
jis=$BUILD/jis
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

# Prints the requests made.
load() { # SECONDS
	wrk -t1 -c8 -d"$1s" "http://127.0.0.1:$port/examples/servlets/servlet/HelloWorldExample" |
		awk '/requests in/ { print $1 } /Non-2xx|Socket errors/ { exit 1 }'
}

# CPU time of the JVM, and of its threads that are no compilers, in microseconds.
cpu() {
	local task
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%f ", ($12 + $13) * 1e6 / hz }' "/proc/$server/stat"
	for task in "/proc/$server/task/"*; do
		[[ $(<"$task/comm") == C[12]' Comp'* ]] || cat "$task/schedstat" || : # it has ended
	done 2>/dev/null | awk '{ ns += $1 } END { printf "%f", ns / 1000 }'
}

record() { # OPTION...
	"$jis" record -q --pool 256M -p "$server" -o "$dir/trace" "$@" 2>"$dir/record.log" &
	recorder=$!
	until "$jis" attach -q -o "$dir/trace" "$server" 2>/dev/null; do
		kill -0 $recorder || { cat "$dir/record.log"; exit 1; }
		sleep 0.1
	done
}

# Calls, lost ones too, what a pair is said to cost in ns, and methods switched off, of the trace.
calls() {
	[ -d "$dir/trace" ] || { echo 0 0 0; return; }
	python3 - "$dir/trace/manifest.json" <<'PY'
import json, sys
n = 0
for s in json.load(open(sys.argv[1]))["streams"]:
    if s["class"] == 2: # of users: records by number, see include/jis/events.h
        n += s["produced"].get("1", 0)
print(n, end=" ")
PY
	"$jis" methods --list "$dir/trace" >"$dir/list" 2>/dev/null || : # without methods
	[ ! -e "$dir/trace/methods.off" ] || sed -n '/^!/s/ *#.*//p' "$dir/trace/methods.off" >>"$dir/dropped"
	awk '/^# recorded by/ { ns = $(NF - 3) } END { printf "%s ", ns + 0 }' "$dir/list"
	if [ -e "$dir/trace/methods.off" ]; then grep -c '^!' "$dir/trace/methods.off" || true; else echo 0; fi
}

measure() { # ARM
	local before after n warm
	case $1 in
	plain) record ;;
	none) record --methods none ;;
	all) record --methods 'web,size>0' --methods-budget 0 ;;
	web) record --methods web ;;
	off) ;;
	*) echo "ARMS: $1 is none of off, plain, none, all, web" >&2; exit 1 ;;
	esac
	warm=$(load "$settle")
	before=$(cpu)
	n=$(load "$seconds")
	after=$(cpu)
	if [ -n "$recorder" ]; then
		kill -INT $recorder
		wait $recorder || { cat "$dir/record.log"; exit 1; }
		recorder=
	fi
	echo "$1 $(awk -v n="$n" '{ print ($3 - $1) / n, ($4 - $2) / n }' <<<"$before $after") $((warm + n)) $(calls)" >>"$dir/figures"
	rm -rf "$dir/trace"
}

# Milliseconds until the first answer.
start() { # COMMAND...
	local begin
	begin=$(date +%s%N)
	"$@" >"$dir/tomcat.log" 2>&1 &
	local pid=$!
	tomcat_wait "$port" $pid 200 || { tail "$dir/tomcat.log"; exit 1; }
	echo $((($(date +%s%N) - begin) / 1000000))
	kill -TERM $pid # not INT, which what a script starts in the background ignores
	wait $pid || true
	rm -rf "$dir/start"
}

"${command[@]}" >"$dir/tomcat.log" 2>&1 &
server=$!
tomcat_wait "$port" $server 200 || { tail "$dir/tomcat.log"; exit 1; }
load 20 >/dev/null
read -ra arms <<<"${ARMS:-off plain none all web}"
nr_arms=${#arms[@]}
for ((i = 0; i < rounds; i++)); do
	for ((k = 0; k < nr_arms; k++)); do # with five, each comes after each other one in turn
		measure "${arms[(i + k * (nr_arms == 5 ? 1 + i / 5 % 4 : 1)) % nr_arms]}"
	done
	printf '\rround %d of %d' $((i + 1)) "$rounds" >&2
done
echo >&2
kill -KILL $server
wait $server 2>/dev/null || true
server=

"${command[0]}" -version 2>&1 | sed -n '1p'
python3 - "$dir/figures" "${arms[@]}" <<'PY'
import statistics as st, sys
rows = {a: [] for a in sys.argv[2:]}
over = {"plain": "off", "none": "plain", "all": "none", "web": "none"}
for line in open(sys.argv[1]):
    arm, us, work, n, calls, pair, gone = line.split()
    rows[arm].append((float(us), int(n), int(calls), float(pair), int(gone), float(work)))
base = "off" if "off" in rows else sys.argv[2] # what percents are of
off = st.median(r[0] for r in rows[base])
for arm, v in rows.items():
    requests, calls = sum(r[1] for r in v), sum(r[2] for r in v)
    print("%-5s %7.1f us of CPU a request (median of %d), %.1f without the compilers, %7.1f calls" %
          (arm, st.median(r[0] for r in v), len(v), st.median(r[5] for r in v), calls / requests), end="")
    if over.get(arm) in rows:
        added = [x[0] - y[0] for x, y in zip(v, rows[over[arm]])]
        half = 1.7 * st.stdev(added) / len(added) ** 0.5 if len(added) > 1 else 0 # one-sided 95 %
        print(", over %s: median %.1f us, %.1f %%, upper 95 %% bound of the mean %.1f %%" %
              (over[arm], st.median(added), st.median(added) / off * 100, (st.mean(added) + half) / off * 100), end="")
        pair = st.median(r[3] for r in v)
        if arm == "all" and calls and pair:
            work = st.median(x[5] - y[5] for x, y in zip(v, rows[over[arm]]))
            ns = calls / requests * pair / 1000
            print("; %.2f times calls x %.1f ns, %.1f us and %.2f times without the compilers" %
                  (st.median(added) / ns, pair, work, work / ns), end="")
    if any(r[4] for r in v):
        print(", %d methods switched off" % st.median(r[4] for r in v), end="")
    print()
PY
# in how many rounds each was switched off
[ ! -e "$dir/dropped" ] || sort "$dir/dropped" | uniq -c | sort -rn | sed 's/^/switched off: /'

: >"$dir/starts"
for ((i = 0; i < starts; i++)); do
	echo "off $(start "${command[@]}")" >>"$dir/starts"
	echo "web $(start "$jis" record -q --methods web -o "$dir/start" -- "${command[@]}")" >>"$dir/starts"
done
awk '{ t[$1] = t[$1] " " $2; s[$1] += $2; n[$1]++ }
	END { for (a in t) printf "start %-3s mean %.0f ms:%s\n", a, s[a] / n[a], t[a] }' "$dir/starts"
