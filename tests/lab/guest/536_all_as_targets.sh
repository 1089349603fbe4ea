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
ls -d /proc/[0-9]*/task/[0-9]* | sed 's,.*/,,' | sort -n >"$LAB_TMP/before"
start_raw all -b $((64 << 20)) -x all
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
missing=$(comm -23 <(sort "$LAB_TMP/before") <(sort "$LAB_TMP/told") | wc -l)
[ "$missing" -le 10 ] || fail "$missing of $(wc -l <"$LAB_TMP/before") threads are not described"
ok "$(wc -l <"$LAB_TMP/told") threads described, $missing have ended before; two programs to the last switch"

for what in --all "--cgroup $(sed -n 's,^0::/,,p' /proc/self/cgroup)"; do
	# shellcheck disable=SC2086 # an option and its value
	"$JIS" record -o "$LAB_TMP/trace${what%% *}" $what -- "$sleeper" 1 50 >"$LAB_OUT/cli" 2>&1 || fail "jis record $what: $(cat "$LAB_OUT/cli")"
	"$JIS" info "$LAB_TMP/trace${what%% *}" >"$LAB_OUT/info" || fail "jis info"
	grep -Eq "^recorded of *(all|cgroup /sys/fs/cgroup/.*)\$" "$LAB_OUT/info" || fail "jis info does not say $what"
	grep -Eq "^recorded of *process [0-9]*, children\$" "$LAB_OUT/info" || fail "jis info does not tell the command"
	"$JIS" report "$LAB_TMP/trace${what%% *}" >"$LAB_OUT/report" || fail "jis report"
	grep -q ' bash\|534\|536' "$LAB_OUT/report" || head -n 5 "$LAB_OUT/report"
done
start_sleeper one 2 50
one=$(threads_of one | head -n 1)
"$JIS" record -o "$LAB_TMP/trace-tid" --tid "$one" >"$LAB_OUT/tid" 2>&1 &
recorder=$!
wait_for 60 "the recording" grep -q 'recording into' "$LAB_OUT/tid"
kill -USR1 "$sleeper_pid"
wait "$sleeper_pid"
wait $recorder || fail "jis record --tid does not end with the thread: $(cat "$LAB_OUT/tid")"
"$JIS" info "$LAB_TMP/trace-tid" | grep "^recorded of *thread $one\$" >/dev/null || fail "jis info does not say the thread"
"$JIS" dump "$LAB_TMP/trace-tid" | grep "task_rename { tid = $one, .*comm = \"end\"" >/dev/null || fail "the thread is not recorded"
ok "--all, --cgroup, --tid"

"$JIS" record -o "$LAB_TMP/no" --tid 99999999 2>"$LAB_OUT/no" && fail "a thread that is none"
grep -q 'no such thread' "$LAB_OUT/no" || fail "it said: $(cat "$LAB_OUT/no")"
"$JIS" record -o "$LAB_TMP/no2" --cgroup /proc 2>"$LAB_OUT/no" && fail "a cgroup that is none"
grep -q 'no cgroup' "$LAB_OUT/no" || fail "it said: $(cat "$LAB_OUT/no")"
ok "what cannot be is refused in words"
