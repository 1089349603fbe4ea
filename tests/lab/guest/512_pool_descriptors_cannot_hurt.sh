#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who has a pool's descriptor can neither grow nor shrink it, and whatever he writes to it, or punches out of
# it, neither the recorder nor the kernel minds: the recording ends well, and what others wrote is there. So for
# root itself, and for a process without any rights that the descriptor was passed to: it finds nothing of others'
# events either, and no way to the session. What it forges as packets of its pool is the pool's, and no more than that.
# lab-suite: bookworm

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

cat >"$LAB_TMP/both" <<-SH
	"$pool" markers 300 || exit 1
	"$pool" hurt || exit 2
	"$JIS_BUILD/tests/lab/jisstranger" 1000 "\$1" || exit 3
	"$pool" markers 300 || exit 4
SH
for size in 256K 16M; do
	"$JIS" record -o "$LAB_TMP/$size" --backend kmod --pool $size -- bash "$LAB_TMP/both" "$LAB_TMP/$size" >"$LAB_OUT/$size" 2>&1
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
	# whose markers are where
	python3 - "$LAB_TMP/dump" "$LAB_OUT/$size" "$witness" >"$LAB_OUT/markers.$size" <<-'PY' || fail "pools of $size: $(cat "$LAB_OUT/markers.$size")"
		import collections, re, sys
		found, secrets = collections.Counter(), collections.Counter()
		for line in open(sys.argv[1], errors="replace"):
		    m = re.search(r" process-(\d+)-\S* marker \{ type = (\d+), value = (-?\d+)", line)
		    if m and int(m[3]) >> 16 == 0x5ec2e75ec2e7:
		        secrets[m[1]] += 1
		    elif m:
		        found[m[1], m[2]] += 1
		want = [line.split()[1:] for line in open(sys.argv[2]) if line.startswith("forged ")]
		bad = [w for w in want if found[w[2], w[0]] != int(w[1])]
		owner = want[0][2]
		bad += [f for f in found if int(f[1]) in range(100, 200) and f[0] != owner]
		bad += [f for f in found if int(f[1]) in range(104, 110)]
		print("bad:", bad, "forged:", want, "found:", dict(found), "secrets:", dict(secrets))
		sys.exit(bool(bad) or len(want) != 3 or dict(secrets) != {sys.argv[3]: 2000})
	PY
	ok "pools of $size"
done
