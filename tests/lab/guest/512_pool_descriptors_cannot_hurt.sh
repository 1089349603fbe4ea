#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who has a pool's descriptor can neither grow nor shrink it, and whatever he writes to it, or punches out of
# it, neither the recorder nor the kernel minds: the recording ends well, and what others wrote is there. So for
# root itself, and for a process without any rights that the descriptor was passed to: it finds nothing of others'
# events either, and no way to the session.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

cat >"$LAB_TMP/both" <<-SH
	"$pool" markers 300 || exit 1
	"$pool" hurt || exit 2
	"$JIS_BUILD/tests/lab/jisstranger" 1000 || exit 3
	"$pool" markers 300 || exit 4
SH
for size in 256K 16M; do
	"$JIS" record -o "$LAB_TMP/$size" --backend kmod --pool $size -- bash "$LAB_TMP/both" >"$LAB_OUT/$size" 2>&1
	status=$?
	[ $status = 0 ] || fail "pools of $size: status $status: $(tail "$LAB_OUT/$size")"
	"$JIS" info "$LAB_TMP/$size" >"$LAB_OUT/info.$size" 2>&1 || fail "jis info: $(tail "$LAB_OUT/info.$size")"
	"$JIS" dump "$LAB_TMP/$size" >"$LAB_TMP/dump" || fail "jis dump"
	mapfile -t dirs < <(find "$LAB_TMP/$size" -mindepth 1 -maxdepth 1 -name 'process-*' -printf '%f\n' | sort -t- -k2n)
	[ ${#dirs[@]} -ge 5 ] || fail "pools of $size: ${#dirs[@]} processes with records: ${dirs[*]}"
	for dir in "${dirs[0]}" "${dirs[-1]}"; do # the first process and the last
		n=$(grep -c " $dir/[^ ]* marker " "$LAB_TMP/dump")
		[ "$n" = 600 ] || fail "pools of $size: $dir has $n markers, not 600"
	done
	read -r witness found < <(sed -n 's/^witness \([0-9]*\) found \(.*\)/\1 \2/p' "$LAB_OUT/$size")
	# with the same eyes; those of packets that have been read may be written over
	[ "${found% of *}" -ge 100 ] || fail "pools of $size: the witness found $found of its own markers"
	grep -q '^stranger [0-9]* failures 0$' "$LAB_OUT/$size" || fail "pools of $size: no stranger: $(cat "$LAB_OUT/$size")"
	n=$(grep -c " process-$witness-[^ ]* marker " "$LAB_TMP/dump")
	[ "$n" = 2000 ] || fail "pools of $size: the witness has $n markers, not 2000"
	ok "pools of $size"
done
