#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The cgroup of each thread is told with the dump, at its birth and when it is moved; its name before; and each
# switch has its number, which is that of the directory.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

root=/sys/fs/cgroup
mkdir -p $root/k455a/inner $root/k455b || fail "no cgroups"
number() { echo $(($(stat -c %i "$root/$1") & 0xffffffff)); }
a=$(number k455a/inner) b=$(number k455b)
bash -c 'echo $$ >/sys/fs/cgroup/k455a/inner/cgroup.procs; exec "$0" irq 60 0' "$reason" >"$LAB_TMP/tid" &
pid=$!
started() { grep -q tid "$LAB_TMP/tid"; }
wait_for 30 "the start of the target" started
start_raw cgroups -b $((16 << 20)) -p $pid
sleep 0.5
echo $pid >$root/k455b/cgroup.procs
sleep 0.5
stop_raw cgroups "$raw_pid"
kill $pid
wait $pid 2>/dev/null
sort -s -n -k2,2 "$records.cgroups" | awk "$awk_fields"'
$3 == "cgroup_name" { name[v("cgroup")] = v("path") }
$3 == "cgroup_attach" && v("tid") == tid {
	if (!(v("cgroup") in name)) { print "not named: " $0; bad++ }
	list = list " " v("cgroup") "=" name[v("cgroup")]; at = v("cgroup"); n = 0
}
$3 == "sched_switch" && v("prev_tid") == tid {
	# switches come before the dump; and the move is told right after it was made
	if (at && v("prev_cgroup") != at && v("prev_cgroup") != b) { print "switch: " $0; bad++ }
	seen[v("prev_cgroup")]++
}
END { print list; print seen[a] + 0, seen[b] + 0; exit bad > 0 || seen[a] < 10 || seen[b] < 10 }' \
	tid=$pid a="$a" b="$b" >"$LAB_OUT/told" || fail "$(head -n 5 "$LAB_OUT/told")"
[ "$(head -n 1 "$LAB_OUT/told")" = " $a=/k455a/inner $b=/k455b" ] || fail "told: $(cat "$LAB_OUT/told")"
ok "told:$(head -n 1 "$LAB_OUT/told"); switches in each: $(tail -n 1 "$LAB_OUT/told")"

# born inside
bash -c 'echo $$ >/sys/fs/cgroup/k455b/cgroup.procs; exec sleep 1' &
pid=$!
# shellcheck disable=SC2016 # for that shell
try_raw born -C bash -c 'echo $$ >/sys/fs/cgroup/k455b/cgroup.procs; "$0" spin 1 0' "$reason"
child=$(sed -n 's/^tid //p' "$LAB_OUT/born")
awk "$awk_fields"'$3 == "cgroup_attach" && v("tid") == tid && v("cgroup") == b { n++ } END { exit n != 1 }' tid="$child" b="$b" \
	"$records.born" || fail "the cgroup of a child is not told once: $(grep cgroup "$records.born")"
ok "at birth"
wait $pid
rmdir $root/k455a/inner $root/k455a $root/k455b || fail "cgroups in use"
