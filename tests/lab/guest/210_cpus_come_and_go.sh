#!/bin/bash
# SPDX-License-Identifier: MIT
#
# CPU 1 goes offline and comes back while threads that use it are recorded: no record is lost or out of
# order, and what the CPU had not handed over when it went is there.
# lab-suite: bookworm
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

online=/sys/devices/system/cpu/cpu1/online
[ -w $online ] || skip "CPU 1 cannot be taken offline"
start_raw moving -a -b $((64 << 20)) -f 30 "$load" burn 12
for _ in 1 2 3 4 5; do
	sleep 0.2
	echo 0 >$online || fail "CPU 1 does not go offline"
	sleep 0.2
	echo 1 >$online || fail "CPU 1 does not come back"
done
wait "$raw_pid" || fail "$(cat "$LAB_OUT/moving")"
[ "$(lost_of moving)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/moving")"
awk '$1 == 1' "$records.moving" | tail -n 1 | grep . >/dev/null || fail "nothing of CPU 1"
ok "$(tail -n 1 "$LAB_OUT/moving")"

# the module loads and sets up with a CPU that is not there
echo 0 >$online
rmmod jis || fail "the module does not unload"
insmod "$JIS_BUILD/kmod/jis.ko" || fail "the module does not load with a CPU offline"
start_raw offline -a -b $((64 << 20)) "$load" burn 3
echo 1 >$online
wait "$raw_pid" || fail "$(cat "$LAB_OUT/offline")"
awk '$1 == 1' "$records.offline" | grep sched_switch >/dev/null || fail "nothing of the CPU that came later"
ok "a CPU that comes later"
