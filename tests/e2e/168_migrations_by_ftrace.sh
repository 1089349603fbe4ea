#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# By the ftrace backend each move of a target between CPUs is recorded where nothing is filtered in the kernel, as with
# everything as target, or with machine-wide events; of one process alone none is, as the filter asks for the thread
# that runs.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
reason=$BUILD/tests/lab/jisreason
cpus=$(getconf _NPROCESSORS_ONLN)
[ "$cpus" -ge 2 ] || skip "one CPU"

# moves NAME: those of the program, each beginning where the last one ended
moves() {
	local tid
	tid=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' "$1.out")
	"$JIS" dump -q --raw --event sched_migrate_task "$1" >"$1.moves"
	python3 - "$tid" "$1.moves" <<-'PY'
		import re, sys
		at, n = None, 0
		for line in open(sys.argv[2]):
		    tid, a, b = map(int, re.search(r"tid = (\d+), orig_cpu = (\d+), dest_cpu = (\d+)", line).groups())
		    if tid != int(sys.argv[1]): continue
		    if a == b or at not in (None, a): sys.exit("%s: it was on %s" % (line, at))
		    at, n = b, n + 1
		print(n)
	PY
}

for how in all executable everywhere; do
	case $how in
	all) options=(--all) ;;
	executable) options=(--executable nobody-has-this-name) ;;
	everywhere)
		"$JIS" doctor | grep '^ftrace-events ' | grep power >power.has || { echo "no power events here"; continue; }
		options=(--events power)
		;;
	esac
	"$JIS" record -q --backend ftrace --no-agent "${options[@]}" --buffer 32M -o $how -- "$reason" hop 300 >$how.out || fail "$how: not recorded"
	"$JIS" info --strict -q $how >$how.info || fail "$how: records were lost"
	counted=$(sed -n 's/.* counted //p' $how.out)
	n=$(moves $how) || fail "$how: moves do not follow each other"
	# The last move may come after its counting; the first ones may come before it begins.
	[ "$n" -ge 300 ] && { [ "$counted" -lt 0 ] || [ "$n" -ge "$counted" ]; } || fail "$how: $n moves, the program made 300, the kernel counted $counted"
	echo "$how: $n moves, counted $counted"
done
"$JIS" record -q --backend ftrace --no-agent -o one -- "$reason" hop 50 >one.out || fail "one: not recorded"
"$JIS" dump -q --event sched_migrate_task one >one.moves || fail "jis dump"
[ ! -s one.moves ] || fail "some moves only"
