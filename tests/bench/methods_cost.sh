#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording the calls of a server's methods costs: CPU time of a Tomcat's JVM per request under wrk, of its example
# servlet: without a recording (off); recorded without a word of methods (plain); with no method chosen (none); with
# preset web, all sizes and no limit (all); with preset web as it is by default (web), and which methods that switched off.
# In each of LAUNCHES a JVM for each of the five, attached to once and warmed up in turn, then under load in rounds in changing
# order, the others idle: nothing is rewritten between what is compared. Differences are taken within a round: of none over
# plain, of all and web over none, as the kernel's side and the other families are the same there; of a launch the median is
# told, as no two JVMs lay out their code alike. Then how long Tomcat takes to start, with preset web and without.
# What is measured begins SETTLE (20) seconds of load after the recording, by when the guard has decided, at times twice, and the
# compilers have done most of what rewriting threw away: what they still do is told apart, by the CPU time of the threads that are
# none of theirs. Calls a request are those of the whole recording. All calls take some 150 MB of disk a second.
# Usage: tests/bench/methods_cost.sh BUILD [ROUNDS (8) [SECONDS (4) [STARTS (5)]]]; JAVA, SETTLE, LAUNCHES (3), and
# ARMS: two or more of "off plain none all web", all five if not given; percents are of off, or of the first without it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/demo/lib.sh
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-8} seconds=${3:-4} starts=${4:-5} settle=${SETTLE:-20}
launches=${LAUNCHES:-3}
jis=$BUILD/jis
dir=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
declare -A servers=() recorders=() ports=() requests=()
cleanup() {
	[ ${#recorders[@]} = 0 ] || kill -INT "${recorders[@]}" 2>/dev/null || true
	[ ${#servers[@]} = 0 ] || kill -KILL "${servers[@]}" 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap cleanup EXIT
[ "$(id -u)" = 0 ] || { echo "recording needs root" >&2; exit 1; }
command -v wrk >/dev/null || { echo "wrk is missing: install wrk" >&2; exit 1; }

# Adds to the arm's requests, and sets n to those made.
load() { # ARM SECONDS
	n=$(wrk -t1 -c8 -d"$2s" "http://127.0.0.1:${ports[$1]}/examples/servlets/servlet/HelloWorldExample" |
		awk '/requests in/ { print $1 } /Non-2xx|Socket errors/ { exit 1 }')
	requests[$1]=$((${requests[$1]:-0} + n))
}

# CPU time of the JVM, and of its threads that are no compilers, in microseconds.
cpu() { # ARM
	local task
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%f ", ($12 + $13) * 1e6 / hz }' "/proc/${servers[$1]}/stat"
	for task in "/proc/${servers[$1]}/task/"*; do
		[[ $(<"$task/comm") == C[12]' Comp'* ]] || cat "$task/schedstat" || : # it has ended
	done 2>/dev/null | awk '{ ns += $1 } END { printf "%f", ns / 1000 }'
}

record() { # ARM OPTION...
	local arm=$1
	shift
	"$jis" record -q --pool 256M -p "${servers[$arm]}" -o "$dir/$arm.trace" "$@" 2>"$dir/record.log" &
	recorders[$arm]=$!
	until "$jis" attach -q -o "$dir/$arm.trace" "${servers[$arm]}" 2>/dev/null; do
		kill -0 "${recorders[$arm]}" || { cat "$dir/record.log"; exit 1; }
		sleep 0.1
	done
}

# Calls, lost ones too, what a pair is said to cost in ns, and methods switched off, of the arm's trace.
calls() { # ARM
	local trace=$dir/$1.trace
	[ -d "$trace" ] || { echo 0 0 0; return; }
	python3 - "$trace/manifest.json" <<'PY'
import json, sys
n = 0
for s in json.load(open(sys.argv[1]))["streams"]:
    if s["class"] == 2: # of users: records by number, see include/jis/events.h
        n += s["produced"].get("1", 0)
print(n, end=" ")
PY
	"$jis" methods --list "$trace" >"$dir/list" 2>/dev/null || : # without methods
	[ ! -e "$trace/methods.off" ] || sed -n '/^!/s/ *#.*//p' "$trace/methods.off" >>"$dir/dropped"
	awk '/^# recorded by/ { ns = $(NF - 3) } END { printf "%s ", ns + 0 }' "$dir/list"
	if [ -e "$trace/methods.off" ]; then grep -c '^!' "$trace/methods.off" || true; else echo 0; fi
}

# Sets port and command.
place() { # NAME
	port=$(free_port)
	tomcat_base "$dir/$1" "$port" "$BUILD/demo-classes/app"
	mapfile -t command < <(tomcat_command "$dir/$1" -Xmx512m)
}

begin() { # ARM
	place "$1.base"
	ports[$1]=$port
	"${command[@]}" >"$dir/tomcat.log" 2>&1 &
	servers[$1]=$!
	tomcat_wait "${ports[$1]}" "${servers[$1]}" 200 || { tail "$dir/tomcat.log"; exit 1; }
	load "$1" 20
	requests[$1]=0
	case $1 in
	plain) record plain ;;
	none) record none --methods none ;;
	all) record all --methods 'web,size>0' --methods-budget 0 ;;
	web) record web --methods web ;;
	off) ;;
	*) echo "ARMS: $1 is none of off, plain, none, all, web" >&2; exit 1 ;;
	esac
	load "$1" "$settle"
}

