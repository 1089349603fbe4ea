# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the tests of the kernel module share: the module loaded, jisraw and jisload (tests/lab/prog), and
# a recording in the background. Sourced, after lib.sh.

raw=$JIS_BUILD/tests/lab/jisraw
load=$JIS_BUILD/tests/lab/jisload
records=$LAB_TMP/records

[ -f "$JIS_BUILD/kmod/jis.ko" ] || fail "there is no $JIS_BUILD/kmod/jis.ko"
insmod "$JIS_BUILD/kmod/jis.ko" || fail "the module does not load"
[ -c /dev/jis ] || fail "there is no /dev/jis"

# try_raw NAME OPTION...: records, with the text in $records.NAME and the summary in $LAB_OUT/NAME
try_raw()
{
	local name=$1

	shift
	"$raw" -o "$records.$name" "$@" >"$LAB_OUT/$name" 2>&1 ||
		fail "recording $name: $(tail -n 25 "$LAB_OUT/$name")"
	[ -s "$records.$name" ] || fail "recording $name: no record"
}

# start_raw NAME OPTION...: the same in the background; sets raw_pid
start_raw()
{
	local name=$1

	shift
	"$raw" -o "$records.$name" "$@" >"$LAB_OUT/$name" 2>&1 &
	raw_pid=$!
	wait_for 200 "the recording $name" is_recording "$name"
}

is_recording()	# NAME
{
	kill -0 "$raw_pid" 2>/dev/null || fail "recording $1: $(cat "$LAB_OUT/$1")"
	grep -q '^recording' "$LAB_OUT/$1"
}

# stop_raw NAME PID
stop_raw()
{
	kill -INT "$2"
	wait "$2" || fail "recording $1: $(tail -n 25 "$LAB_OUT/$1")"
	[ -s "$records.$1" ] || fail "recording $1: no record"
}

# field NAME: an awk function v(name) that gives the value of a field in the current line
# shellcheck disable=SC2016,SC2034
awk_fields='function v(name,   i) {
	for (i = 4; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}'

lost_of()	# NAME
{
	sed -n 's/^produced .* lost //p' "$LAB_OUT/$1"
}

bytes_smallest=$(($(getconf _NPROCESSORS_CONF) * 4 * 4096))

# between_others NAME: switches between two threads that are no targets are those of a CPU that a target waits
# for. Prints others, and fails; then how many there are. A record that makes a target ready is stamped a moment
# after the CPU's switches begin to be recorded.
between_others()
{
	awk "$awk_fields"'
	function comes(cpu, from,   j) {
		for (j = from; j < from + 20 && j <= n; j++)
			if (into[j] == cpu)
				return 1
		return 0
	}
	function waits(cpu,   t) {
		for (t in wait)
			if (wait[t] == cpu)
				return 1
		return 0
	}
	NR == FNR { target[v("tid")] = 1; next }
	{ line[++n] = $0; into[n] = -1 }
	$3 ~ /^sched_wakeup/ { into[n] = v("target_cpu") }
	$3 == "sched_migrate_task" { into[n] = v("dest_cpu") }
	$3 == "thread_state" && v("state") == 256 { into[n] = v("cpu") }
	END {
		for (i = 1; i <= n; i++) {
			$0 = line[i]
			if (into[i] >= 0 && (v("tid") in wait || $3 != "sched_migrate_task")) wait[v("tid")] = into[i]
			if ($3 != "sched_switch") continue
			delete wait[v("next_tid")]
			if (v("prev_tid") in target && v("prev_state") == "0x100") wait[v("prev_tid")] = $1
			if (v("prev_tid") in target || v("next_tid") in target) continue
			foreign++
			if (!waits($1) && !comes($1, i)) { print; bad++ }
		}
		print foreign + 0 " between others"
		exit bad > 0
	}' <(grep -E 'thread_state|sched_process_fork' "$records.$1") <(sort -s -n -k2,2 "$records.$1")
}
