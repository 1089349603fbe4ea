#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tomcat's own executor, of its own class loader: as many tasks as its access log has requests (each on a connection
# of its own: on one that stays open a task may serve several), from the poller to a worker; its idle workers wait for
# their pool and for nothing else; no record is out of order. From the start, and attached while it runs.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || fail "$classes is not there: run make demo-classes"

get() { curl -fsS -o /dev/null -H 'Connection: close' "http://127.0.0.1:$port/$1"; }

requests() {
	local i
	for ((i = 0; i < 50; i++)); do
		get "demo/page$i.html"
	done
}

# tomcat_ready PID: it serves the first request, which is in the access log, too.
tomcat_ready() {
	local end=$((SECONDS + 120))
	until get demo/page0.html 2>/dev/null; do
		kill -0 "$1" 2>/dev/null && [ $SECONDS -lt $end ] || { tail "$TESTDIR/tomcat.log"; fail "no Tomcat"; }
		sleep 0.2
	done
}

# tasks_of JSON: of Tomcat's pool: "begun linked ended from-poller".
tasks_of() {
	python3 - "$1" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
pools = [p for p in r["pools"] if p["class"] == "org.apache.tomcat.util.threads.ThreadPoolExecutor"]
keys = {p["hash"] for p in pools}
poller = sum(h["count"] for h in r["handovers"] if h["pool"]["hash"] in keys
             and h["from"].get("name", "").endswith("-Poller") and "-exec-" in h["to"].get("name", ""))
print(sum(p["begun"] for p in pools), sum(p["linked"] for p in pools), sum(p["wait"]["count"] for p in pools),
      sum(p["run"]["count"] for p in pools), poller)
wrong = [t["name"] for t in r["threads"] if "-exec-" in t["name"] and "park" in t["reasons"]]
idle = [t["name"] for t in r["threads"] if "-exec-" in t["name"] and "idle in pool" in t["reasons"]]
if wrong or not idle:
    sys.exit("workers that park and not for their pool: %s; idle ones: %s" % (wrong, idle))
PY
}

# check NAME EXPECTED
check() {
	local begun linked waited run poller
	"$JIS" report -q --json "$TESTDIR/$1" >"$TESTDIR/$1.json"
	read -r begun linked waited run poller < <(tasks_of "$TESTDIR/$1.json") || fail "$1: workers"
	echo "$1: $begun tasks begun, $linked with submission, $run ended, $poller from the poller; $2 expected"
	[ "$begun" = "$2" ] && [ "$linked" = "$2" ] && [ "$run" = "$2" ] && [ "$waited" = "$2" ] && [ "$poller" = "$2" ] ||
		fail "$1: wrong number of tasks"
	python3 "$CHECKERS/orders.py" "$TESTDIR/$1.json" || fail "$1: records are out of order, or contradict"
	"$JIS" export paraver -q "$TESTDIR/$1" -o "$TESTDIR/$1.prv"
	python3 "$CHECKERS/prv_check.py" "$TESTDIR/$1.prv" || fail "$1: the Paraver files break a rule"
	"$JIS" report -q "$TESTDIR/$1" | grep '^inside of tasks: ' || fail "$1: nothing said of what is inside of tasks"
}

stop() { # PID
	kill -INT "$1"
	wait "$1" || [ $? = 130 ] || [ $? = 143 ] || { cat "$TESTDIR/record.log"; fail "the recording failed"; }
}

port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
sed -i 's|\(<Host [^>]*\)/>|\1><Valve className="org.apache.catalina.valves.AccessLogValve" buffered="false" prefix="access" pattern="%U"/></Host>|' \
	"$TESTDIR/base/conf/server.xml"
all_served() { [ "$(served)" = $((before + 50)) ]; }
# A request is logged behind its answer: the first one's line may come later than it.
settled() {
	local n
	n=$(served)
	sleep 0.5
	[ "$n" -ge 1 ] && [ "$(served)" = "$n" ]
}
served() { find "$TESTDIR/base/logs" -name 'access*' -exec cat {} + | wc -l; }
mapfile -t command < <(tomcat_command "$TESTDIR/base" -Xmx256m)

"${RECORD[@]}" -o "$TESTDIR/started" -- "${command[@]}" >"$TESTDIR/tomcat.log" 2>"$TESTDIR/record.log" &
recorder=$!
trap 'kill -KILL $recorder $(pgrep -P $recorder) 2>/dev/null || true' EXIT
tomcat_ready $recorder
wait_for 20 settled
before=$(served)
requests
wait_for 20 all_served
sleep 1 # the last task is over when its connection is, after the log has it
stop $recorder
trap - EXIT
check started "$(served)"

rm -f "$TESTDIR"/base/logs/access*
"${command[@]}" >"$TESTDIR/tomcat.log" 2>&1 &
jvm=$!
trap 'kill -KILL $jvm 2>/dev/null || true' EXIT
tomcat_ready $jvm
"${RECORD[@]}" -o "$TESTDIR/attached" -p $jvm 2>"$TESTDIR/record.log" &
recorder=$!
attached() { "$JIS" attach -q -o "$TESTDIR/attached" $jvm 2>/dev/null; }
wait_for 60 attached
wait_for 20 settled
before=$(served)
requests
wait_for 20 all_served
sleep 1 # the last task is over when its connection is, after the log has it
stop $recorder
check attached 50
