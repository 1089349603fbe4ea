#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Tomcat and a broker (ActiveMQ) are asked by JMX while their asker makes remote calls of a user's own to another JVM, all in one recording: the user's
# calls are there, as many as were made, those too that an MBean makes when JMX calls it; JMX's, the registry's and the
# collector's are counted, and shown with --internal only.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root
[ -e /usr/share/java/activemq-broker.jar ] || skip "no ActiveMQ: install libactivemq-java"

times=300
# jmx_options PORT
jmx_options() {
	printf '%s\n' -Djava.rmi.server.hostname=127.0.0.1 -Dcom.sun.management.jmxremote.{port,rmi.port}="$1" \
		-Dcom.sun.management.jmxremote.host=127.0.0.1 -Dcom.sun.management.jmxremote.{authenticate,ssl}=false
}
port=$(free_port)
jmx=$(free_port)
mapfile -t options < <(jmx_options "$jmx")
tomcat_base "$TESTDIR/base" "$port" "$BUILD/demo-classes/app"
mapfile -t command < <(tomcat_command "$TESTDIR/base" -Xmx256m "${options[@]}")
"${RECORD[@]}" -o "$TESTDIR/trace" --name tomcat -- "${command[@]}" >"$TESTDIR/tomcat.log" 2>"$TESTDIR/record.log" &
recorder=$!
trap 'kill -KILL $recorder $(pgrep -P $recorder) 2>/dev/null || true' EXIT
tomcat_wait "$port" $recorder 200 || { tail "$TESTDIR/tomcat.log" "$TESTDIR/record.log"; fail "no Tomcat"; }

asked=("$jmx" Catalina:type=Server stateName)
jars=
for jar in activemq-broker activemq-client activemq-stomp activemq-protobuf activemq-openwire-legacy \
	geronimo-jms_1.1_spec geronimo-j2ee-management-1.1-spec geronimo-annotation-1.3-spec hawtbuf slf4j-api slf4j-nop; do
	jars+=/usr/share/java/$jar.jar:
done
broker_jmx=$(free_port)
mapfile -t options < <(jmx_options "$broker_jmx")
: >"$TESTDIR/broker.out"
"$JIS" record --join "$TESTDIR/trace" --name broker -- "$JAVA" "${options[@]}" -Dbeans=true -cp "$CLASSES:$jars" Broker \
	"stomp://127.0.0.1:$(free_port)" 65536 >"$TESTDIR/broker.out" 2>"$TESTDIR/broker.err" &
broker=$!
wait_for 60 grep -q READY "$TESTDIR/broker.out"
asked+=("$broker_jmx" "org.apache.activemq:type=Broker,brokerName=shop" BrokerName)

