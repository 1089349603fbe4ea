#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JVMs that run, attached to by one jis record or later, get a name each by jis attach --name: those that have the agent
# already, one that is no target yet, and one that had another name. From then on, and for all of the recording, it is in the
# manifest and what tools show; a recorder that is killed leaves it behind.
. "$(dirname "$0")/lib.sh"
need_root

mkfifo "$TESTDIR/in"
"$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -Dwait=true -cp "$CLASSES:$MARKERS" \
	RemoteCalls tcp 2 2 20 <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
client=$!
exec 9>"$TESTDIR/in"
wait_for 60 grep -q READY "$TESTDIR/out"
read -r _ second first < <(grep SERVERS "$TESTDIR/out")

expect_status 2 "$JIS" record -o "$TESTDIR/never" --name two -p "$client" -p "$first"
expect_says "give each JVM its own by jis attach --name"
"${RECORD[@]}" -q -o "$TESTDIR/trace" -p "$client" -p "$first" 2>"$TESTDIR/rec" &
host=$!
is_attached() { "$JIS" attach -q -o "$TESTDIR/trace" "$@" 2>/dev/null; }
wait_for 60 is_attached "$client"
wait_for 60 is_attached --name not_for_long "$first"
expect_status 0 "$JIS" attach -o "$TESTDIR/trace" --name c1 "$client"
expect_says "the agent is there already"
expect_status 0 "$JIS" attach -q -o "$TESTDIR/trace" --name 's1 ä' "$first"
expect_status 0 "$JIS" attach -q -o "$TESTDIR/trace" --name s2 "$second"

for name in '' $'a\nb' "$(printf 'a%.0s' {1..64})"; do
	expect_status 2 "$JIS" attach -o "$TESTDIR/trace" --name "$name" "$client"
	expect_says "--name: the name "
done
expect_status 2 "$JIS" attach -o "$TESTDIR/trace" --name both "$client" "$first"
expect_says "one process at a time"
expect_status 2 "$JIS" detach -o "$TESTDIR/trace" --name c2 "$client"
expect_says "unknown option --name"
expect_status 1 "$JIS" attach -o "$TESTDIR/trace" --name shell $$
expect_says "there is no HotSpot JVM of that number"
is_known() { grep -q '"given_name":"s2"' "$TESTDIR/trace/manifest.json"; }
wait_for 20 is_known

echo >&9
exec 9>&-
wait "$client" || { cat "$TESTDIR/err"; fail "the program ended with $?"; }
wait "$host" || { cat "$TESTDIR/rec"; fail "jis record ended with $?"; }
"$JIS" rmi -q --json "$TESTDIR/trace" >"$TESTDIR/rmi"
"$JIS" info "$TESTDIR/trace" >"$TESTDIR/info"
python3 - "$TESTDIR" "$client" "$first" "$second" <<'PY' || { cat "$TESTDIR/info" "$TESTDIR/rmi"; fail "names"; }
import json, re, sys
d, wrong = sys.argv[1], 0
names = dict(zip(map(int, sys.argv[2:]), ("c1", "s1 ä", "s2")))
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
info = open(d + "/info").read()
expect("info", {p: bool(re.search(rf"^{p} +{n} +\d+  \S", info, re.M)) for p, n in names.items()}, dict.fromkeys(names, True))
expect("who had another name", "not_for_long" in info.split("\n\n", 1)[-1], False)
ends = [l[e] for l in json.load(open(d + "/rmi"))["lines"] for e in ("client", "server") if l[e]]
expect("ends of calls", {e["pid"]: e["name"] for e in ends}, names)
sys.exit(wrong > 0)
PY
"$JIS" info --process s2 "$TESTDIR/trace" | grep -E "^$second +s2 " >/dev/null || fail "info --process s2"

# A name outlives its recorder.
"$JAVA" -cp "$CLASSES" Silence "$TESTDIR/never" 0 >"$TESTDIR/out" 2>"$TESTDIR/err" &
jvm=$!
"${RECORD[@]}" -o "$TESTDIR/killed" -p "$jvm" -p $$ 2>"$TESTDIR/killed.err" &
host=$!
wait_for 20 grep -q 'recording into' "$TESTDIR/killed.err"
is_named() { "$JIS" attach -q -o "$TESTDIR/killed" --name k1 "$jvm" 2>/dev/null && grep -q '"given_name":"k1"' "$TESTDIR/killed/manifest.json"; }
wait_for 60 is_named
kill -KILL "$host"
wait "$host" 2>/dev/null || true
kill "$jvm"
"$JIS" recover -q "$TESTDIR/killed" || fail "jis recover"
"$JIS" info "$TESTDIR/killed" | grep -E "^$jvm +k1 " >/dev/null || fail "the name is not recovered"
