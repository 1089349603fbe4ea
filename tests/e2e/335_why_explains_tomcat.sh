#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The demo's servlet reduces a matrix with two threads of its own in a span: there is a span for each request, what
# Tomcat's thread waits for in it is those two, and what they did adds up to the wait.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || fail "$classes is not there: run make demo-classes"
port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
read -ra options <<<"${JVM_OPTIONS:--Xmx256m}"
mapfile -t command < <(tomcat_command "$TESTDIR/base" "${options[@]}")
"${RECORD[@]}" -q --syscalls io,net,futex -o "$TESTDIR/trace" -- "${command[@]}" >"$TESTDIR/log" 2>&1 &
recorder=$!
trap 'kill -TERM $recorder 2>/dev/null || true' EXIT
tomcat_wait "$port" $recorder 200 || { tail "$TESTDIR/log"; fail "no Tomcat"; }
requests=15
for ((i = 0; i < requests; i++)); do
	curl -fsS "http://127.0.0.1:$port/demo/lu?n=200" >/dev/null
done
kill -INT $recorder
wait $recorder || [ $? = 130 ] || [ $? = 143 ] || { tail "$TESTDIR/log"; fail "the recording failed"; }
trap - EXIT

"$JIS" why -q --json --span 'LU reduction' "$TESTDIR/trace" >"$TESTDIR/why.json"
python3 - "$TESTDIR/why.json" $requests <<'PY' || fail "jis why tells another story"
import json, sys
w = json.load(open(sys.argv[1]))
whole = w["all"]
print(whole["answer"])
bad = []
if whole["count"] != int(sys.argv[2]):
    bad.append(f"{whole['count']} spans")
if whole["sum"] != sum(whole["lengths"]) or whole["sum"] != sum(r["time"] for r in whole["reasons"]):
    bad.append("the sums differ")
waits = [r for r in whole["reasons"] if r["state"].startswith("blocked")]
blocked = sum(r["time"] for r in waits)
workers = sum(r["time"] for r in waits if r.get("by") == "LU worker #")
joins = sum(r["time"] for r in waits if r.get("by") == "LU worker #" and r["reason"] == "join")
print("blocked", blocked, "for the workers", workers, "in joins", joins)
# The rest is starting them, and stops of the VM.
if workers < 0.8 * blocked or joins < 0.5 * workers:
    bad.append("it is not the workers that are waited for")
if "LU worker" not in whole["answer"]:
    bad.append("the answer does not name them")
for i in w["intervals"]:
    if "exec-" not in i["thread"]["name"]:
        bad.append(f"a span of {i['thread']['name']}")
    if sum(s["time"] for s in i["path"] if s["leaf"]) != i["end"] - i["begin"]:
        bad.append("the path does not cover its span")
print(*bad, sep="\n")
sys.exit(bool(bad))
PY
