#!/bin/bash
# SPDX-License-Identifier: MIT
#
# complaints.sh [ALLOW]: prints the lines of a kernel log (standard input) in which
# the kernel complains about itself: bugs, warnings, broken locking rules, memory
# errors. Lines that match a regular expression of the file ALLOW (one a line, #
# starts a comment) are left out, and repeated lines. Exit status: 0 when there is none. Used by
# boot.sh on the host and by the test driver in the guest, so that both agree.

set -u
complaint='BUG:|WARNING:|Oops|KASAN|UBSAN|KCSAN|KFENCE|lockdep|possible (circular|recursive|irq lock inversion)'
complaint+='|inconsistent lock state|suspicious RCU usage|Invalid wait context|bad unlock balance'
complaint+='|unable to handle|general protection fault|double fault|kernel stack overflow|Kernel panic'
complaint+='|refcount_t:|(list_add|list_del) corruption|scheduling while atomic|sleeping function called'
complaint+='|blocked for more than [0-9]+ seconds|[0-9]+ new suspected memory leaks|ODEBUG:|Call Trace:'

found=$(tr -d '\r' | awk '!seen[$0]++' | grep -aE "$complaint" |
	grep -avE -f <(grep -svE '^[[:space:]]*(#|$)' "${1:-/dev/null}"))
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
