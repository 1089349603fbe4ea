#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A flight recorder's ring keeps the newest, holds still for its reader when frozen, and goes on. A ring that
# is none refuses to be frozen. A CPU that comes online during a session gets a ring.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

"$JIS_BUILD/tests/lab/jisflight" >"$LAB_OUT/flight" 2>&1 || fail "$(cat "$LAB_OUT/flight")"
cat "$LAB_OUT/flight"
ok "the newest is there, once and again"

[ -e /sys/devices/system/cpu/cpu1/online ] || skip "one CPU only"
echo 0 >/sys/devices/system/cpu/cpu1/online
start_raw late -C "$load" burn $((3 * LAB_SLOW))
echo 1 >/sys/devices/system/cpu/cpu1/online
wait "$raw_pid" || fail "recording over a new CPU: $(tail -n 25 "$LAB_OUT/late")"
[ "$(awk '$1 == 1' "$records.late" | wc -l)" -gt 0 ] || fail "the CPU that came has no records"
grep -q ' lost 0$' "$LAB_OUT/late" || fail "records were lost: $(cat "$LAB_OUT/late")"
ok "a CPU that comes has a ring"
rmmod jis || fail "the module does not unload"
