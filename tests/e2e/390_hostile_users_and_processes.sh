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
	expect_status 1 "$JIS" $command # a stream by that name is not there
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

# Where /run cannot be written to, a copy of the agent is made in /tmp: names that others have prepared
# there are not followed, and not taken for ours.
dead=/tmp/jis-agent-4999990
undo_names() { rm -rf "$dead" "${dead}1" "${dead}2"; }
if unshare -m true 2>/dev/null && [ ! -e /tmp/jis-agent-4999990 ]; then
	trap undo_names EXIT
	mkdir victim "with space" "${dead}1" "${dead}2"
	touch victim/libjisagent.so "${dead}1/libjisagent.so" "${dead}2/libjisagent.so"
	ln -s "$PWD/victim" "$dead"
	chown -R 65534 "${dead}1"
	cp "$JIS" "$BUILD/libjisagent.so" "with space/"
	cat >ro.sh <<'EOF'
mount -t tmpfs -o ro none /run || exit 1
ln -s "$PWD/victim" /tmp/jis-agent-$$ || exit 1
exec "$@"
EOF
	expect_status 0 unshare -m bash ro.sh "with space/jis" record -o copy -- "$JAVA" -version
	expect_says "(1 JVMs)"
	find /tmp -maxdepth 1 -type l -name 'jis-agent-*' -lname "$PWD/victim" -delete
	[ -e victim/libjisagent.so ] || fail "a link in /tmp was followed to a file of somebody else"
	[ "$(ls -A victim)" = libjisagent.so ] || fail "a link in /tmp was followed: $(ls -A victim)"
	[ -e "${dead}1/libjisagent.so" ] || fail "another user's directory was taken for ours"
	[ ! -e "${dead}2" ] || fail "what a killed recorder has left in /tmp stays"
	[ -z "$(find /tmp -maxdepth 1 -name 'jis-agent-*.[0-9]*')" ] || fail "a copy of the agent is left in /tmp"
	undo_names
	trap - EXIT
fi

# one that comes and goes, and comes again
cat >storm.py <<'EOF'
import os, socket, struct
hello = struct.pack("<IHHIIIIQQQ256s", 0x4A495341, 1, 1, 2, os.getpid(), 0, 0, 0, 0, 0, b"x")
for i in range(1000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["JIS_SOCKET"])
    s.send(hello)
    s.close()
EOF
expect_status 0 "${RECORD[@]}" -o storm --pool 256K -- sh -c 'python3 storm.py; sleep 0.5'
[ "$(grep -c "was refused" err)" -le 20 ] || fail "all refusals of one process are printed"
directories=$(find storm -name 'process-*' | wc -l)
[ "$directories" -le 100 ] || fail "one process has made $directories directories"
expect_status 0 "$JIS" info --strict storm
expect_says "times a process asked for a pool and got none"

# too few descriptors for all who ask: the recorder goes on, and says so
cat >hold.py <<'EOF'
import os, socket, time
for i in range(8):
    if os.fork() == 0:
        break
held = []
for i in range(10):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(2)
    try:
        s.connect(os.environ["JIS_SOCKET"])
    except OSError:
        break
    held.append(s)
time.sleep(0.5)
EOF
expect_status 0 bash -c 'ulimit -n 48 && exec "$@"' - "${RECORD[@]}" -o few -- python3 hold.py
expect_says "no file descriptor was left"
expect_status 0 "$JIS" info --strict few
expect_says "no file descriptor was left"
[ -z "$(stale_instances)" ] || fail "a tracefs instance is left: $(stale_instances)"
