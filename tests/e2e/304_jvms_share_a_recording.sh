#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A server and a client, each started by a jis of its own, are in one recording under the names they were given: each
# call, from the first one on, is linked by its UID from the one to the other. What joins has its own exit status; the
# recording ends when all have; none can be joined that has ended, was killed, or is another version's.
. "$(dirname "$0")/lib.sh"
need_root

# The shell becomes the JVM: names stay with a process when it executes.
in_shell=(sh -c 'echo PID $$; exec "$@"' sh)
calls=("$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES:$MARKERS")

mkfifo "$TESTDIR/in"
"${RECORD[@]}" -o "$TESTDIR/trace" --name s1 -- "${in_shell[@]}" "${calls[@]}" RemoteCalls server tcp s1 - 0 \
	<"$TESTDIR/in" >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
host=$!
exec 9>"$TESTDIR/in"
wait_for 60 grep -q '^PORT' "$TESTDIR/server.out"
port=$(sed -n 's/^PORT //p' "$TESTDIR/server.out")
"$JIS" record --join "$TESTDIR/trace" --name c1 -- "${in_shell[@]}" "${calls[@]}" -Dport="$port" RemoteCalls tcp 1 3 60 \
	9>&- >"$TESTDIR/client.out" 2>"$TESTDIR/client.err" || { cat "$TESTDIR/client.err"; fail "the client ended with $?"; }
grep -q '^END$' "$TESTDIR/client.out" || fail "the client did not end"
expect_status 7 "$JIS" record --join "$TESTDIR/trace" -- sh -c 'exit 7'
expect_status 143 "$JIS" record --join "$TESTDIR/trace" -- sh -c 'kill $$'
expect_status 127 "$JIS" record --join "$TESTDIR/trace" -- no-such-command
expect_says "command not found"
exec 9>&-
wait "$host" || { cat "$TESTDIR/server.err"; fail "the server ended with $?"; }
! grep 'JAVA_TOOL_OPTIONS did not reach' "$TESTDIR/server.err" || fail "a JVM had no agent"

"$JIS" rmi -q --json --internal "$TESTDIR/trace" >"$TESTDIR/rmi"
"$JIS" report -q --json "$TESTDIR/trace" >"$TESTDIR/report"
"$JIS" report -q --json --process c1 "$TESTDIR/trace" >"$TESTDIR/report.c1"
"$JIS" export paraver -q "$TESTDIR/trace" -o "$TESTDIR/x.prv"
"$JIS" info "$TESTDIR/trace" >"$TESTDIR/info"
"$JIS" info --process s1 "$TESTDIR/trace" >"$TESTDIR/info.s1"
"$JIS" rmi "$TESTDIR/trace" >"$TESTDIR/rmi.text"
"$JIS" dump -q --process c1 --event java_marker "$TESTDIR/trace" >"$TESTDIR/dump.c1"
python3 - "$TESTDIR" <<'PY' || { cat "$TESTDIR/rmi"; fail "names and calls"; }
import json, re, sys
d, wrong = sys.argv[1], 0
read = lambda name: open(f"{d}/{name}").read()
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
server, client = (int(re.search(r"^PID (\d+)$", read(n), re.M)[1]) for n in ("server.out", "client.out"))
said = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", read("client.out"))}
expect("calls", said["returned"], 3 * 60)
both = {server: "s1", client: "c1"}
r = json.loads(read("rmi"))
s1, c1 = ({"pid": p, "name": both[p]} for p in (server, client))
for method, caller, n in (("Chain.call", c1, said["returned"]), ("Chain.fail", c1, said["thrown"]),
                          ("Remote lookup(", c1, 1), ("void rebind(", s1, 1)):
    lines = [l for l in r["lines"] if method in l["method"]]
    expect(method, [(l["client"], l["server"], l["calls"], l["matches"]["UID"]) for l in lines], [(caller, s1, n, n)])
expect("linked", (r["matches"]["UID"], r["disagreements"]), (r["calls"], 0))
for name, pids in (("report", both), ("report.c1", {client: "c1"})):
    got = {p["pid"]: p["name"] for p in json.loads(read(name))["processes"]}
    expect(name, {p: got.get(p) for p in pids}, pids)
