#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The memory of rings is charged to the memory cgroup of the recorder: at its start, and when another CPU comes
# online later, whoever switches that on. So are the tables of system calls, and pools.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

case $(uname -r) in
5.10.*) skip "this kernel cannot map pages that it charges" ;;
esac
online=/sys/devices/system/cpu/cpu1/online
[ -w $online ] || skip "CPU 1 cannot be taken offline"
top=/sys/fs/cgroup
echo +memory >$top/cgroup.subtree_control || fail "no memory controller"
mkdir $top/jis-recorder $top/jis-switcher || fail "no cgroups"
clean_up() { echo 1 >$online; rmdir $top/jis-recorder $top/jis-switcher; }
trap clean_up EXIT

# in_cgroup NAME COMMAND...
in_cgroup() { (echo "$BASHPID" >$top/$1/cgroup.procs; shift; exec "$@"); }
# mib NAME: what is charged to it
mib() { echo $(($(cat $top/$1/memory.current) >> 20)); }

mkfifo "$LAB_TMP/end"
echo 0 >$online || fail "CPU 1 does not go offline"
in_cgroup jis-recorder "$raw" -o "$records.late" -b $((64 << 20)) sh -c "read -r _ <'$LAB_TMP/end'" >"$LAB_OUT/late" 2>&1 &
raw_pid=$!
wait_for 100 "the recording" is_recording late
one=$(mib jis-recorder)
[ "$one" -ge 64 ] || fail "a ring of 64 MiB, and $one MiB are charged to the recorder"
in_cgroup jis-switcher bash -c "echo 1 >$online" || fail "CPU 1 does not come online"
two=$(mib jis-recorder)
other=$(mib jis-switcher)
[ "$two" -ge $((one + 64)) ] || fail "another ring of 64 MiB, and the recorder has $two MiB after $one"
[ "$other" -lt 32 ] || fail "$other MiB are charged to who switched the CPU on"
echo >"$LAB_TMP/end"
wait "$raw_pid" || fail "$(cat "$LAB_OUT/late")"
given_back() { [ "$(mib jis-recorder)" -lt 32 ]; }
wait_for 30 "the memory coming back" given_back
ok "MiB of the recorder: $one with one CPU, $two with two; $other of who switched it on"

# Tables of some 70 KiB in each of 60 sessions, and a pool. Each of the two CPUs charges 256 KiB ahead, which what comes
# next may use up.
mkfifo "$LAB_TMP/next"
exec 5<>"$LAB_TMP/next"
in_cgroup jis-recorder "$JIS_BUILD/tests/lab/jisapi" hold 60 $((48 << 20)) <&5 >"$LAB_OUT/hold" 2>&1 &
holder=$!
has()
{
	kill -0 $holder 2>/dev/null || fail "it ended: $(cat "$LAB_OUT/hold")"
	grep -qx "$1" "$LAB_OUT/hold"
}
kib() { echo $(($(cat $top/jis-recorder/memory.current) >> 10)); }
for what in sessions calls pool; do
	wait_for 100 "$what" has $what
	declare "kib_$what=$(kib)"
	echo >&5
done
wait $holder || fail "$(cat "$LAB_OUT/hold")"
# shellcheck disable=SC2154 # declared above
echo "KiB with 60 sessions $kib_sessions, with their calls $kib_calls, with a pool $kib_pool"
[ $((kib_calls - kib_sessions)) -ge $((60 * 64 - 512)) ] || fail "sets of calls in 60 sessions: $((kib_calls - kib_sessions)) KiB"
[ $((kib_pool - kib_calls)) -ge $(((48 << 10) - 512)) ] || fail "a pool of 48 MiB: $((kib_pool - kib_calls)) KiB"
wait_for 30 "the memory coming back" given_back
ok "and sets of calls, and pools"
