#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a server there is a snapshot of its flight recorder, of its client what was recorded before the recorder was killed, made
# whole by jis recover: they are put together as any two recordings, on one clock and on two.
. "$(dirname "$0")/lib.sh"
need_root

PIDS=()
cleanup() {
	[ ${#PIDS[@]} = 0 ] || kill -KILL "${PIDS[@]}" 2>/dev/null || true
	wait
}
trap cleanup EXIT
CHAIN=("$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES:$MARKERS")

mkfifo "$TESTDIR/in"
"${RECORD[@]}" -q --flight-recorder -o "$TESTDIR/live" --name server -- "${CHAIN[@]}" RemoteCalls server tcp s1 - 0 \
	<"$TESTDIR/in" >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
server=$!
PIDS+=("$server")
exec {input}>"$TESTDIR/in"
wait_for 60 grep -q '^PORT' "$TESTDIR/server.out"
"${RECORD[@]}" -q --flush 200 -o "$TESTDIR/client" --name client -- "${CHAIN[@]}" \
	-Dport="$(sed -n 's/^PORT //p' "$TESTDIR/server.out")" RemoteCalls tcp 1 3 1000000 \
	>"$TESTDIR/client.out" 2>"$TESTDIR/client.err" &
recorder=$!
PIDS+=("$recorder")
wait_for 60 test -d "$TESTDIR/client"

# Calls are in the client's files already, and go on after the snapshot until the recorder is killed.
large() { [ "$(cat "$TESTDIR"/client/jvm-*/* 2>/dev/null | wc -c)" -gt "$1" ]; }
wait_for 60 large 500000
"$JIS" snapshot -q -o "$TESTDIR/server" "$TESTDIR/live" || fail "no snapshot"
wait_for 60 large 600000
jvm=$(pgrep -P "$recorder") || fail "no JVM"
PIDS+=("$jvm")
kill -KILL "$recorder"
kill -KILL "$jvm"
exec {input}>&-
wait "$server" || { cat "$TESTDIR/server.err"; fail "the server ended with $?"; }
wait
PIDS=()

expect_status 1 "$JIS" merge "$TESTDIR/client" "$TESTDIR/server" -o "$TESTDIR/x"
expect_says "jis recover"
[ ! -e "$TESTDIR/x" ] || fail "what failed left something"
"$JIS" recover -q "$TESTDIR/client" || fail "not recovered"

check() { # NAME RECORDED... (as hosts.py has them)
	local out=$TESTDIR/$1
	shift
	python3 "$CHECKERS/hosts.py" "$out" "$@" || fail "$out: not what was recorded"
	"$JIS" info --strict "$out" >"$out.info" || fail "$out: jis info --strict ended with $?"
	"$JIS" rmi -q --json "$out" >"$out.rmi"
	python3 - "$out.rmi" <<'PY' || fail "$out: the calls"
import json, sys
rmi = json.load(open(sys.argv[1]))
print(rmi["matches"], rmi["backward"], rmi["disagreements"])
sys.exit(rmi["matches"]["UID"] < 500 or rmi["backward"] > 0 or rmi["disagreements"] > 0)
PY
}
expect_status 0 "$JIS" merge "$TESTDIR/client" "$TESTDIR/server" -o "$TESTDIR/same"
expect_says "the same clock as $TESTDIR/client"
check same "$TESTDIR/client" "$TESTDIR/server"
cp -a "$TESTDIR/server" "$TESTDIR/fake"
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/fake" beta 77.5 25
expect_status 0 "$JIS" merge "$TESTDIR/client" "$TESTDIR/fake" -o "$TESTDIR/drift"
expect_says " calls with "
check drift "$TESTDIR/client:0:0" "$TESTDIR/server:25:0"
