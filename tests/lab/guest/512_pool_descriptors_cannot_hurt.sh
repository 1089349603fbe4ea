#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who has a pool's descriptor can neither grow nor shrink it, and whatever he writes to it, or punches out of
# it, neither the recorder nor the kernel minds: the recording ends well, and what others wrote is there.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

cat >"$LAB_TMP/both" <<-SH
	"$pool" markers 300 || exit 1
	"$pool" hurt || exit 2
	"$pool" markers 300 || exit 3
SH
for size in 256K 16M; do
	"$JIS" record -o "$LAB_TMP/$size" --backend kmod --pool $size -- bash "$LAB_TMP/both" >"$LAB_OUT/$size" 2>&1
	status=$?
	[ $status = 0 ] || fail "pools of $size: status $status: $(tail "$LAB_OUT/$size")"
	"$JIS" info "$LAB_TMP/$size" >"$LAB_OUT/info.$size" 2>&1 || fail "jis info: $(tail "$LAB_OUT/info.$size")"
	"$JIS" dump "$LAB_TMP/$size" >"$LAB_TMP/dump" || fail "jis dump"
	for i in 1 3; do # first and third process
		dir=$(find "$LAB_TMP/$size" -mindepth 1 -maxdepth 1 -name 'process-*' -printf '%f\n' | sort -t- -k2n | sed -n ${i}p)
		n=$(grep -c " $dir/[^ ]* marker " "$LAB_TMP/dump")
		[ "$n" = 600 ] || fail "pools of $size: $dir has $n markers, not 600"
	done
	ok "pools of $size"
done
