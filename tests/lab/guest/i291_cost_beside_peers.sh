#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a recording costs as it is used, its reader running and counted, beside ftrace and perf with the same
# events in the same guest: instructions of a pipe round trip (2 switches, 2 wakings, 2 wake-ups), and of one
# system call, its entry and exit. What is stored is what the kernel and the program counted, and nothing is lost. Runs by
# name only, under -icount with one CPU, where a ns is an instruction of anybody's:
#   ICOUNT=1 SMP=1 APPEND="jis.icount clearcpuid=erms,fsrm sysctl.kernel.hung_task_timeout_secs=0" \
#     tests/lab/run.sh trixie i291
# It asserts counts; how much anything costs it prints (docs/benchmarks.md). ROUNDS and CALLS are how many a run has.
# lab-timeout: 3600

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

tracing=/sys/kernel/tracing
instance=$tracing/instances/cost
program=$JIS_BUILD/tests/lab/jisload
load=("$program")
raw=$JIS_BUILD/tests/lab/jisraw
rounds=${ROUNDS:-25000}
calls=${CALLS:-100000}
runs=3
two=(sched/sched_switch sched/sched_wakeup)
three=("${two[@]}" sched/sched_waking)
both=(raw_syscalls/sys_enter raw_syscalls/sys_exit)

number()	# the figure jisload prints; keeps what else it says in $LAB_TMP/said
{
	tee "$LAB_TMP/said" | grep -oE '^[0-9]+$'
}

least()	# COMMAND...: sets figure to the least of some runs: no two are preempted alike
{
	local v i

	figure=999999999
	for ((i = 0; i < runs; i++)); do
		v=$("$@") || fail "$*: $v"
		[ "$v" -ge "$figure" ] || figure=$v
	done
}

row()	# NAME: of the figure
{
	echo "$figure $1" >>"$LAB_TMP/rows"
}

measure()	# NAME COMMAND...
{
	local name=$1

	shift
	least "$@"
	row "$name"
}

# table: the rows until now against the one that is called "untraced"
table()
{
	local base name n

	base=$(awk '$2 == "untraced" { print $1; exit }' "$LAB_TMP/rows")
	while read -r n name; do
		awk -v n="$n" -v b="$base" -v name="$name" 'BEGIN {
			printf "%-52s %8d %+7d %+7.2f %%\n", name, n, n - b, 100 * (n - b) / b }'
	done <"$LAB_TMP/rows"
	rm "$LAB_TMP/rows"
}

bare() { "${load[@]}" "$@" | number; }

# Records with jis as a user would, but for the buffer's size.
jis_run()	# OPTION... -- LOAD...
{
	rm -rf "$LAB_TMP/trace"
	"$JIS" record -q --no-agent --backend kmod -o "$LAB_TMP/trace" "$@" >"$LAB_TMP/jis.out" 2>&1 ||
		fail "jis record: $(cat "$LAB_TMP/jis.out")"
	"$JIS" info --strict "$LAB_TMP/trace" >"$LAB_OUT/info" || fail "records were lost: $(cat "$LAB_OUT/info")"
	number <"$LAB_TMP/jis.out"
}

# The cheapest reader of ftrace: whole pages, half a buffer at a time, moved to a file and not looked at.
splice_pages()
{
	exec python3 - "$instance/per_cpu/cpu0/trace_pipe_raw" "$LAB_TMP/ftrace" <<-'PYTHON'
		import os, sys
		pages = os.open(sys.argv[1], os.O_RDONLY)
		to = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
		out, into = os.pipe()
		print("reading", flush=True)
		while True:
		    n = os.splice(pages, into, 65536)
		    while n:
		        n -= os.splice(out, to, n)
	PYTHON
}

ftrace_run()	# EVENTS... -- LOAD...
{
	local reader stored

	mkdir -p "$instance"
	echo x86-tsc >"$instance/trace_clock"
	splice_pages >"$LAB_TMP/reader" 2>&1 &
	reader=$!
	wait_for 60 "the reader of ftrace" grep -q reading "$LAB_TMP/reader" >&2
	while [ "$1" != -- ]; do
		echo 1 >"$instance/events/$1/enable"
		shift
	done
	shift
	"${load[@]}" "$@" | number
	echo 0 >"$instance/events/enable"
	kill $reader || fail "the reader of ftrace: $(cat "$LAB_TMP/reader")"
	wait $reader 2>/dev/null
	stored=$(awk '/^(entries|read events):/ { n += $NF } END { print n }' "$instance/per_cpu/cpu0/stats")
	echo "$stored $(awk '/^(overrun|dropped events):/ { n += $NF } END { print n }' "$instance/per_cpu/cpu0/stats")" >"$LAB_TMP/peer"
	rmdir "$instance"
}

perf_run()	# EVENTS... -- LOAD...
{
	local events=()

	while [ "$1" != -- ]; do
		events+=(-e "${1/\//:}")
		shift
	done
	shift
	perf record -q -B -N -o "$LAB_TMP/perf" "${events[@]}" -- "${load[@]}" "$@" 2>"$LAB_OUT/perf.said" | number
	perf report --stats -i "$LAB_TMP/perf" >"$LAB_OUT/perf.stats" 2>&1
	echo "$(awk '$1 == "SAMPLE" && !n { n = $3 } END { print n + 0 }' "$LAB_OUT/perf.stats")" \
		"$(awk '/^ *LOST/ { n += $3 } END { print n + 0 }' "$LAB_OUT/perf.stats")" >"$LAB_TMP/peer"
}

# A peer that did not record what it was asked to is none to compare with.
peer()	# NAME AT-LEAST COMMAND...
{
	local name=$1 want=$2 stored lost

	shift 2
	least "$@"
	read -r stored lost <"$LAB_TMP/peer"
	[ $((stored + lost)) -ge "$want" ] || fail "$name: $stored records and $lost lost, not $want"
	row "$name (stored $stored, lost $lost)"
}

