#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Remote calls of which the recording has not all: a call that is under way when its client is attached to says so, or is linked
# by its UID when its server is, too; calls of threads that lose records say that.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

# hold NAME JVM...: the client of a call that is being served, and its server, are attached to; the call is the one
# that there is no begin of. Says how it is told.
hold() {
	local name=$1 pids=() jvm client host
	shift
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES:$MARKERS" RemoteCalls tcp 1 1 1 hold \
		<"$TESTDIR/in" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	client=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/$name.out"
	for jvm; do
		pids+=(-p "$([ "$jvm" = client ] && echo "$client" || sed -n 's/^SERVERS //p' "$TESTDIR/$name.out")")
	done
	"${RECORD[@]}" -q -o "$TESTDIR/$name" "${pids[@]}" 2>"$TESTDIR/$name.rec" &
	host=$!
	for jvm in "${pids[@]}"; do
		is_attached() { [ "$jvm" = -p ] || "$JIS" attach -q -o "$TESTDIR/$name" "$jvm" 2>/dev/null; }
		wait_for 60 is_attached
	done
	echo >&9
	exec 9>&-
	wait "$client" || { cat "$TESTDIR/$name.err"; fail "$name: the program ended with $?"; }
	wait "$host" || { cat "$TESTDIR/$name.rec"; fail "$name: jis record ended with $?"; }
	"$JIS" rmi -q --json "$TESTDIR/$name" >"$TESTDIR/$name.rmi"
	python3 - "$TESTDIR/$name.rmi" <<'PY'
import json, sys
lines = json.load(open(sys.argv[1]))["lines"]
print(*sorted(f"{l['method'].split('.')[-1] or '?'}: {n} {reason}" for l in lines for reason, n in l["matches"].items() if n), sep=", ")
PY
}
expect() { # WHAT GOT WANT
	[ "$2" = "$3" ] || { cat "$TESTDIR"/*.rmi; fail "$1: $2, expected $3"; }
}
expect "client alone" "$(hold client client)" "?: 1 began before the recording, letGo: 1 other end not recorded"
expect "both" "$(hold both client server)" "?: 1 UID, letGo: 1 UID"

# Threads that call while their recorder stands still lose records, and calls with them.
is_again() { [ "$(grep -c "$1" "$2")" -ge 2 ]; }
mkfifo "$TESTDIR/go"
"${RECORD[@]}" -q --pool 256K -o "$TESTDIR/lost" -- "$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -Dwait=true \
	-cp "$CLASSES:$MARKERS" RemoteCalls tcp 1 8 250 hold <"$TESTDIR/go" >"$TESTDIR/lost.out" 2>"$TESTDIR/lost.err" &
host=$!
exec 9>"$TESTDIR/go"
wait_for 60 grep -q READY "$TESTDIR/lost.out"
trap 'kill -CONT $host 2>/dev/null || true' EXIT
kill -STOP $host
echo >&9
wait_for 120 is_again READY "$TESTDIR/lost.out"
kill -CONT $host
echo >&9
exec 9>&-
wait $host || { cat "$TESTDIR/lost.err"; fail "the recording with losses ended with $?"; }
grep -q 'records were lost' "$TESTDIR/lost.err" || fail "it does not say that records were lost"
"$JIS" rmi -q --json "$TESTDIR/lost" >"$TESTDIR/lost.rmi" || true
grep -qE '"records are missing": *[1-9]' "$TESTDIR/lost.rmi" || { cat "$TESTDIR/lost.rmi"; fail "no call has lost records"; }
