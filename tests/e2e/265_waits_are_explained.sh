#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every kind of wait of platform and virtual threads, and those that the kernel alone sees (socket, accept, pipe, poll,
# a file forced to the disk), and sockets of virtual threads, each a known number of times: kind, count, time, object, owner and waker are what the
# program says, in the records and in the report. Started with the JVM and attached, on every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

# In guests, which are slow: fewer and longer waits, that may be told later.
COUNT=${WAITS_COUNT:-3} MS=${WAITS_MS:-25} LATE=${WAITS_LATE:-2}
read -ra OPTIONS <<<"${JVM_OPTIONS:-}"
OPTIONS+=(--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED -cp "$CLASSES")
# On the disk: /tmp may be none.
file=$(mktemp -p "${WAITS_DISK:-/var/tmp}" jis-test.XXXXXX)
trap 'rm -f "$file"' EXIT
RECORDING=("${RECORD[@]}" -q --syscalls "io,net,lock")

check() { # NAME
	[ "$(grep -c '^END$' "$TESTDIR/$1.out")" -ge 2 ] || { cat "$TESTDIR/$1.out"; fail "$1: the program did not end"; }
	! grep -v '^EXPECT\|^KERNEL\|^SOCKET\|^END$' "$TESTDIR/$1.out" || fail "$1: the JVM says something"
	"$JIS" dump "$TESTDIR/$1" >"$TESTDIR/dump" 2>/dev/null
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/report.json"
	python3 "$CHECKERS/waits.py" "$TESTDIR/$1.out" "$TESTDIR/dump" --late "$LATE" || fail "$1: the records"
	python3 "$CHECKERS/reasons.py" "$TESTDIR/$1.out" "$TESTDIR/report.json" --late "$LATE" || fail "$1: the report"
	"$JIS" export paraver -q "$TESTDIR/$1" --wakeups all -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_said.py" "$TESTDIR/$1.out" "$TESTDIR/dump" "$TESTDIR/$1.prv" --late "$LATE" || fail "$1: Paraver's events"
	# Names; virtual threads on their carriers, where there are any.
	python3 "$CHECKERS/prv_records.py" "$TESTDIR/$1" "$TESTDIR/$1.prv" 04+10 15+"$(grep -c '^EXPECT vthread' "$TESTDIR/$1.out")" ||
		fail "$1: events and records differ"
	python3 "$CHECKERS/wakers.py" "$TESTDIR/$1.out" "$TESTDIR/report.json" "$TESTDIR/$1" || fail "$1: the wakers"
	python3 "$CHECKERS/kernel_waits.py" "$TESTDIR/$1.out" "$TESTDIR/report.json" --late "$LATE" || fail "$1: the kernel's waits"
	[ "$version" -lt 21 ] ||
		python3 "$CHECKERS/virtual_sockets.py" "$TESTDIR/$1.out" "$TESTDIR/report.json" --late "$LATE" || fail "$1: virtual threads' sockets"
	rm -rf "${TESTDIR:?}/$1" "$TESTDIR/$1".{prv,pcf,row}
}

n=0
while read -r version java; do
	for how in $HOWS; do
		echo "$version, $how"
		$how "jdk$version-$how" "$java" "${OPTIONS[@]}" WaitsAll "$COUNT" "$MS" "$file"
		check "jdk$version-$how"
	done
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
