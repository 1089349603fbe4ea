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
