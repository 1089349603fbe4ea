#!/bin/bash
# SPDX-License-Identifier: MIT
#
# When the recorder is killed, the writers of its pools stop by themselves though they hold their pool; the
# module unloads while they do; the memory is free when they have ended.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

shmem_kib()
{
	awk '/^Shmem:/ { print $2 }' /proc/meminfo
}

before=$(shmem_kib)
for i in 1 2 3; do
	"$JIS" record -q -o "$LAB_TMP/$i" --backend kmod --pool 128M -- "$pool" until-off >"$LAB_OUT/$i" 2>&1 &
	recorder=$!
	wait_for 60 "the program's first markers" grep -q '^writing' "$LAB_OUT/$i"
	grep -q off "$LAB_OUT/$i" && fail "it is off while it is recorded: $(cat "$LAB_OUT/$i")"
	during=$(shmem_kib)
	[ $((during - before)) -ge 120000 ] || fail "a pool of 128 MiB takes $((during - before)) KiB"
	rmmod jis 2>/dev/null && fail "the module was removed while it records"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	wait_for 60 "the writer's end" grep -q '^off$' "$LAB_OUT/$i"
	rmmod jis || fail "the module does not unload while a pool is mapped"
	[ "$(($(shmem_kib) - before))" -ge 120000 ] || fail "the pool went under its program"
	pkill -KILL -x jispool
	given_back() { [ $(($(shmem_kib) - before)) -lt 8192 ]; }
	wait_for 30 "the pool's memory coming back" given_back
	load_module
done
ok "three killed recorders: writers off, module gone, memory back"
rmmod jis || fail "the module does not unload"