measure() { # LAUNCH ARM
	local before after n
	before=$(cpu "$2")
	load "$2" "$seconds"
	after=$(cpu "$2")
	echo "$1 $2 $(awk -v n="$n" '{ print ($3 - $1) / n, ($4 - $2) / n }' <<<"$before $after")" >>"$dir/figures"
}

end() { # LAUNCH ARM
	if [ -n "${recorders[$2]:-}" ]; then
		kill -INT "${recorders[$2]}"
		wait "${recorders[$2]}" || { cat "$dir/record.log"; exit 1; }
	fi
	kill -KILL "${servers[$2]}"
	wait "${servers[$2]}" 2>/dev/null || true
	echo "$1 $2 ${requests[$2]} $(calls "$2")" >>"$dir/counts"
	rm -rf "$dir/$2.trace" "$dir/$2.base"
	unset "recorders[$2]" "servers[$2]"
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

read -ra arms <<<"${ARMS:-off plain none all web}"
nr_arms=${#arms[@]}
for ((launch = 0; launch < launches; launch++)); do
	for arm in "${arms[@]}"; do begin "$arm"; done
	for ((i = 0; i < rounds; i++)); do
		for ((k = 0; k < nr_arms; k++)); do # with five, each comes after each other one in turn
			measure $launch "${arms[(i + k * (nr_arms == 5 ? 1 + i / 5 % 4 : 1)) % nr_arms]}"
		done
		printf '\rlaunch %d of %d, round %d of %d' $((launch + 1)) "$launches" $((i + 1)) "$rounds" >&2
	done
	for arm in "${arms[@]}"; do end $launch "$arm"; done
done
echo >&2

"${command[0]}" -version 2>&1 | sed -n '1p'
python3 - "$dir/figures" "$dir/counts" "${arms[@]}" <<'PY'
import collections, statistics as st, sys
arms, launches = sys.argv[3:], range(1 + max(int(l.split()[0]) for l in open(sys.argv[1])))
over = {"plain": "off", "none": "plain", "all": "none", "web": "none"}
rounds, counts = collections.defaultdict(list), {}
for line in open(sys.argv[1]):
    launch, arm, us, work = line.split()
    rounds[int(launch), arm].append((float(us), float(work)))
for line in open(sys.argv[2]):
    launch, arm, requests, calls, pair, gone = line.split()
    counts[int(launch), arm] = int(calls) / int(requests), float(pair), int(gone)

def of_launches(f, fmt):
    v = sorted(f(l) for l in launches)
    return (fmt + " (" + fmt + " to " + fmt + ")") % (st.median(v), v[0], v[-1])

def cpu(arm, what):
    return lambda l: st.median(r[what] for r in rounds[l, arm])

def added(arm, what):
    return lambda l: st.median(x[what] - y[what] for x, y in zip(rounds[l, arm], rounds[l, over[arm]]))

base = "off" if "off" in arms else arms[0] # what percents are of
print("medians of", len(launches), "launches, and their range:")
for arm in arms:
    print("%-5s %s us of CPU a request, %s without the compilers, %.1f calls" %
          (arm, of_launches(cpu(arm, 0), "%.1f"), of_launches(cpu(arm, 1), "%.1f"), st.median(counts[l, arm][0] for l in launches)), end="")
    if over.get(arm) in arms:
        share = of_launches(lambda l: added(arm, 0)(l) / cpu(base, 0)(l) * 100, "%.1f")
        print(", over %s: %s us, %s %%" % (over[arm], of_launches(added(arm, 0), "%.1f"), share), end="")
        if arm == "all" and all(counts[l, arm][0] and counts[l, arm][1] for l in launches):
            ns = lambda l: counts[l, arm][0] * counts[l, arm][1] / 1000
            print("; %s times calls x %.1f ns, %s times without the compilers" %
                  (of_launches(lambda l: added(arm, 0)(l) / ns(l), "%.2f"), st.median(counts[l, arm][1] for l in launches),
                   of_launches(lambda l: added(arm, 1)(l) / ns(l), "%.2f")), end="")
    gone = [counts[l, arm][2] for l in launches]
    print(", %d methods switched off" % st.median(gone) if any(gone) else "")
PY
# in how many launches each was switched off
[ ! -e "$dir/dropped" ] || sort "$dir/dropped" | uniq -c | sort -rn | sed 's/^/switched off: /'

: >"$dir/starts"
place base
for ((i = 0; i < starts; i++)); do
	echo "off $(start "${command[@]}")" >>"$dir/starts"
	echo "web $(start "$jis" record -q --methods web -o "$dir/start" -- "${command[@]}")" >>"$dir/starts"
done
awk '{ t[$1] = t[$1] " " $2; s[$1] += $2; n[$1]++ }
	END { for (a in t) printf "start %-3s mean %.0f ms:%s\n", a, s[a] / n[a], t[a] }' "$dir/starts"
