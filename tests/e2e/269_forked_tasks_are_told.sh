#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tasks of a ForkJoinPool fork (--java "default,forks"), a tree of them, invokeAll, a parallel stream: as many are given
# to the pool and run as the program says, each one that was given and run is a hand-over, and how long one waited in the
# pool is what the program measured. From the start and after an attach, on every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

RECORDING=("${RECORD[@]}" -q --java "default,forks")
OPTIONS=(-Djava.util.concurrent.ForkJoinPool.common.parallelism=3 -cp "$CLASSES")

check() { # NAME
	grep -q '^END$' "$TESTDIR/$1.out" || { cat "$TESTDIR/$1.out"; fail "$1: the program did not end"; }
	! grep -v '^TASK\|^LATE\|^END$' "$TESTDIR/$1.out" || fail "$1: the JVM says something"
	"$JIS" dump -q --raw "$TESTDIR/$1" >"$TESTDIR/dump"
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/report.json"
	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	python3 "$CHECKERS/forks.py" "$TESTDIR/$1.out" "$TESTDIR/dump" "$TESTDIR/report.json" || fail "$1"
}

n=0
while read -r version java; do
	for how in $HOWS; do
		$how "jdk$version-$how" "$java" -Xcheck:jni "${OPTIONS[@]}" Forks
		check "jdk$version-$how"
	done
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

# Nobody asked for them: none is told.
"${RECORD[@]}" -q -o "$TESTDIR/default" -- "$JAVA" "${OPTIONS[@]}" Forks >"$TESTDIR/default.out"
"$JIS" dump -q --raw "$TESTDIR/default" >"$TESTDIR/dump"
python3 "$CHECKERS/forks.py" --none "$TESTDIR/default.out" "$TESTDIR/dump" || fail "forked tasks that nobody asked for"
