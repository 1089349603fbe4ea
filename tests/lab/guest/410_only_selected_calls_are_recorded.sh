#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Of a program that makes many calls only those selected are recorded, each with its entry and its exit; without
# --syscalls none is; and descriptors are named only for them.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

calls=$JIS_BUILD/tests/lab/jiscalls
mkdir -p "$LAB_TMP/files"

# numbers NAME: each number of a call that has a record, once
numbers()
{
	awk "$awk_fields"'$3 ~ /^syscall_/ { print v("nr") }' "$records.$1" | sort -un | paste -sd' '
}

try_raw none "$calls" "$LAB_TMP/files" io
grep -E ' (syscall|fd)_' "$records.none" | head -n 3 | grep . && fail "calls are recorded though none was asked for"
ok "none without being asked for"

try_raw some -S read,futex,-futex "$calls" "$LAB_TMP/files" io
[ "$(numbers some)" = "0 536870915" ] || [ "$(numbers some)" = 0 ] || fail "not only read: $(numbers some)"
awk "$awk_fields"'
$3 == "syscall_io" { io++ }
$3 == "syscall_exit" { out++ }
$3 ~ /^syscall_/ && $3 !~ /^syscall_(io|exit)$/ { other++ }
# the read the program waited in when recording began has an exit only
END { print io, out, other + 0; exit !((io == out || io + 1 == out) && io >= 10 && !other) }' "$records.some" >"$LAB_OUT/pairs" ||
	fail "reads, exits, others: $(cat "$LAB_OUT/pairs")"
expected=$(grep -c '^syscall_io .* nr=0 ' "$LAB_OUT/some")
between=$(sort -s -n -k2,2 "$records.some" | awk "$awk_fields"'
	$3 == "task_rename" { on = v("comm") == "begin" }
	on && $3 == "syscall_io" { n++ }
	END { print n + 0 }')
[ "$between" = "$expected" ] || fail "$expected reads were made, $between are recorded"
ok "only what was selected: $expected reads"

# Threads that are no target leave nothing, whatever they call.
"$load" rate 2000 >"$LAB_TMP/other" &
try_raw targets -S all -b $((32 << 20)) "$calls" "$LAB_TMP/files" lock
wait
awk "$awk_fields"'
$3 == "thread_state" || $3 == "sched_process_fork" { target[v("tid")] = 1 }
$3 ~ /^syscall_/ && !(v("tid") in target) { print; bad++ }
$3 ~ /^syscall_/ { n++ }
END { print n; exit bad > 0 || n < 50 }' <(sort -s -n -k2,2 "$records.targets") >"$LAB_OUT/foreign" ||
	fail "a call of a thread that is no target: $(head -n 3 "$LAB_OUT/foreign")"
ok "only targets"

# Two threads on two CPUs use the same descriptors: whoever comes first, the name stands before the first use, and
# is not told again with each.
try_raw names -S read,write -b $((64 << 20)) "$load" cross 2000
[ "$(lost_of names)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/names")"
awk "$awk_fields"'
$3 == "thread_state" || $3 == "sched_process_fork" { process[v("tid")] = v("pid") }
$3 == "fd_file" { named[v("pid"), v("fd")] = 1; names++ }
$3 == "syscall_io" {
	uses++
	if (v("fd") >= 0 && !((process[v("tid")], v("fd")) in named)) { print $0 ": no name"; bad++ }
}
END { print names + 0 " names, " uses + 0 " uses"; exit bad > 0 || uses < 8000 || names < 4 || names > 100 }' \
	<(sort -s -n -k2,2 "$records.names") >"$LAB_OUT/named" || fail "$(head -n 5 "$LAB_OUT/named")"
ok "named once before use: $(tail -n 1 "$LAB_OUT/named")"
