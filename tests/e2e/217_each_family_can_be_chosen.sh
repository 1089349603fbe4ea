#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each family of events is recorded when it is chosen, and not when it is not, whichever others are: any two families are
# apart in one of the runs, both ways, unless one is of no use without the other. The trace has no order of events then
# that cannot be.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR" || exit 1
ALL=(threads names gc markers monitors enters parks sleeps virtual starts tasks forks queues rmi stacks safepoints heap
	classes compilations exceptions allocations)

# With those that a family needs, as jis-record(1) has it.
closed() { # FAMILY...
	local family
	# Stacks are of waits or allocations.
	[[ " $* " != *" stacks "* ]] || [[ " $* " =~ \ (monitors|enters|parks|sleeps|allocations)\  ]] || set -- "$@" monitors parks sleeps
	for family; do
		echo "$family"
		case $family in
		gc | markers | threads | safepoints | compilations) ;;
		heap) echo gc ;;
		enters) printf 'monitors\nthreads\n' ;;
		forks) printf 'tasks\nthreads\n' ;;
		*) echo threads ;;
		esac
	done | sort -u
}

run() { # NAME JAVA FAMILY...
	local name=$1 java=$2 list with
	shift 2
	list=$(IFS=, && echo "$*")
	mapfile -t with < <(closed "$@")
	"${RECORD[@]}" -q --pool 16M --java "${list:-none}" -o trace -- "$java" -cp "$CLASSES:$MARKERS" Families >out 2>err ||
		{ cat err; fail "$name: exit status $?"; }
	"$JIS" info --strict -q trace >info || { cat info; fail "$name: no whole trace"; }
	"$JIS" dump -q --raw trace >dump || fail "$name: no dump"
	echo "== $name: ${with[*]}"
	python3 "$CHECKERS/families.py" out dump "${with[@]}" || fail "$name"
	"$JIS" report -q --json trace >report.json || fail "$name: no report"
	python3 -c 'import json
c = json.load(open("report.json"))["counts"]
wrong = {k: n for kind in ("errors", "conflicts") for k, n in c[kind].items() if n}
assert not wrong, wrong' || fail "$name: what cannot be"
	rm -rf trace
}

# The newest has all families.
read -r version java < <(JIS_TEST_JDKS=all jdks | sort -n | tail -n 1)
[ "$version" -ge 21 ] || skip "no JDK with virtual threads"
run all "$java" "${ALL[@]}"
run none "$java"
for ((bit = 0; bit < 5; bit++)); do
	for half in 0 1; do
		chosen=()
		for i in "${!ALL[@]}"; do
			[ $((i >> bit & 1)) = "$half" ] || chosen+=("${ALL[i]}")
		done
		run "bit $bit without $half" "$java" "${chosen[@]}"
	done
done
