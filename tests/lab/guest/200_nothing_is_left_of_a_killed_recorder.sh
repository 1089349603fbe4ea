#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A module in use cannot be removed. A recorder killed while it records leaves nothing: the memory is back,
# the probes are gone, the module unloads; again and again.
# lab-suite: trixie
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

free_mib()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemFree:/ { print int($2 / 1024) }' /proc/meminfo
}

"$load" burn $((200 * LAB_SLOW)) &
burn=$!
before=$(free_mib)
for _ in 1 2; do
	start_raw killed -a -C -b $((256 << 20)) -p $$ -p $burn
	during=$(free_mib)
	rmmod jis 2>"$LAB_OUT/rmmod" && fail "the module was removed while it records"
	kill -KILL "$raw_pid"
	wait "$raw_pid" 2>/dev/null
done
grep -qi 'in use\|busy\|unavailable' "$LAB_OUT/rmmod" || fail "rmmod said: $(cat "$LAB_OUT/rmmod")"
[ $((before - during)) -ge 200 ] || fail "256 MiB of rings took $((before - during)) MiB"
after=$(free_mib)
[ $((before - after)) -le 60 ] || fail "$((before - after)) MiB of $before are gone"
ok "MiB free: $before before, $during during, $after after two killed recorders"

rmmod jis || fail "the module does not unload"
insmod "$JIS_BUILD/kmod/jis.ko" || fail "the module does not load again"
try_raw again "$load" pingpong 100
rmmod jis || fail "the module does not unload"
kill $burn
ok "unloads, loads, records, unloads"
