#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No recorder, a refusing one, a path that is no socket: one line of warning, the program runs.
. "$(dirname "$0")/lib.sh"

run() { # LINES COMMAND...
	local lines=$1
	shift
	"$@" >"$TESTDIR/out" 2>"$TESTDIR/err" || fail "exit status $?: $(cat "$TESTDIR/err")"
	grep -q '^END' "$TESTDIR/out" || fail "the program did not run"
	[ "$(grep -c '^jis: ' "$TESTDIR/err")" = "$lines" ] && [ "$(wc -l <"$TESTDIR/err")" = "$lines" ] ||
		{ cat "$TESTDIR/err"; fail "$lines lines were expected"; }
}
java=("$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentMarkers count 2 100)
unset JIS_SOCKET JIS_DISABLE
run 1 "${java[@]}"
run 1 env JIS_SOCKET="$TESTDIR/none" "${java[@]}"
run 1 env JIS_SOCKET=/etc/passwd "${java[@]}"
run 1 env JIS_SOCKET="/$(printf 'x%.0s' {1..300})" "${java[@]}"
run 0 env JIS_DISABLE=1 JIS_SOCKET="$TESTDIR/none" "${java[@]}"
run 1 "$TESTPROG/poolhost" -o "$TESTDIR/pool" -R "you are no target" "$TESTDIR/socket" -- "${java[@]}"
grep -q 'you are no target' "$TESTDIR/err" || fail "the reason is not said"
# A recorder that takes the connection and never answers.
python3 - "$TESTDIR/mute" <<'PY' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1]); s.listen(1)
c = s.accept()
time.sleep(60)
PY
mute=$!
trap 'kill $mute' EXIT
wait_for 10 test -S "$TESTDIR/mute"
run 1 env JIS_SOCKET="$TESTDIR/mute" "${java[@]}"
