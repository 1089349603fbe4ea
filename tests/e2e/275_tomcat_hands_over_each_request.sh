#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a Tomcat, connections are the client's connections, requests the client's and the access log's; each request
# after a pause is handed over once, from poller to worker, in the report and in Paraver. Under load (wrk, where it is
# there) a worker may read the next request at once: hand-overs and such requests together are the log's, on wrk's
# connections. What workers wait for inside of requests is explained, with the module. Each thread has the name the JVM
# has for it. HOW=attached: to a Tomcat that runs already.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || fail "$classes is not there: run make demo-classes"
port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
# One line a request, written at once.
python3 - "$TESTDIR/base/conf/server.xml" "$TESTDIR" <<'PY'
import sys
text = open(sys.argv[1]).read()
valve = ('<Valve className="org.apache.catalina.valves.AccessLogValve" directory="%s" prefix="access" suffix=".log" '
         'pattern="%%{remote}p %%r %%s" buffered="false" rotatable="false"/>' % sys.argv[2])
assert text.count("</Engine>") == 1
open(sys.argv[1], "w").write(text.replace("</Engine>", valve + "</Engine>"))
PY
read -ra options <<<"${JVM_OPTIONS:--Xmx256m}"
mapfile -t command < <(tomcat_command "$TESTDIR/base" "${options[@]}")
load=()
! command -v wrk >/dev/null || load=(--buffer 128M)
recording=("${RECORD[@]}" "${load[@]}" --syscalls "net,io,lock" -o "$TESTDIR/trace")
if [ "${HOW:-started}" = attached ]; then
	"${command[@]}" >"$TESTDIR/tomcat.log" 2>&1 &
	server=$!
	trap 'kill -KILL $server 2>/dev/null || true' EXIT
	tomcat_wait "$port" $server ${TOMCAT_SECONDS:-200} || { tail "$TESTDIR/tomcat.log"; fail "no Tomcat"; }
	sleep 1
	: >"$TESTDIR/access.log" # of what is recorded alone
	"${recording[@]}" -p $server 2>"$TESTDIR/record.log" &
	recorder=$!
	trap 'kill -KILL $recorder $server 2>/dev/null || true' EXIT
	is_attached() { "$JIS" attach -q -o "$TESTDIR/trace" $server 2>/dev/null; }
	wait_for 120 is_attached
else
	"${recording[@]}" -- "${command[@]}" >"$TESTDIR/tomcat.log" 2>"$TESTDIR/record.log" &
	recorder=$!
	trap 'kill -KILL $recorder $(pgrep -P $recorder) 2>/dev/null || true' EXIT
	tomcat_wait "$port" $recorder ${TOMCAT_SECONDS:-200} || { tail "$TESTDIR/tomcat.log" "$TESTDIR/record.log"; fail "no Tomcat"; }
	server=$(pgrep -P $recorder)
fi
# What came before is known by the log alone; from here on the client counts.
sleep 1
before=$(wc -l <"$TESTDIR/access.log")
single=${SINGLE:-60} kept=12 each=5
for ((i = 0; i < single; i += 4)); do
	clients=()
	for ((k = i; k < i + 4; k++)); do
		curl -fsS -H 'Connection: close' "http://127.0.0.1:$port/demo/page$((k % 50)).html" -o "$TESTDIR/page$k" &
		clients+=($!)
	done
	wait "${clients[@]}"
done
# Kept alive: some requests after a while, so that the connection has been given back to the poller.
python3 - "$port" $kept $each <<'PY'
import http.client, sys, time
port, kept, each = (int(a) for a in sys.argv[1:])
clients = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(kept)]
for _ in range(each):
    for c in clients:
        c.request("GET", "/demo/page1.html")
        assert len(c.getresponse().read()) > 1000
    time.sleep(0.2)
for c in clients:
    c.close()
