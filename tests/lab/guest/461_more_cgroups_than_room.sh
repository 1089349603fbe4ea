#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Cgroups whose threads have run on more CPUs, in all, than there is room to note: how often there was none is counted,
# and jis info says so; of those that found room everything is told. With fewer nothing is refused.
# lab-timeout: 600
# lab-suite: trixie
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

root=/sys/fs/cgroup
echo +cpu >$root/cgroup.subtree_control || skip "no cpu controller"
mkdir $root/k461
echo +cpu >$root/k461/cgroup.subtree_control
cpus=$(nproc)
entries=$((cpus * 64 > 4096 ? cpus * 64 : 4096))
room=$((entries - entries / 4))
few=$((room / cpus - 200)) many=$((room / cpus + 300))
seq -f "$root/k461/c%.0f" $many | xargs mkdir
mkfifo "$LAB_TMP/never"

# A thread on each CPU goes through the cgroups from $1 to $2, and sleeps in each.
cat >"$LAB_TMP/walk" <<-'SH'
	exec 9<>"$3"
	for ((cpu = 0; cpu < $4; cpu++)); do
		(
			taskset -pc $cpu $BASHPID >/dev/null
			for ((i = $1; i <= $2; i++)); do
				echo $BASHPID >/sys/fs/cgroup/k461/c$i/cgroup.procs
				read -r -t 0.001 -u 9
			done
			echo $BASHPID >/sys/fs/cgroup/cgroup.procs
		) &
	done
	wait
	# the first one has a quota, and its note from the walk: a second is ten periods
	echo "20000 100000" >/sys/fs/cgroup/k461/c1/cpu.max
	echo $$ >/sys/fs/cgroup/k461/c1/cgroup.procs
	taskset -pc 0 $$ >/dev/null
	end=$((SECONDS + 2))
	while [ $SECONDS -lt $end ]; do :; done
	echo $$ >/sys/fs/cgroup/cgroup.procs
	echo max >/sys/fs/cgroup/k461/c1/cpu.max
SH
refused() { sed -n 's/^queues_refused //p' "$LAB_OUT/$1"; }
throttled() { grep -c ' cgroup_throttle .*throttled=1' "$records.$1"; }

try_raw few -C -b $((64 << 20)) bash "$LAB_TMP/walk" 1 $few "$LAB_TMP/never" "$cpus"
if ! grep -qE '^features 0x[0-9a-f]*[4567cdef][0-9a-f]{2}$' "$LAB_OUT/few"; then
	skip "this kernel does not let the module see quotas: $(grep features "$LAB_OUT/few")"
fi
[ "$(refused few)" = 0 ] || fail "$few cgroups on $cpus CPUs: $(refused few) times no room, which is for $room"
[ "$(throttled few)" -ge 5 ] || fail "$few cgroups: told $(throttled few) times that the quota was used up"
ok "$few cgroups on $cpus CPUs: nothing refused, quota used up $(throttled few) times"

"$JIS" record -o "$LAB_TMP/trace" --backend kmod --buffer 64M -- bash "$LAB_TMP/walk" 1 $many "$LAB_TMP/never" "$cpus" >"$LAB_OUT/record" 2>&1 ||
	fail "jis record: $(tail -n 3 "$LAB_OUT/record")"
"$JIS" info "$LAB_TMP/trace" >"$LAB_OUT/info" 2>&1
refused=$(sed -n 's/.* had \([0-9]*\) times no room to note a run queue of a cgroup.*/\1/p' "$LAB_OUT/info")
# A third may be missing: a step whose timer is over before its thread sleeps (the host had the CPU) is on no switch.
[ "${refused:-0}" -ge $(((many * cpus - room) * 2 / 3)) ] ||
	fail "$many cgroups on $cpus CPUs: '$refused' times no room, which is for $room: $(tail -n 5 "$LAB_OUT/info")"
throttled=$("$JIS" dump -q "$LAB_TMP/trace" | grep -c ' cgroup_throttle .*throttled = 1')
[ "$throttled" -ge 5 ] || fail "$many cgroups: told $throttled times that the quota was used up"
ok "$many cgroups on $cpus CPUs: $refused times no room, quota used up $throttled times"
seq -f "$root/k461/c%.0f" $many | xargs rmdir
rmdir $root/k461
