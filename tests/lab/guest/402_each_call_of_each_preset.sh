#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each call of each preset, made once with arguments that tell which is which, by a 64-bit program and as 32-bit call,
# leaves the records that its manual page makes one expect, in that order, and no others; no call that a preset selects
# is left out. "all" selects each call that this Debian's headers have a number for, and each of them is recorded, but
# for the dozen that cannot be made with arguments that are nonsense.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

each=$JIS_BUILD/tests/lab/jiseach
compat_bit=$((0x20000000))

# calls_of FILE: the numbers of the calls whose entry is in it
calls_of()
{
	sed -n 's/^syscall_[a-df-z][a-z]* .* nr=\([0-9]*\).*/\1/p; s/^syscall_enter .* nr=\([0-9]*\).*/\1/p' "$1" | sort -un
}

# of_abi ABI: of numbers, those of native or of 32-bit calls
of_abi()
{
	awk -v compat=$compat_bit -v abi="$1" '($1 >= compat) == (abi == "compat")'
}

# headers ABI: the calls that the headers know, as lines "NUMBER NAME"
headers()
{
	local table=names_x86_64

	[ "$1" = native ] || table=names_i386
	sed -n "/ $table\[/,/^};/s/^\t\[\([0-9]*\)\] = \"\(.*\)\",/\1 \2/p" "$JIS_BUILD/gen/syscall_names.h"
}

# try_each PRESET ABI: as it must be?
try_each()
{
	local preset=$1 abi=$2 run=$1.$2 bit=0

	headers "$abi" >"$LAB_TMP/headers"
	[ "$abi" = native ] || bit=$compat_bit
	try_raw "$run" -S "$preset" -b $((32 << 20)) "$each" "$preset" ${abi/native/} <"$LAB_TMP/headers"
	[ "$(lost_of "$run")" = 0 ] || fail "$run: records were lost: $(cat "$LAB_OUT/$run")"
	grep '^syscall_' "$LAB_OUT/$run" >"$LAB_OUT/$run.expected"
	sort -s -n -k2,2 "$records.$run" | awk "$awk_fields"'
	$3 == "task_rename" { on = v("comm") == "begin" }
	on && $3 ~ /^(syscall|fd)_/ { sub(/^[0-9]+ [0-9]+ /, ""); print }' >"$LAB_OUT/$run.recorded"
	if [ "$preset" = all ]; then # the change of the name to "end", which is one, too
		sed -i '$d' "$LAB_OUT/$run.recorded"
		sed -i '1{/syscall_exit/d}' "$LAB_OUT/$run.recorded"
	fi
	diff "$LAB_OUT/$run.expected" "$LAB_OUT/$run.recorded" >"$LAB_OUT/$run.diff" ||
		fail "$run: expected (<) and recorded (>) differ: $(head -n 20 "$LAB_OUT/$run.diff")"
	{ calls_of "$LAB_OUT/$run.recorded" && sed -n 's/^never //p' "$LAB_OUT/$run"; } | of_abi "$abi" | sort -un >"$LAB_OUT/$run.made"
	sed -n 's/^selected //p' "$LAB_OUT/$run" | of_abi "$abi" | sort -un >"$LAB_OUT/$run.selected"
	diff "$LAB_OUT/$run.made" "$LAB_OUT/$run.selected" >"$LAB_OUT/$run.diff" ||
		fail "$run: calls made (<) and selected (>) differ: $(head -n 20 "$LAB_OUT/$run.diff")"
	ok "$run: $(wc -l <"$LAB_OUT/$run.made") calls as they must be"
	[ "$preset" = all ] || return 0
	awk -v bit="$bit" '{ print $1 + bit }' "$LAB_TMP/headers" | sort -un | diff - "$LAB_OUT/$run.selected" >"$LAB_OUT/$run.diff" ||
		fail "$run: calls of the headers (<) and selected (>) differ: $(head -n 20 "$LAB_OUT/$run.diff")"
	[ "$(wc -l <"$LAB_TMP/headers")" -ge 350 ] || fail "$run: the headers have hardly any call"
	[ "$(grep -c '^never ' "$LAB_OUT/$run")" -le 12 ] || fail "$run: many calls were not made"
}

for preset in io net lock time mem file all; do
	for abi in native compat; do
		try_each $preset $abi
	done
done
