#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of the size that JaViz tells of, client and server, 130 methods and 521,410 calls: each method was called as often
# as it is by the program's making, each remote call is linked, none is lost, and the trace, all files of it, has at most
# 9 bytes a record.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_javiz.sh"
need_root

javiz_make "$TESTDIR/classes" || skip "no javac beside $REAL_JAVA"
run=("$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$TESTDIR/classes")
sum() { sed -n 's/^SUM //p' "$1"; }
server() { # COMMAND...
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	: >"$TESTDIR/server.out"
	"$@" "${run[@]}" JavizServer <"$TESTDIR/in" >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
	host=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q '^PORT' "$TESTDIR/server.out"
	port=$(sed -n 's/^PORT //p' "$TESTDIR/server.out")
}
end() {
	exec 9>&-
	local status=0
	wait $host || status=$?
	[ $status = 0 ] || { cat "$TESTDIR/server.err"; fail "the server ended with $status"; }
}
server env
"${run[@]}" JavizClient "$port" >"$TESTDIR/untraced.out"
end
server "${RECORD[@]}" -q -o "$TESTDIR/trace" --methods "$javiz_methods" --methods-budget 0 --name server --
"$JIS" record --join "$TESTDIR/trace" -q --name client -- "${run[@]}" JavizClient "$port" >"$TESTDIR/client.out" ||
	fail "the client ended with $?"
end
[ -n "$(sum "$TESTDIR/untraced.out")" ] && [ "$(sum "$TESTDIR/client.out")" = "$(sum "$TESTDIR/untraced.out")" ] ||
	fail "the program comes to $(sum "$TESTDIR/client.out"), untraced to $(sum "$TESTDIR/untraced.out")"
"$JIS" stats -q --json "$TESTDIR/trace" >"$TESTDIR/stats.json"
"$JIS" rmi -q --json "$TESTDIR/trace" >"$TESTDIR/rmi.json"
python3 - "$TESTDIR" $javiz_rounds $javiz_chains $javiz_pads <<'PY' || fail "not the calls that were made"
import json, os, sys
d, rounds, chains, pads = sys.argv[1], *map(int, sys.argv[2:])
want = {f"Javiz{part}.c{i}": rounds * chains for part in ("Client", "Server") for i in range(64)}
want.update({"JavizServer.serve": rounds, "JavizClient.pad": pads})
assert len(want) == 130 and sum(want.values()) == 521410
got = {}
for row in json.load(open(d + "/stats.json"))["lines"]:
    name = row["method"].split("(")[0]
    got[name] = got.get(name, 0) + row["calls"]
rmi = json.load(open(d + "/rmi.json"))
served = [l for l in rmi["lines"] if l["method"].endswith("Quotes.serve")]
assert [(l["calls"], l["client"]["name"], l["server"]["name"], l["failed"]) for l in served] == [(rounds, "client", "server", 0)], served
matches = {k: n for k, n in rmi["matches"].items() if n}
assert set(matches) <= {"UID", "connection", "other end not recorded"} and matches["UID"] >= rounds, matches
wrong = {k: (got.get(k), want.get(k)) for k in set(want) | set(got) if got.get(k) != want.get(k)}
manifest = json.load(open(d + "/trace/manifest.json"))
records = sum(sum(s["stored"].values()) for s in manifest["streams"])
lost = sum(sum(s["produced"].values()) for s in manifest["streams"]) - records
size = sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(d + "/trace") for f in files)
print(f"{sum(got.values())} calls of {len(got)} methods, {records} records and {lost} lost, {size} bytes, "
      f"{size / records:.2f} a record")
print(json.dumps(wrong)[:500])
assert not wrong and not lost and size <= 9 * records
PY
