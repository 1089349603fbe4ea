#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Output that nobody got is a failure, a hostile manifest writes no escape sequences to the terminal, and
# neither signals at a bad time nor a process that takes all connections cost the recording its end.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

expect_status 0 "${RECORD[@]}" -q -o t -- true

# output that cannot be written
for command in "info t" "info --json t" "dump t" "report t" "report --json t" "dump --events" "--help" "--version"; do
	# shellcheck disable=SC2086 # several words
	expect_status 1 bash -c '"$@" >/dev/full' - "$JIS" $command
	expect_says "standard output"
	# shellcheck disable=SC2086
	expect_status 1 bash -c '"$@" >&-' - "$JIS" $command
done
# closed standard files: no message ends in a file of the trace
expect_status 0 bash -c '"$@" <&- >&- 2>&-' - "${RECORD[@]}" -o closed -- true
grep -r "jis record" closed && fail "a message went into the trace"
expect_status 0 "$JIS" info --strict closed

# windows and users
for verb in info dump report; do
	expect_status 2 "$JIS" $verb --from 2s --to 1s t
	expect_says "--from is after --to"
done
expect_status 2 "$JIS" export paraver --from 2s --to 1s -o x.prv t
expect_status 2 "${RECORD[@]}" --user 4294967296 -o u -- true
expect_says "4294967296"

# a manifest that somebody else has written
cp -r t hostile
python3 - hostile/manifest.json <<'EOF'
import json, sys
m = json.load(open(sys.argv[1]))
for key in "hostname", "kernel_release", "machine", "backend", "stop_reason", "jis_version", "command":
    m[key] = "\x1b[31m\n"
for p in m["processes"]:
    p["name"] = p["vm"] = "\x1b[31m\n"
m["streams"][0]["path"] = "kernel/\x1b[31m"
m["damages"] = [{"path": "\x1b[31m", "begin": 0, "end": 1, "reason": "\x1b[31m"}]
m["realtime_offset"] = 2**63 - 1
json.dump(m, open(sys.argv[1], "w"))
EOF
for command in "info hostile" "report hostile" "export paraver -o h.prv hostile"; do
	# shellcheck disable=SC2086
	expect_status 0 "$JIS" $command
	! grep -q $'\e' out err || fail "jis $command prints escape sequences of the manifest"
done

# two recorders, and signals while the command outlives the recording
"${RECORD[@]}" -o long --duration 100ms -- sleep 1000 2>long.err &
recorder=$!
wait_for 20 test -S long/.control
expect_status 1 "${RECORD[@]}" -o long -- true
wait_for 20 grep -q "waiting for the command" long.err
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ $status = 143 ] || fail "a recorder that waits for its command ended with $status by SIGTERM"

# under nohup, a hangup does not end the recording
bash -c 'trap "" HUP; exec "$@"' - "${RECORD[@]}" -o nohup -- sh -c 'touch runs; until [ -e go ]; do sleep 0.05; done' 2>nohup.err &
recorder=$!
wait_for 20 test -e runs
kill -HUP $recorder
touch go
wait $recorder || fail "SIGHUP ended a recording under nohup: $(cat nohup.err)"

# what a killed recorder leaves is gone after jis recover
touch lives
"${RECORD[@]}" -q -o killed -- sh -c 'while [ -e lives ]; do sleep 0.1; done' &
recorder=$!
wait_for 20 test -S killed/.control
wait_for 20 grep -q complete killed/manifest.json
kill -KILL $recorder
wait $recorder || true
rm lives
expect_status 0 "$JIS" recover killed
[ "$(find killed -maxdepth 1 -name '.*' ! -name .)" = "" ] || fail "jis recover leaves $(ls -A killed)"

# a process that takes all connections it can get, and floods with notes
cat >flood.py <<'EOF'
import os, socket, struct, time
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["JIS_SOCKET"])
    return s
def message(kind):
    return struct.pack("<IHHIIIIQQQ256s", 0x4A495341, 1, kind, 2, os.getpid(), 0, 0, 0, 0, 0, b"x")
first = connect()
first.send(message(1))
first.recv(4096)
for i in range(1000):
    first.send(message(4))
held = [connect() for i in range(400)]
time.sleep(0.2)
EOF
expect_status 0 bash -c 'ulimit -Sn 256 && exec "$@"' - "${RECORD[@]}" -o flood -- sh -c 'ulimit -Sn; ulimit -Sn 1024; exec python3 flood.py'
grep -qx 256 out || fail "the command has another limit of open files: $(cat out)"
expect_says "further notes"
[ "$(grep -c ': x$' err)" -le 64 ] || fail "all notes of one process are printed"
expect_status 0 "$JIS" info --strict flood
[ -z "$(stale_instances)" ] || fail "a tracefs instance is left: $(stale_instances)"
