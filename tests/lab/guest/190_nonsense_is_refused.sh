#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Random calls, from threads that share sessions, while others record: the kernel stays well (the driver looks
# at its log), recordings made meanwhile are sound, and nothing is left behind.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

for seed in 42 2026; do
	"$JIS_BUILD/tests/lab/jisfuzz" 10 $seed >"$LAB_OUT/fuzz.$seed" &
	fuzz=$!
	try_raw "beside.$seed" -C "$load" cross 500
	wait $fuzz || fail "jisfuzz ended with $?"
	ok "seed $seed: $(awk '{ n += $3; g += $4 } END { print n " calls, " g " good" }' "$LAB_OUT/fuzz.$seed")"
done
try_raw after "$load" cross 500
rmmod jis || fail "the module does not unload"
ok "unloads"
