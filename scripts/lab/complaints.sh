#!/bin/bash
# SPDX-License-Identifier: MIT
#
# complaints.sh [ALLOW]: prints the lines of a kernel log (standard input) in which
# the kernel complains about itself: bugs, warnings, broken locking rules, memory
# errors. Lines that match a regular expression of the file ALLOW (one a line, #
# starts a comment) are left out, and repeated lines, what KCSAN says of races that are the kernel's own, and the
# stacks of those who are told that there is no memory. Exit status: 0 when there is none. Used by
# boot.sh on the host and by the test driver in the guest, so that both agree.

set -u
complaint='BUG:|BUG [a-z]|WARNING:|Oops|KASAN|UBSAN|KCSAN|KFENCE|lockdep is turned off|possible (circular|recursive|irq lock inversion)'
complaint+='|inconsistent lock state|suspicious RCU usage|Invalid wait context|bad unlock balance'
complaint+='|unable to handle|general protection fault|double fault|kernel stack overflow|Kernel panic'
complaint+='|refcount_t:|(list_add|list_del) corruption|scheduling while atomic|sleeping function called'
complaint+='|blocked for more than [0-9]+ seconds|[0-9]+ new suspected memory leaks|ODEBUG:|Call Trace:'
complaint+='|leak detector disabled|held lock freed|non-static key|locking correctness validator'

# A report of KCSAN goes from one line of = to the next. A race is the module's when one of the two accesses is made
# in it or right below it; what an interrupt came between is told behind the interrupt's entry. The clock that may be read
# anywhere is read while it is being set, and then again: that is how the kernel makes it. capable() notes in its task's
# flags that it was asked, with a plain write. How often a thread has forbidden itself page faults is a count that what
# interrupts it raises and lowers again. The allocator of per-CPU memory looks at its count of empty pages without its lock.
# And what checks that nothing in use is freed keeps its own counts and flags without a lock.
own_races()
{
	awk '
		/==================================================/ {
			if (report !~ /KCSAN/ || (ours && !kernels)) printf "%s", report
			report = ""
			ours = kernels = count = same = 0
			inside = !inside
			next
		}
		!inside { print; next }
		/data-race in ktime_get_(raw|mono|boot|tai|real)_fast_ns|data-race in capable \/|data-race in [^\/]*\/ capable$|data-race in (debug_check_no_obj_freed|free_obj_work)[^\/]*\/ (debug_check_no_obj_freed|free_obj_work)|data-race in pcpu_[^\/ ]+ \/ pcpu_/ { kernels = 1 }
		/data-race in .*copy_from_user_nofault/ { count = 1 }
		match($0, /by task [0-9]+/) {
			task = substr($0, RSTART, RLENGTH)
			if (count && task == same) kernels = 1
			same = task
		}
		{ report = report $0 "\n" }
		/ to 0x.* bytes by |unknown origin, with / { depth = 1; next }
		/asm_|^[^+]*$/ { depth = 0 }
		depth && depth++ <= 3 && /\[jis\]/ { ours = 1 }
		END { printf "%s", report }'
}

# It is no bug, and tests have allocations fail on purpose. A bug has a line of its own as well.
without_shortages()
{
	awk '
		/: (page allocation failure|vmalloc error)[:,]/ { shortage = 1 }
		shortage && /Call Trace:/ { shortage = 0; next }
		{ print }'
}

found=$(tr -d '\r' | own_races | without_shortages | awk '!seen[$0]++' | grep -aE "$complaint" |
	grep -avE -f <(grep -svE '^[[:space:]]*(#|$)' "${1:-/dev/null}"))
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