PY
sleep 1
paused=$(wc -l <"$TESTDIR/access.log")
if [ ${#load[@]} -gt 0 ]; then
	wrk -t1 -c8 -d2s "http://127.0.0.1:$port/examples/servlets/servlet/HelloWorldExample" >"$TESTDIR/wrk"
	sleep 1
fi
# What the JVM itself says its threads are called, by kernel thread id.
kill -QUIT "$server"
wait_for 60 threads_dumped "$TESTDIR/tomcat.log" "$TESTDIR/threads"
kill -INT $recorder
wait $recorder || [ $? = 130 ] || [ $? = 143 ] || { cat "$TESTDIR/record.log"; fail "the recording failed"; }
trap - EXIT
if [ "${HOW:-started}" = attached ]; then
	kill "$server"
	wait "$server" || [ $? = 143 ] || fail "Tomcat did not end well"
fi
! grep -q 'records were lost' "$TESTDIR/record.log" || fail "records were lost"

"$JIS" report -q --json "$TESTDIR/trace" >"$TESTDIR/report.json"
"$JIS" report -q "$TESTDIR/trace" >"$TESTDIR/report"
grep '^connections:\|^requests:\|socket .* -> ' "$TESTDIR/report"
"$JIS" export paraver -q "$TESTDIR/trace" -o "$TESTDIR/tomcat.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/tomcat.prv" || fail "the Paraver files break a rule"
python3 "$CHECKERS/thread_names.py" "$TESTDIR/threads" "$TESTDIR/tomcat.row" "$TESTDIR/trace/manifest.json"
for name in exec-1 Acceptor Poller; do
	grep -qF -- "http-nio-127.0.0.1-$port-$name" "$TESTDIR/tomcat.row" || fail "no row of its $name"
done
python3 - "$TESTDIR/report.json" "$TESTDIR/access.log" "$before" "$paused" $single $kept $each "$TESTDIR/tomcat.prv" \
	"$BACKEND" "$TESTDIR/wrk" <<'PY'
import collections, json, re, sys
report, lines = json.load(open(sys.argv[1])), open(sys.argv[2]).read().splitlines()
before, paused, single, kept, each = (int(a) for a in sys.argv[3:8])
c, pairs = report["connections"], report["links"]["pairs"]
wrong = 0
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
def total(xs, what):
    return sum(x[what] for x in xs)
# A later connection may have the port of one before: the log cannot tell them apart, so we do not, either.
def ports(xs):
    return collections.Counter({p: total([x for x in xs if x["peer"].endswith(":" + p)], "requests")
                                for p in {x["peer"].rsplit(":", 1)[1] for x in xs}})
log, loaded = lines[:paused], lines[paused:]
connected = before + single + kept
by_port = collections.Counter(line.split()[0] for line in log)
expect("requests of the log", len(log), before + single + kept * each)
expect("ports of the log", len(by_port) <= connected, True)
expect("not listed", c["not_listed"], 0)
accepted = sorted((x for x in c["list"] if x["origin"] == "accepted" and x["opener"]["name"].endswith("-Acceptor")),
                  key=lambda x: x["number"])
# To end, Tomcat wakes its acceptor by a connection of its own, which has no request; wrk may leave some, too.
empty = [x for x in accepted if not x["requests"]]
own = [x for x in c["list"] if x["origin"] == "connected"]
expect("connections without request", len(empty) >= len(own) if loaded else len(empty),
       True if loaded else len(own))
accepted = [x for x in accepted if x["requests"]]
load, accepted = accepted[connected:], accepted[:connected]
expect("accepted", len(accepted), connected)
expect("requests", total(accepted, "requests"), len(log))
# As many requests on each connection as the log has, by port where ports are told.
told = bool(accepted[0]["peer"])
if told:
    expect("requests by port", ports(accepted), by_port)
elif len(by_port) == connected:
    expect("requests by connection", sorted(x["requests"] for x in accepted), sorted(by_port.values()))
handed = total(accepted, "handovers")
expect("hand-overs", handed, len(log))
expect("closed", sum("closed" in x for x in accepted), len(accepted))
if loaded:
    # wrk's own count of requests is of those whose answers it still waited for; it opens 8 connections.
    wrk = int(re.search("([0-9]+) requests in", open(sys.argv[10]).read()).group(1))
    expect("wrk's requests are the log's", wrk <= len(loaded) <= wrk + 8, True)
    # Of its 8 each is closed by Tomcat after 100 requests, and opened anew.
    expect("wrk's connections", 8 <= len(load) <= 8 + len(loaded) // 100, True)
by_port = collections.Counter(line.split()[0] for line in loaded)
expect("requests under load", total(load, "requests"), len(loaded))
if told:
    expect("requests by port under load", ports(load), by_port)
else:
    expect("requests by connection under load", sorted(x["requests"] for x in load), sorted(by_port.values()))
expect("hand-overs and requests read at once", total(load, "handovers") + total(load, "kept"), len(loaded))
handed += total(load, "handovers")
links = collections.Counter()
for p in pairs:
    if p["kind"] == "socket":
        links["Poller" in p["from"]["name"] and "-exec-" in p["to"]["name"]] += p["count"]
expect("hand-overs from poller to worker", links, {True: handed})
tags = collections.Counter(line.rsplit(":", 1)[1].strip() for line in open(sys.argv[8]) if line.startswith("3:"))
expect("arrows", tags["15"], handed)
# Inside of requests, from the begin of the task to its end, what a worker waits for with its object or peer. ftrace tells
# neither the call nor the VM's words at a switch: waits inside of the VM are not known there, and the share is printed.
inside = report["inside_tasks"]
share = 100 * inside["explained"] / inside["blocked"]
print(f"inside of all tasks {inside['blocked'] / 1e6:.3f} ms off the CPU, {share:.3f} % explained; not: {inside['rest']}")
print(f"{len(accepted)} connections, {len(log)} requests and hand-overs; under load {len(load)} connections, "
      f"{len(loaded)} requests, {total(load, 'handovers')} hand-overs, {wrong} wrong")
sys.exit(wrong > 0)
PY
# The same of its workers for requests alone, added up once more from the states of the Paraver trace.
least=0
[ "$BACKEND" != kmod ] || least=99
python3 "$CHECKERS/inside.py" "$TESTDIR/tomcat" "http-nio-127.0.0.1-$port-exec-" "$TESTDIR/report.json" --least $least