expect("only the one", len(json.loads(read("report.c1"))["processes"]), 1)
rows = read("x.row").split("LEVEL TASK")[1].splitlines()
expect(".row", [f"{n} [{p}]" in rows for p, n in both.items()], [True, True])
told = dict(re.findall(r"^(\d+) +(\S+) +\d+  \S", read("info"), re.M))
expect("info", {p: told.get(str(p)) for p in both}, both)
expect("info --process", set(re.findall(r"^\d+ +(\S+) +\d+  \S", read("info.s1"), re.M)), {"s1"})
expect("jis rmi", f"c1 ({client}) > s1 ({server})" in read("rmi.text"), True)
expect("markers of the client", len(read("dump.c1").splitlines()), said["returned"] + said["thrown"])
print(f"{said['returned']} calls from c1 to s1")
sys.exit(wrong > 0)
PY

expect_status 1 "$JIS" record --join "$TESTDIR/trace" --name late -- true
expect_says "the recording there has ended"
expect_status 1 "$JIS" record --join "$TESTDIR/none" -- true
expect_says "no recording is under way there"
expect_status 2 "$JIS" record --join "$TESTDIR/trace" -o x -- true
expect_says "--output is for the jis record that began the recording"
expect_status 2 "$JIS" record --join "$TESTDIR/trace"
expect_says "give -- COMMAND"
for name in '' $'a\nb' "$(printf 'a%.0s' {1..64})"; do
	expect_status 2 "$JIS" record -o "$TESTDIR/never" --name "$name" -- true
	expect_says "--name: the name "
done
expect_status 2 "$JIS" record -o "$TESTDIR/never" --name two -p 1 -p $$
expect_says "there are several"

# What has joined goes on when the command that it joined has ended, and so does the recording.
cp "$(type -P true)" "$TESTDIR/afterwards"
mkfifo "$TESTDIR/first" "$TESTDIR/second"
"${RECORD[@]}" -o "$TESTDIR/longer" --name first -- sh -c "read _ <'$TESTDIR/first'" 2>"$TESTDIR/longer.err" &
host=$!
wait_for 20 grep -q 'recording into' "$TESTDIR/longer.err"
"$JIS" record -q --join "$TESTDIR/longer" --name second -- sh -c "read _ <'$TESTDIR/second'; '$TESTDIR/afterwards'; exit 3" &
joined=$!
is_recorded() { grep -q '"given_name":"second"' "$TESTDIR/longer/manifest.json"; }
wait_for 20 is_recorded
echo >"$TESTDIR/first"
wait_for 20 grep -q 'the recording goes on for 1 that joined it' "$TESTDIR/longer.err"
echo >"$TESTDIR/second"
status=0
wait "$joined" || status=$?
[ "$status" = 3 ] || fail "what joined ended with 3, its jis with $status"
wait "$host" || { cat "$TESTDIR/longer.err"; fail "jis record ended with $?"; }
"$JIS" info "$TESTDIR/longer" | grep -E '^[0-9]+ +afterwards ' >/dev/null || fail "what was done after the command's end is not recorded"

# A name outlives its recorder; a process that runs can have one.
sleep 300 &
sleeper=$!
"${RECORD[@]}" -o "$TESTDIR/killed" --name k1 -p "$sleeper" 2>"$TESTDIR/killed.err" &
host=$!
wait_for 20 grep -q 'recording into' "$TESTDIR/killed.err"
kill -KILL "$host"
wait "$host" 2>/dev/null || true
kill "$sleeper"
expect_status 1 "$JIS" record --join "$TESTDIR/killed" -- true
expect_says "the recorder there was killed"
"$JIS" recover -q "$TESTDIR/killed" || fail "jis recover"
"$JIS" info "$TESTDIR/killed" | grep -E "^$sleeper +k1 " >/dev/null || fail "the name is not recovered"

# Recorders that know nothing of it: they refuse the command, or requests of this length.
for answer in refuse nothing; do
	mkdir "$TESTDIR/$answer"
	python3 - "$TESTDIR/$answer" <<'PY' &
import fcntl, os, socket, struct, sys, time
os.chdir(sys.argv[1])
fcntl.flock(os.open(".", os.O_RDONLY), fcntl.LOCK_EX)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(".control")
s.listen()
c = s.accept()[0]
c.recv(65536)
if sys.argv[1].endswith("refuse"):
    c.send(struct.pack("<i256s", -22, b"no such command"))
c.close()
while not os.path.exists("done"):
    time.sleep(0.05)
PY
	other=$!
	wait_for 20 test -S "$TESTDIR/$answer/.control"
	expect_status 1 "$JIS" record --join "$TESTDIR/$answer" -- true
	touch "$TESTDIR/$answer/done"
	expect_says "another version of jis"
	wait "$other"
done
