# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the tests of filters share: sleepers (tests/lab/prog/jissleep) whose switches are known, and what a
# recording has of them. Sourced, after lib.sh and 1kmod.lib.sh.

sleeper=$JIS_BUILD/tests/lab/jissleep

# start_sleeper NAME THREADS N [COMMAND...]: waits at its gate; sets sleeper_pid
start_sleeper()
{
	local name=$1 threads=$2 n=$3

	shift 3
	"$@" "$sleeper" -g "$threads" "$n" >"$LAB_OUT/$name" 2>&1 &
	sleeper_pid=$!
	wait_for 60 "the sleeper $name" grep -q '^ready' "$LAB_OUT/$name"
}

# threads_of NAME: its threads' tids
threads_of()
{
	awk '$1 == "thread" { print $2 }' "$LAB_OUT/$1"
}

# slept RECORDING TID: how often it left a CPU asleep between its renames, as recorded; for a page of its program too
slept()
{
	sort -s -n -k2,2 "$records.$1" | awk -v tid="$2" "$awk_fields"'
	$3 == "task_rename" && v("tid") == tid { on = v("comm") == "begin" }
	on && $3 == "sched_switch" && v("prev_tid") == tid && v("prev_state") ~ /^0x(20)?[1-9a-f]$/ { n++ }
	END { print n + 0 }'
}

# all_there RECORDING NAME: each switch of each thread that the kernel counted
all_there()
{
	local tid n

	[ "$(lost_of "$1")" = 0 ] || fail "$1: records were lost: $(cat "$LAB_OUT/$1")"
	grep -q '^slept ' "$LAB_OUT/$2" || fail "$2 has not slept: $(cat "$LAB_OUT/$2")"
	while read -r _ tid n; do
		[ "$(slept "$1" "$tid")" = "$n" ] || fail "$1: $2: $tid slept $n times, $(slept "$1" "$tid") are recorded"
		grep -Eq " (thread_state|sched_process_fork) .*\<tid=$tid " "$records.$1" || fail "$1: $tid was never introduced"
	done < <(grep '^slept ' "$LAB_OUT/$2")
}

# nothing_of RECORDING TID...: it is recorded as a neighbour at most
nothing_of()
{
	local name=$1 tid

	shift
	for tid; do
		grep -E " (thread_state|task_rename|sched_wak[a-z_]*|sched_process_[a-z]*) (.* )?tid=$tid( |\$)" "$records.$name" |
			head -n 3 | grep . && fail "$name: $tid is recorded"
	done
}

# introduced_first RECORDING: whatever kind of record names a thread, it comes after one that says who that is.
# What a thread was called before it executed a program (old_tid) names nobody any more.
introduced_first()
{
	sort -s -n -k2,2 "$records.$1" | awk "$awk_fields"'
	BEGIN {
		split("prev_tid next_tid waker_tid sender_tid parent_tid tid", names)
		introduces["thread_state"] = introduces["task_name"] = introduces["sched_process_fork"] = 1
	}
	{
		for (i in names) {
			tid = v(names[i])
			if (names[i] == "tid" && $3 in introduces) born = tid
			else if (tid > 0) use(tid)
		}
		if ($3 in introduces) known[born] = 1
	}
	function use(tid) { kinds[$3]++; if (!(tid in known)) { print $0 ": " tid " is nobody"; known[tid] = 1; bad++ } }
	END {
		for (k in kinds) print kinds[k] " " k >used
		exit bad > 0
	}' used="$LAB_OUT/used.$1" >"$LAB_OUT/nobody.$1" || fail "$1: $(head -n 5 "$LAB_OUT/nobody.$1")"
}
