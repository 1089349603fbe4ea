#!/bin/bash
# SPDX-License-Identifier: MIT
#
# All threads as targets: every thread of /proc is described, every one that comes is born, nobody is
# foreign; and what `jis record` takes on its command line is what it records.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

start_sleeper there 3 150
there=$sleeper_pid
threads() { printf '%s\n' /proc/[0-9]*/task/[0-9]* | sed 's,.*/,,' | sort -u; }
threads >"$LAB_TMP/before"
start_raw all -b $((64 << 20)) -x all
threads >"$LAB_TMP/begun"
kill -USR1 "$there"
"$sleeper" 3 150 >"$LAB_OUT/new"
wait "$there"
stop_raw all "$raw_pid"
all_there all there
all_there all new
introduced_first all
grep -q ' task_name ' "$records.all" && fail "somebody is foreign: $(grep -m 3 ' task_name ' "$records.all")"
sed -n 's/.* thread_state tid=\([0-9]*\) .*/\1/p' "$records.all" | sort -n | uniq -c | awk '$1 > 1 { print "twice: " $2 }' |
	head -n 3 | grep . && fail "introduced twice"
sed -n 's/.* thread_state tid=\([0-9]*\) .*/\1/p' "$records.all" | sort -n -u >"$LAB_TMP/told"
for t in $(threads_of there) 1 2; do
	grep -qx "$t" "$LAB_TMP/told" || fail "$t is not described"
done
comm -12 "$LAB_TMP/before" "$LAB_TMP/begun" >"$LAB_TMP/present" # whoever is missing in one of them has come or gone
missing=$(comm -23 "$LAB_TMP/present" <(sort "$LAB_TMP/told"))
[ -z "$missing" ] || fail "threads that were there are not described: $missing"
ok "$(wc -l <"$LAB_TMP/told") threads described, $(wc -l <"$LAB_TMP/present") of them there before; two programs to the last switch"
