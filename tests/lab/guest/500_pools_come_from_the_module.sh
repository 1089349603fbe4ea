#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With the module the pool of a marked program is memory of the module's making, and what is written to it
# is in the trace, record by record; many processes one after the other get theirs, and all is given back.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

shmem_kib()
{
	awk '/^Shmem:/ { print $2 }' /proc/meminfo
}

before=$(shmem_kib)
"$JIS" record -o "$LAB_TMP/trace" --backend kmod -- "$pool" markers 500 >"$LAB_OUT/markers" 2>&1 ||
	fail "recording: $(cat "$LAB_OUT/markers")"
grep -q '^pool /jis-pool (deleted)$' "$LAB_OUT/markers" || fail "the pool is not the module's: $(cat "$LAB_OUT/markers")"
"$JIS" dump "$LAB_TMP/trace" >"$LAB_OUT/dump" || fail "dump"
[ "$(grep -c ' marker ' "$LAB_OUT/dump")" = 1000 ] || fail "$(grep -c ' marker ' "$LAB_OUT/dump") markers, not 1000"
ok "1000 markers through a pool of the module"

# Twice as many pools as would fit if each were kept to the end: 32 of 32 MiB, in a guest of about 3 GiB
# whose pools and rings may take half.
cat >"$LAB_TMP/many" <<-SH
	for i in \$(seq 60); do "$pool" markers 5; done
SH
"$JIS" record -o "$LAB_TMP/many.trace" --backend kmod --pool 48M -- bash "$LAB_TMP/many" >"$LAB_OUT/many" 2>&1 ||
	fail "recording many: $(tail "$LAB_OUT/many")"
[ "$(grep -c '^pool /jis-pool' "$LAB_OUT/many")" = 60 ] ||
	fail "of 60 pools $(grep -c '^pool /jis-pool' "$LAB_OUT/many") were the module's: $(tail "$LAB_OUT/many")"
[ "$("$JIS" dump "$LAB_TMP/many.trace" | grep -c ' marker ')" = 600 ] || fail "not 600 markers"
ok "60 pools, one after the other"

given_back() { [ $(($(shmem_kib) - before)) -lt 8192 ]; }
wait_for 30 "the pools' memory coming back" given_back
rmmod jis || fail "the module does not unload"
ok "memory given back, module unloads"
