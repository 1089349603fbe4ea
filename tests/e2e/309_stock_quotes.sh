#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JaViz's own case: a server of stock quotes that calls several clients back, which order from within such a call. Each quote is a
# call of the server's, served by the client it went to, and each order is in the call of its quote, served by the server again:
# as many as the programs say, by JVM, in the tree and in the table of remote calls.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

clients=3 quotes=200
run=("$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES" StockQuotes)
"${RECORD[@]}" -q -o "$TESTDIR/trace" --name stocks -- "${run[@]}" server $clients $quotes >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
host=$!
wait_for 60 grep -q '^PORT' "$TESTDIR/server.out"
port=$(sed -n 's/^PORT //p' "$TESTDIR/server.out")
hosts=()
for ((i = 1; i <= clients; i++)); do
	"$JIS" record --join "$TESTDIR/trace" -q --name "client$i" -- "${run[@]}" client "$port" $quotes >"$TESTDIR/client$i.out" 2>"$TESTDIR/client$i.err" &
	hosts+=($!)
done
for h in "${hosts[@]}" "$host"; do wait "$h" || { cat "$TESTDIR"/*.err; fail "a JVM ended with $?"; }; done
"$JIS" tree -q -o "$TESTDIR/tree" "$TESTDIR/trace"
"$JIS" rmi -q --json "$TESTDIR/trace" >"$TESTDIR/rmi"
cat "$TESTDIR"/*.out
python3 - "$TESTDIR" "$CHECKERS" <<'PY' || fail "quotes and orders"
import collections, json, re, sys
sys.path.insert(0, sys.argv[2])
from jta_file import REMOTE, SERVED, Tree
d, tree, wrong = sys.argv[1], Tree(sys.argv[1] + "/tree.jta"), 0
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
def said(name):
    return dict(re.findall(r"(\w+) (\d+)", open(f"{d}/{name}.out").read()))
names = {jvm: name for jvm, (_, name) in tree.jvm.items()}
# Of all recorded processes: where a JVM is started by a script, what that runs is one, too.
clients = sorted({names[r.jvm] for r in tree.records[1:] if r.kind in (REMOTE, SERVED)} - {"stocks"})
expect("clients", clients, ["client1", "client2", "client3"])
def served_by(r):
    return [names[c.jvm] for c in r.children if c.kind == SERVED]
quotes, orders = collections.Counter(), collections.Counter()
for r in tree.records[1:]:
    method = tree.method[r.method]
    if r.kind == REMOTE and method.endswith("Listener.quote"):
        expect(f"{r.number}: who quotes", names[r.jvm], "stocks")
        quotes.update(served_by(r))
    elif r.kind == REMOTE and method.endswith("Stocks.order"):
        around = tree.records[tree.parent(r)]
        quote = tree.records[tree.parent(around)]
        expect(f"{r.number}: an order is in", (around.kind, tree.method[around.method].split("$")[1], quote.kind, names[quote.jvm]),
               (SERVED, "Listener.quote", REMOTE, "stocks"))
        expect(f"{r.number}: served by", served_by(r), ["stocks"])
        orders[names[r.jvm]] += 1
for c in clients:
    expect(f"quotes of {c}", quotes[c], int(said(c)["GOT"]))
    expect(f"orders of {c}", orders[c], int(said(c)["ORDERED"]))
expect("quotes", sum(quotes.values()), int(said("server")["QUOTES"]))
expect("orders", sum(orders.values()), int(said("server")["ORDERS"]))
lines = {(l["method"].split("$")[1], l["client"]["name"], l["server"]["name"]): l["calls"] for l in json.load(open(d + "/rmi"))["lines"]}
want = {("Listener.quote", "stocks", c): quotes[c] for c in clients}
want.update({("Stocks.order", c, "stocks"): orders[c] for c in clients})
want.update({("Stocks.register", c, "stocks"): 1 for c in clients})
expect("the table of remote calls", lines, want)
expect("what the file breaks", tree.wrong, [])
sys.exit(wrong > 0)
PY
