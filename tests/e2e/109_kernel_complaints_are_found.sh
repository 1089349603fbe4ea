#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the lab takes for a complaint of the kernel's, and what not: bugs, warnings, leaks, races of the module's; races of
# the kernel's own, and memory that a test has it run out of, are none.
. "$(dirname "$0")/lib.sh"
filter=$(dirname "$0")/../../scripts/lab/complaints.sh
bar="[ 1.0] =================================================================="

# race TITLE ACCESS...: a report of KCSAN; an access is the functions of its stack, innermost first.
race() {
	echo "$bar"
	echo "[ 1.0] BUG: KCSAN: data-race in $1"
	shift
	local access f module n=0
	for access; do
		n=$((n + 1))
		echo "[ 1.0] write to 0xffff888000001000 of 8 bytes by task $n on cpu $n:"
		for f in $access; do
			module=
			case $f in jis_*) module=" [jis]" ;; esac
			echo "[ 1.0]  $f+0x1/0x2$module"
		done
	done
	echo "$bar"
}
# finds WHAT TEXT: the last bug told of in it, or else its first line, is a complaint.
finds() {
	local want
	want=$(grep BUG <<<"$2" | tail -n 1) || want=$(head -n 1 <<<"$2")
	grep -qxF -- "$want" < <("$filter" <<<"$2") || fail "not found: $1"
}
leaves() {
	"$filter" <<<"$2" || fail "taken for a complaint: $1"
}

finds "a bug" "[ 1.0] BUG: unable to handle page fault for address: 0"
finds "a warning" "[ 1.0] WARNING: CPU: 0 PID: 1 at kernel/fork.c:1"
finds "a leak" "[ 1.0] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)"
finds "what lockdep says" "[ 1.0] WARNING: possible circular locking dependency detected"
finds "memory used after it was freed" "[ 1.0] BUG: KASAN: slab-use-after-free in jis_ioctl+0x1/0x2 [jis]"
finds "a race of the module" "$(race "jis_one / jis_two" "jis_one vfs_ioctl" "jis_two vfs_ioctl")"
finds "a race right below it" "$(race "kfree / memcpy" "kfree jis_free vfs_ioctl" "memcpy copy vfs_read")"
finds "a race of one side" "$(race "jis_one / try_to_wake_up" "jis_one vfs_ioctl" "try_to_wake_up wake_up")"
leaves "a race of the kernel" "$(race "do_one / do_two" "do_one vfs_ioctl" "do_two vfs_read")"
leaves "one far below the module" "$(race "do_one / do_two" "do_one do_three do_four do_five jis_ioctl" "do_two vfs_read")"
leaves "one of the allocator of per-CPU memory" \
	"$(race "pcpu_alloc_noprof / pcpu_block_update_hint_alloc" "pcpu_block_update_hint_alloc pcpu_alloc_area pcpu_alloc_noprof jis_set" "pcpu_alloc_noprof jis_create")"
finds "one of that memory" "$(race "jis_one / pcpu_memset" "jis_one vfs_ioctl" "pcpu_memset pcpu_alloc_noprof jis_set")"
finds "one behind the allocator's" "$(race "pcpu_alloc_noprof / pcpu_free" "pcpu_alloc_noprof jis_set" "pcpu_free jis_free"
	race "jis_one / jis_two" "jis_one vfs_ioctl" "jis_two vfs_ioctl")"
leaves "a shortage" "[ 1.0] jisstress: page allocation failure: order:0
[ 1.0] Call Trace:
[ 1.0]  dump_stack+0x1/0x2"
finds "a stack of its own" "[ 1.0] Call Trace:"
leaves "talk" "[ 1.0] jis: loaded
[ 1.0] smpboot: CPU 3 is now offline"
