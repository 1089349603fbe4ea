#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program makes calls of every preset, on every kind of descriptor, and says which records they must leave:
# entry with all arguments, exit with the result, each descriptor named before its first use and again when it
# has become something else, 32-bit calls marked. The records are those, in that order, and no others.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

calls=$JIS_BUILD/tests/lab/jiscalls

# recorded NAME: the records of system calls between the thread's names "begin" and "end"
recorded()
{
	sort -s -n -k2,2 "$records.$1" | awk "$awk_fields"'
	$3 == "task_rename" { on = v("comm") == "begin" }
	on && $3 ~ /^(syscall|fd)_/ { sub(/^[0-9]+ [0-9]+ /, ""); print }'
}

mkdir -p "$LAB_TMP/files"
ip -6 addr add fd12:3456:789a:bcde::1/128 dev lo nodad || fail "no IPv6 address of which every half says something"
for preset in io net lock time mem file compat; do
	# Not all of them: opening would name what the program prepares before it begins.
	select=$preset
	[ $preset != compat ] || select=io,lock,time,openat,getpid
	try_raw $preset -S $select -b $((32 << 20)) "$calls" -6 "$LAB_TMP/files" $preset
	[ "$(lost_of $preset)" = 0 ] || fail "$preset: records were lost: $(cat "$LAB_OUT/$preset")"
	grep -E '^(syscall|fd)_' "$LAB_OUT/$preset" >"$LAB_OUT/$preset.expected"
	recorded $preset >"$LAB_OUT/$preset.recorded"
	diff "$LAB_OUT/$preset.expected" "$LAB_OUT/$preset.recorded" >"$LAB_OUT/$preset.diff" ||
		fail "$preset: expected (<) and recorded (>) differ: $(head -n 20 "$LAB_OUT/$preset.diff")"
	[ "$(wc -l <"$LAB_OUT/$preset.recorded")" -ge 12 ] || fail "$preset: hardly anything was called"
	ok "$preset: $(wc -l <"$LAB_OUT/$preset.recorded") records as they must be"
done
