#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Single threads, and cgroups, as targets of the ftrace backend: of the thread all its sleeps and nothing of its
# siblings; of the cgroup those that are in it or below, born there or come later, and nobody else, and not who has left. The
# names of cgroups are in the trace.
. "$(dirname "$0")/lib.sh"
need_root
. "$(dirname "$0")/lib_sleepers.sh"
cd "$TESTDIR" || exit 1

# A thread
start_sleeper two 2 150
one=$(sed -n 's/^thread //p' two | head -n 1)
start_record thread --tid "$one"
kill -USR1 $sleeper_pid
wait $sleeper_pid
stop_record thread
grep "^thread $one\$\|^slept $one " two >two.one
grep -v "^thread $one\$\|^slept $one " two >two.other
check thread two.one all
check thread two.other none
python3 -c 'import json,sys; t = [x["tid"] for x in json.load(open("thread/manifest.json"))["threads"]]; assert t == [int(sys.argv[1])], t' "$one"
expect_status 1 "$JIS" record -q --backend ftrace --tid 4194000 -o nobody
expect_says 'no such thread'

# Cgroups
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
expect_status 1 "$JIS" record -q --backend ftrace --cgroup /tmp -o nobody
expect_says 'no cgroup of the unified hierarchy'
[ -n "$root" ] || skip "no unified hierarchy here: cgroups are not tested"
mine=$root$(sed -n 's/^0:://p' /proc/self/cgroup)
mine=${mine%/}/jis-test-$$
mkdir -p "$mine/in/below" "$mine/out" || skip "no cgroup can be made"
trap 'for g in "$mine/in/below" "$mine/in" "$mine/out" "$mine"; do rmdir "$g" 2>/dev/null || true; done' EXIT
join() { echo "$1" >"$mine/$2/cgroup.procs" || fail "$1 cannot join $2"; }
for name in before below late never leaver; do
	start_sleeper $name 2 150
	declare "$name=$sleeper_pid"
done
# shellcheck disable=SC2154 # declared above
join "$before" in; join "$below" in/below; join "$leaver" in
join "$late" out; join "$never" out
start_record cgroup --cgroup "$mine/in"
join "$late" in
join "$leaver" out
sleep 0.3 # for the recorder to have read of the moves
kill -USR1 "$before" "$below" "$late" "$never" "$leaver"
# shellcheck disable=SC2016
bash -c 'echo $$ >"$0/in/below/cgroup.procs"; exec "$1" 2 150' "$mine" "$sleeper" >born || fail "one born there"
wait "$before" "$below" "$late" "$never" "$leaver"
stop_record cgroup
for name in before below late born; do check cgroup $name all; done
check cgroup never none
for t in $(sed -n 's/^thread //p' leaver); do
	! grep " task_rename: .* tid = $t," cgroup.bt || fail "$t is recorded though it has left"
done
path=${mine#"$root"}
for g in in in/below; do
	number=$(($(stat -c %i "$mine/$g") & 0xffffffff))
	grep -q " cgroup_name: .*cgroup = $number, .*path = \"$path/$g\"" cgroup.bt || fail "the name of $g is missing"
	grep -q " cgroup_attach: .*cgroup = $number }" cgroup.bt || fail "nobody is told to be in $g"
done
grep -q " sched_switch: .*prev_cgroup = $(($(stat -c %i "$mine/in") & 0xffffffff))," cgroup.bt || fail "switches do not tell the cgroup"