near()	# A B SLACK
{
	[ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]
}

# All that the kernel counted of both sides of the ping-pong is in the trace, and each wake-up has its waking. A side
# may be preempted between its rename and its looking at its counters: hence the slack there.
check_pingpong()	# POLICY
{
	local tid voluntary involuntary v i waking wakeup woken=0

	"$JIS" dump -q --raw "$LAB_TMP/trace" >"$LAB_TMP/dump" || fail "jis dump"
	[ "$(grep -c '^thread ' "$LAB_TMP/said")" = 2 ] || fail "not two sides: $(cat "$LAB_TMP/said")"
	while read -r _ tid _ voluntary _ involuntary _; do
		read -r v i waking wakeup < <(awk -v tid="$tid" '
			function f(name,   s) {
				if (!match($0, "[{ ]" name " = [^,}]*"))
					return ""
				s = substr($0, RSTART, RLENGTH)
				sub(/^.* = /, "", s)
				sub(/ +$/, "", s)
				gsub(/"/, "", s)
				return s
			}
			$3 == "task_rename" && f("tid") == tid { on = f("comm") == "begin" }
			!on { next }
			$3 == "sched_switch" && f("prev_tid") == tid { if (f("prev_state") == 256 || f("prev_state") == "0x100") i++; else v++ }
			$3 == "sched_waking" && f("tid") == tid { waking++ }
			$3 == "sched_wakeup" && f("tid") == tid { wakeup++ }
			END { print v + 0, i + 0, waking + 0, wakeup + 0 }' "$LAB_TMP/dump")
		echo "$tid: kernel $voluntary $involuntary, stored: switches $v $i, wakings $waking, wake-ups $wakeup"
		[ "$v" = "$voluntary" ] || fail "$tid slept $voluntary times, $v are stored"
		near "$i" "$involuntary" 2 || fail "$tid was preempted $involuntary times, $i are stored"
		[ "$waking" = "$wakeup" ] || fail "$tid: $waking wakings, $wakeup wake-ups"
		[ "$wakeup" -ge "$v" ] || fail "$tid slept $v times and was woken $wakeup times"
		woken=$((woken + wakeup))
	done < <(grep '^thread ' "$LAB_TMP/said")
	[ "$1" != batch ] || near $woken $((2 * rounds)) $((rounds / 100)) || fail "$woken wake-ups in $rounds round trips"
}

check_calls()	# CALL IN OUT: each that the program made is there, with its exit; patterns that tell them from others'
{
	local n=$((calls + 100)) enter leave

	"$JIS" dump -q "$LAB_TMP/trace" >"$LAB_TMP/dump" || fail "jis dump"
	enter=$(grep -E " syscall_(enter|io) .* nr = $1[, ]" "$LAB_TMP/dump" | grep -cE "$2")
	leave=$(grep -E " syscall_exit .* nr = $1[, ]" "$LAB_TMP/dump" | grep -cE "$3")
	echo "$1: $n called, stored: $enter entries, $leave exits"
	[ "$enter" = "$n" ] || fail "$1: $enter entries of $n calls"
	[ "$leave" = "$n" ] || fail "$1: $leave exits of $n calls"
}

# round_trips POLICY: under SCHED_BATCH a wake-up preempts nobody, so each side sleeps in each round; otherwise a side that
# is woken mostly takes the CPU, and the other need not sleep.
round_trips()
{
	load=(chrt "--$1" 0 "$program")
	"${load[@]}" rate "$rounds" >/dev/null
	measure untraced bare rate "$rounds"
	load_module
	measure "loaded, no session" bare rate "$rounds"
	"$raw" -C sleep 100000 >"$LAB_OUT/other" 2>&1 &
	wait_for 200 "a recording of another process" grep -q '^recording' "$LAB_OUT/other"
	measure "recording, but not these" bare rate "$rounds"
	kill -INT $!
	wait $!
	measure "jis record: switch, waking, wake-up" jis_run -- "${load[@]}" rate "$rounds"
	check_pingpong "$1"
	peer "ftrace: switch, wake-up" $((3 * rounds)) ftrace_run "${two[@]}" -- rate "$rounds"
	peer "ftrace: switch, waking, wake-up" $((4 * rounds)) ftrace_run "${three[@]}" -- rate "$rounds"
	peer "perf: switch, wake-up" $((3 * rounds)) perf_run "${two[@]}" -- rate "$rounds"
	peer "perf: switch, waking, wake-up" $((4 * rounds)) perf_run "${three[@]}" -- rate "$rounds"
	measure "untraced again" bare rate "$rounds"
	table | sed "s/^/$1, /" | tee -a "$LAB_OUT/cost"
	rmmod jis || fail "the module does not unload"
}

command -v perf >/dev/null || fail "there is no perf in the image"
grep -q jis.icount /proc/cmdline || skip "only under -icount, where instructions are time"
sleep 3 # for what the boot left to do
round_trips other
round_trips batch
load_module
for call in getppid read; do
	in='' out=''
	[ $call != read ] || in='size = 8[, ]' out='result = 8[, ]' # not those of the dynamic linker
	measure untraced bare $call "$calls"
	measure "jis record" jis_run --syscalls $call -- "${load[@]}" $call "$calls"
	check_calls $call "$in" "$out"
	peer ftrace $((2 * calls)) ftrace_run "${both[@]}" -- $call "$calls"
	peer perf $((2 * calls)) perf_run "${both[@]}" -- $call "$calls"
	table | sed "s/^/$call, /" | tee -a "$LAB_OUT/cost"
done
ok "what is stored is what was done, and nothing was lost"
