#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whose lock a futex is: each of HotSpot's threads waits for the lock that it is known to wait for, threads of the program
# that park, wait, sleep or enter a monitor for none, and the report has the VM's locks by name. On each JDK that is here,
# with its own C library, started and attached; in a snapshot of a flight recorder, too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root
THREADS=${THREADS:-40} MS=${MS:-3000}
RECORDING=("${RECORD[@]}" -q --syscalls futex)

library() { # JAVA: its libjvm.so
	"$1" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p' | sed 's,$,/lib/server/libjvm.so,'
}

check() { # NAME JAVA
	"$JIS" dump -q "$TESTDIR/$1" >"$TESTDIR/dump"
	python3 "$CHECKERS/futex_names.py" "$TESTDIR/dump" "$TESTDIR/$1/manifest.json" "$(library "$2")" $((THREADS + 4)) ||
		fail "$1: the names"
	"$JIS" report -q "$TESTDIR/$1" >"$TESTDIR/report"
	grep -q 'lock of the VM startThread_lock$' "$TESTDIR/report" || { cat "$TESTDIR/report"; fail "$1: the report has no startThread_lock"; }
}

n=0
while read -r version java; do
	for how in $HOWS; do
		echo "$version, $how"
		$how "jdk$version-$how" "$java" -cp "$CLASSES" FutexNames "$THREADS" "$MS"
		grep -q '^END$' "$TESTDIR/jdk$version-$how.out" || fail "$version, $how: the program did not end"
		check "jdk$version-$how" "$java"
		rm -rf "${TESTDIR:?}/jdk$version-$how"
	done
	last=$java
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

# A flight recorder looks at the memory when the snapshot is made.
"${RECORD[@]}" -q --flight-recorder --syscalls futex -o "$TESTDIR/flight" -- \
	"$last" -cp "$CLASSES" FutexNames "$THREADS" 6000 >"$TESTDIR/flight.out" 2>"$TESTDIR/flight.err" &
recorder=$!
trap 'kill -KILL $recorder 2>/dev/null || true' EXIT
started_all() { [ "$(ps -eLo comm= --ppid "$recorder" 2>/dev/null | grep -c '^Started')" -ge "$THREADS" ]; }
wait_for 60 started_all
# Until the VM's own threads have waited for a while.
old_enough() { [ "$(ps -o etimes= --ppid "$recorder" | sort -n | tail -n 1)" -ge 3 ]; }
wait_for 60 old_enough
"$JIS" snapshot -q -o "$TESTDIR/snapshot" "$TESTDIR/flight" || fail "no snapshot"
wait $recorder || { cat "$TESTDIR/flight.err"; fail "the flight recorder failed"; }
trap - EXIT
check snapshot "$last"

# Who may not read the JVM's memory has no names, and says so; no other record suffers. Another user reads its classes.
open=$(mktemp -d /tmp/jis-test.XXXXXX)
trap 'rm -rf "$open"' EXIT
chmod 755 "$open"
cp "$CLASSES"/FutexNames*.class "$open"
chmod 644 "$open"/*
setpriv --bounding-set=-sys_ptrace "${RECORD[@]}" -q --user nobody --syscalls futex -o "$TESTDIR/refused" -- \
	"$REAL_JAVA" -cp "$open" FutexNames 4 1000 >"$TESTDIR/refused.out" 2>"$TESTDIR/refused.err" ||
	{ cat "$TESTDIR/refused.err"; fail "the recording without CAP_SYS_PTRACE failed"; }
"$JIS" info "$TESTDIR/refused" >"$TESTDIR/info"
[ "$(grep -c 'locks of the VM .* have no names.*CAP_SYS_PTRACE' "$TESTDIR/info")" = 1 ] ||
	{ cat "$TESTDIR/info"; fail "it is not told that there are no names"; }
"$JIS" dump -q "$TESTDIR/refused" >"$TESTDIR/dump"
! grep -q ' futex_name ' "$TESTDIR/dump" || fail "names, without the right to read them"
grep -q ' syscall_futex ' "$TESTDIR/dump" || fail "no futexes"
