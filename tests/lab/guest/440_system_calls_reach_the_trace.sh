#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From the module through the recorder to `jis dump` and babeltrace2: calls, files, addresses and the call a
# switch happened in are there in words.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module

calls=$JIS_BUILD/tests/lab/jiscalls
mkdir -p "$LAB_TMP/files"

recorded()	# NAME SET COMMAND...
{
	local name=$1 set=$2

	shift 2
	"$JIS" record -q --backend kmod --syscalls "$set" -o "$LAB_TMP/$name" -- "$@" >"$LAB_OUT/$name.said" ||
		fail "$name cannot be recorded"
	"$JIS" info --strict "$LAB_TMP/$name" >"$LAB_OUT/$name.info" || fail "$name: records were lost"
	"$JIS" dump "$LAB_TMP/$name" >"$LAB_OUT/$name.dump" || fail "$name cannot be dumped"
}

says()	# NAME PATTERN
{
	grep -qE -- "$2" "$LAB_OUT/$1.dump" || fail "$1: nothing like: $2"
}

recorded net net "$calls" "$LAB_TMP/files" net
grep -q '^system calls  *net$' "$LAB_OUT/net.info" || fail "info does not tell the set"
says net 'fd_socket \{ .*family = AF_INET, type = SOCK_STREAM, .*local0 = 127\.0\.0\.1, peer0 = 127\.0\.0\.1 \}'
says net 'syscall_address \{ .*nr = connect, .*family = AF_INET6, port = [0-9]+, address0 = ::1 \}'
says net 'syscall_address \{ .*family = AF_UNIX'
says net 'nr = connect, result = -ECONNREFUSED'
ok "addresses"

recorded file file "$calls" "$LAB_TMP/files" file
says file "fd_file \\{ .*type = file, path = \"$LAB_TMP/files/one\" \\}"
says file 'fd_file \{ .*type = eventfd, path = "anon_inode:\[eventfd\]" \}'
says file 'syscall_path \{ .*nr = openat, dirfd = -100, flags = 0x0, path = ".*there is none" \}'
ok "files"

recorded compat getpid,read "$calls" "$LAB_TMP/files" compat
says compat 'nr = getpid \(32-bit\)'
recorded block futex "$JIS_BUILD/tests/lab/jisblock" block
says block 'prev_syscall = futex,'
says block 'prev_syscall = read \(32-bit\),'
says block 'prev_syscall = unknown'
ok "32-bit calls, and those of switches"

recorded all all bash -c 'for ((i = 0; i < 50; i++)); do /bin/true; done'
n=$(grep -c 'syscall_path { .*nr = execve, .*path = "/bin/true" }' "$LAB_OUT/all.dump")
[ "$n" = 50 ] || fail "50 programs were executed, $n are recorded"
n=$(grep -c 'syscall_enter { .*nr = exit_group }' "$LAB_OUT/all.dump")
[ "$n" = 51 ] || fail "51 processes ended, $n are recorded"
ok "children"

if command -v babeltrace2 >/dev/null; then
	for name in net file compat; do
		babeltrace2 "$LAB_TMP/$name/kernel" >"$LAB_OUT/$name.bt2" 2>&1 || fail "babeltrace2: $(tail -n 3 "$LAB_OUT/$name.bt2")"
		for event in syscall_exit fd_file fd_socket syscall_path syscall_address syscall_io; do
			[ "$(grep -c " $event:" "$LAB_OUT/$name.bt2")" = "$(grep -c " $event {" "$LAB_OUT/$name.dump")" ] ||
				fail "$name: $event: babeltrace2 counts otherwise"
		done
	done
	ok "babeltrace2 counts the same"
fi
