#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where the system calls of everybody are recorded, the recorder's own are: each page it reads from the kernel's rings makes
# two records in them, so they never are empty while it reads. It takes what is there and stops: its own calls, which are in
# the trace, are about as many as there are pages to read, and not 2,048 more each time.
. "$(dirname "$0")/lib.sh"
need_root

"$JIS" record -q --backend ftrace --no-agent --all --syscalls read,pread64 --buffer 32M -o "$TESTDIR/t" -- \
	sh -c 'sleep 2; echo $PPID' >"$TESTDIR/recorder" || fail "not recorded"
"$JIS" dump -q "$TESTDIR/t" >"$TESTDIR/dump"
# Pages are 4,096 bytes, of which a record takes 88 at most, but for a few with names of files. A round asks twice how
# many were lost (pread64), and reads what a page had left, what came meanwhile, and what is later, or that there is nothing.
awk -v me="$(cat "$TESTDIR/recorder")" '
	{ records++ }
	$3 == "syscall_io" && $7 == me "," && / nr = read,.* size = 4096 / { reads++ }
	$3 == "syscall_io" && $7 == me "," && / nr = pread64,/ { asked++ }
	END {
		pages = records * 88 / 4096
		print reads + 0 " pages read, in " asked / 2 " readings of a ring, for " records " records"
		exit !(asked >= 4 && reads >= asked / 2 && reads <= 2 * pages + 4 * asked / 2)
	}' "$TESTDIR/dump" || fail "it reads what its reading makes"