mkfifo "$TESTDIR/in"
calls=("$JAVA" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES:$MARKERS")
"$JIS" record --join "$TESTDIR/trace" --name server -- "${calls[@]}" -Djava="$JAVA" RemoteCalls server tcp s1 - 0 \
	<"$TESTDIR/in" >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
server=$!
exec 9>"$TESTDIR/in"
wait_for 60 grep -q '^PORT' "$TESTDIR/server.out"
"$JIS" record --join "$TESTDIR/trace" --name asker -- "${calls[@]}" JmxPolls $times \
	"$(sed -n 's/^PORT //p' "$TESTDIR/server.out")" "${asked[@]}" 9>&- >"$TESTDIR/asker.out" 2>"$TESTDIR/asker.err" || { cat "$TESTDIR/asker.err"; fail "the asker ended with $?"; }
exec 9>&-
wait $server || { cat "$TESTDIR/server.err"; fail "the server ended with $?"; }
pkill -TERM -P $broker
wait $broker || [ $? = 143 ] || { cat "$TESTDIR/broker.err"; fail "the broker ended with $?"; }
kill -INT $recorder
wait $recorder || [ $? = 130 ] || [ $? = 143 ] || { cat "$TESTDIR/record.log"; fail "the recording failed"; }
trap - EXIT

"$JIS" tree -q -o "$TESTDIR/tree" "$TESTDIR/trace"
for with in "" --internal; do
	# shellcheck disable=SC2086 # none or one
	"$JIS" rmi -q --json $with "$TESTDIR/trace" >"$TESTDIR/rmi$with"
	# shellcheck disable=SC2086
	"$JIS" tree -q --json $with "$TESTDIR/tree.jta" >"$TESTDIR/tree$with"
done
"$JIS" rmi "$TESTDIR/trace" >"$TESTDIR/rmi.text"
cat "$TESTDIR/asker.out"
head -n 1 "$TESTDIR/rmi.text"
python3 - "$TESTDIR" <<'PY' || { cat "$TESTDIR/rmi.text"; fail "calls"; }
import collections, json, re, sys
d, wrong = sys.argv[1], 0
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
said = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", open(d + "/asker.out").read())}
user = said["CALLED"] + said["RELAYED"]
def ends(l):
    return tuple(l[e] and l[e]["name"] for e in ("client", "server"))
shown, all_ = (json.load(open(f"{d}/rmi{w}")) for w in ("", "--internal"))
expect("shown by default", [(l["method"], ends(l), l["calls"], l["matches"]["UID"]) for l in shown["lines"]],
       [("RemoteCalls$Chain.call", ("asker", "server"), user, user)])
def jmx(method, *between):
    return sum(l["calls"] for l in all_["lines"]
               if l["method"] == "javax.management.remote.rmi." + method and ends(l) == between and l["internal"])
for whom in "tomcat", "broker":
    expect("asked of " + whom, jmx("RMIConnection.getAttribute", "asker", whom), said["ASKED"])
for whom in "tomcat", "broker", "asker":
    expect("connected to " + whom, jmx("RMIServer.newClient", "asker", whom), 1)
expect("of the MBean", jmx("RMIConnection.invoke", "asker", "asker"), said["RELAYED"])
internal = [l for l in all_["lines"] if l["internal"]]
expect("counted", (shown["calls"], shown["internal"]), (all_["calls"], sum(l["calls"] for l in internal)))
expect("all", all_["calls"], user + all_["internal"])
other = collections.Counter(l["method"] for l in internal if not l["method"].startswith("javax.management."))
print(f"{all_['calls']} calls, {all_['internal']} the JDK's own: twice {said['ASKED']} polls; registry and collector: {dict(other)}")
expect("of the registry", sum(n for m, n in other.items() if "lookup(" in m or "rebind(" in m) > 0, True)
expect("it says so", f"{all_['internal']} of them the JDK's own (--internal shows them)" in open(d + "/rmi.text").read(), True)

# The tree.
short, whole = ([json.loads(line) for line in open(f"{d}/tree{w}")] for w in ("", "--internal"))
by = {o["number"]: o for o in whole}
expect("hidden in the tree", sum("internal" in o["flags"] for o in short), 0)
expect("all that is shown", {o["number"] for o in short}, {o["number"] for o in whole if "internal" not in o["flags"]})
expect("once each", len(short), len({o["number"] for o in short}))
calls = [o for o in short if o["kind"] == "remote"]
expect("calls in the tree", (len(calls), {o["method"] for o in calls}), (user, {"RemoteCalls$Chain.call"}))
relayed = [o for o in calls if "internal" in by[o["parent"]]["flags"]]
expect("made by the MBean", (len(relayed), {by[o["parent"]]["kind"] for o in relayed}), (said["RELAYED"], {"served"}))
for o in relayed:
    expect(f"{o['number']}: its place", (by[by[o["parent"]]["parent"]]["method"].endswith("RMIConnection.invoke"), o["depth"]), (True, 2))
# A call whose client ended before it was told of is there as served only.
alone = sum(o["kind"] == "served" and "internal" in o["flags"] and by.get(o.get("parent"), {}).get("kind") != "remote" for o in whole)
expect("in the whole tree", sum(o["kind"] == "remote" and "internal" in o["flags"] for o in whole) + alone, all_["internal"])
sys.exit(wrong > 0)
PY
"$JIS" tree -q "$TESTDIR/tree.jta" --process asker --lines 0 >"$TESTDIR/text"
grep -qE 'remote call RemoteCalls\$Chain.call  \[asker [0-9]+, RMI TCP Connection' "$TESTDIR/text" || { head -20 "$TESTDIR/text"; fail "no place is said"; }
