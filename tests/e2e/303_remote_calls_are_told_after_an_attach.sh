#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JVMs that call each other already are attached to, all but the last: from then on both ends of each call are told and
# linked, over connections that were there before, too; calls to the last one say that nobody records it.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

mkfifo "$TESTDIR/in"
"$JAVA" -Djava="$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -Dwait=true -cp "$CLASSES:$MARKERS" \
	RemoteCalls tcp 3 4 60 <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
client=$!
exec 9>"$TESTDIR/in"
wait_for 60 grep -q READY "$TESTDIR/out"
read -r _ _ second first < <(grep SERVERS "$TESTDIR/out")
"${RECORD[@]}" -q -o "$TESTDIR/trace" -p "$client" -p "$first" -p "$second" 2>"$TESTDIR/rec" &
host=$!
for jvm in "$client" "$first" "$second"; do
	is_attached() { "$JIS" attach -q -o "$TESTDIR/trace" "$jvm" 2>/dev/null; }
	wait_for 60 is_attached
done
echo >&9
exec 9>&-
wait "$client" || { cat "$TESTDIR/err"; fail "the program ended with $?"; }
wait "$host" || { cat "$TESTDIR/rec"; fail "jis record ended with $?"; }
grep -q '^END$' "$TESTDIR/out" || { cat "$TESTDIR/err"; fail "the program did not end"; }
"$JIS" rmi -q --json "$TESTDIR/trace" >"$TESTDIR/json"
python3 - "$TESTDIR/out" "$TESTDIR/json" "$client" "$first" "$second" <<'PY' || { cat "$TESTDIR/json"; fail "jis rmi"; }
import json, sys
said = next(line for line in open(sys.argv[1]) if line.startswith("CALLS "))
said = {k: int(v) for k, v in (w.split("=") for w in said.split()[1:])}
r, wrong = json.load(open(sys.argv[2])), 0
client, first, second = map(int, sys.argv[3:6])
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
chain = said["returned"] // 3
lines = {(l["method"].split(".")[-1], l["client"]["pid"], (l["server"] or {"pid": 0})["pid"]): l
         for l in r["lines"] if not l["internal"]}
expect("lines", set(lines), {("call", client, first), ("call", first, second), ("call", second, 0), ("fail", client, first)})
if not wrong:
    for key, match, n in ((("call", client, first), "UID", chain), (("call", first, second), "UID", chain),
                          (("call", second, 0), "other end not recorded", chain),
                          (("fail", client, first), "UID", said["thrown"])):
        expect(key, (lines[key]["calls"], lines[key]["matches"][match]), (n, n))
expect("disagreements", (r["disagreements"], r["backward"]), (0, 0))
print(f"{chain} calls by way of three JVMs")
sys.exit(wrong > 0)
PY
# A call to the last one is in the critical path of what a client waits for: as a wait, with the reason.
expect_status 0 "$JIS" why -q --limit 0 --span 1 "$TESTDIR/trace"
expect_says 'remote call RemoteCalls$Chain.call ('
expect_says ', in remote call RemoteCalls$Chain.call: other end not recorded'
