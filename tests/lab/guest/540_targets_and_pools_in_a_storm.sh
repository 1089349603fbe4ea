#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Targets of all kinds and pools come and go by the thousand, in sessions that end under them, while the
# threads they are about sleep, fork, execute and move: nothing breaks, and nothing is left.
# lab-suite: bookworm

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
shmem_kib()
{
	awk '/^Shmem:/ { print $2 }' /proc/meminfo
}

mine=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir "$mine/a" "$mine/b" || fail "no cgroups below $mine"
before=$(shmem_kib)
"$JIS_BUILD/tests/lab/jisstorm" 40 "$mine/a" "$mine/b" >"$LAB_OUT/storm" 2>&1 || fail "status $?: $(cat "$LAB_OUT/storm")"
ok "$(cat "$LAB_OUT/storm")"
rmdir "$mine/a" "$mine/b" || fail "a cgroup cannot be removed"
given_back() { [ $(($(shmem_kib) - before)) -lt 4096 ]; }
wait_for 30 "the pools' memory coming back" given_back
rmmod jis || fail "the module does not unload"
ok "nothing is left"
