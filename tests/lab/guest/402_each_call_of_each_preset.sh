#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each call of each preset, made once with arguments that tell which is which, leaves the records that its manual page
# makes one expect, in that order, and no others; no call that a preset selects is left out. With "all" the same of all
# calls, those of no preset among them.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

each=$JIS_BUILD/tests/lab/jiseach

# calls_of FILE: the numbers of the calls whose entry is in it
calls_of()
{
	sed -n 's/^syscall_[a-df-z][a-z]* .* nr=\([0-9]*\).*/\1/p; s/^syscall_enter .* nr=\([0-9]*\).*/\1/p' "$1" | sort -un
}

for preset in io net lock time mem file all; do
	try_raw $preset -S $preset -b $((32 << 20)) "$each" $preset
	[ "$(lost_of $preset)" = 0 ] || fail "$preset: records were lost: $(cat "$LAB_OUT/$preset")"
	grep '^syscall_' "$LAB_OUT/$preset" >"$LAB_OUT/$preset.expected"
	sort -s -n -k2,2 "$records.$preset" | awk "$awk_fields"'
	$3 == "task_rename" { on = v("comm") == "begin" }
	on && $3 ~ /^(syscall|fd)_/ { sub(/^[0-9]+ [0-9]+ /, ""); print }' >"$LAB_OUT/$preset.recorded"
	if [ $preset = all ]; then # the change of the name to "end", which is one, too
		sed -i '$d' "$LAB_OUT/$preset.recorded"
		sed -i '1{/syscall_exit/d}' "$LAB_OUT/$preset.recorded"
	fi
	diff "$LAB_OUT/$preset.expected" "$LAB_OUT/$preset.recorded" >"$LAB_OUT/$preset.diff" ||
		fail "$preset: expected (<) and recorded (>) differ: $(head -n 20 "$LAB_OUT/$preset.diff")"
	calls_of "$LAB_OUT/$preset.expected" >"$LAB_OUT/$preset.made"
	sed -n 's/^selected //p' "$LAB_OUT/$preset" | sort -un >"$LAB_OUT/$preset.selected"
	if [ $preset != all ]; then
		diff "$LAB_OUT/$preset.made" "$LAB_OUT/$preset.selected" >"$LAB_OUT/$preset.diff" ||
			fail "$preset: calls made (<) and selected (>) differ: $(head -n 20 "$LAB_OUT/$preset.diff")"
	fi
	ok "$preset: $(wc -l <"$LAB_OUT/$preset.made") calls as they must be"
done
