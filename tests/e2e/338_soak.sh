#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Tomcat under load for a long time, with the methods of preset web traced, switched off and on again, its web application
# deployed anew each round beside the old one, which goes: no request fails, the old application's classes are unloaded, and
# neither the code cache nor what the process has outside of Java's heap grows with the rounds. Some seconds here; half an hour:
# make soak (SOAK_SECONDS=1800). The figures of all rounds are left in SOAK_LOG.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root
command -v wrk >/dev/null || skip "no wrk"
seconds=${SOAK_SECONDS:-30} log=${SOAK_LOG:-$TESTDIR/rounds}
jcmd=$(dirname "$(readlink -f "$(command -v "$REAL_JAVA")")")/jcmd
[ -x "$jcmd" ] || skip "no jcmd beside $REAL_JAVA"

port=$(free_port)
base=$TESTDIR/base
tomcat_base "$base" "$port" "$BUILD/demo-classes/app"
mv "$base/webapps/demo" "$TESTDIR/app"
deploy() { # NUMBER: at once, under its final name
	cp -r "$TESTDIR/app" "$base/new"
	mv "$base/new" "$base/webapps/demo##$(printf %06d "$1")"
}
deploy 1
sed -i 's/<Engine /<Engine backgroundProcessorDelay="1" /; s/autoDeploy="false"/autoDeploy="true" undeployOldVersions="true"/' "$base/conf/server.xml"
grep -q undeployOldVersions "$base/conf/server.xml" || fail "another server.xml"
mapfile -t command < <(tomcat_command "$base" -Xms160m -Xmx160m -XX:+AlwaysPreTouch -XX:+UseSerialGC -XX:NativeMemoryTracking=summary)
"${command[@]}" >"$TESTDIR/tomcat.log" 2>&1 &
jvm=$!
trap 'kill -KILL $jvm 2>/dev/null || true' EXIT
tomcat_wait "$port" $jvm 200 || { tail "$TESTDIR/tomcat.log"; fail "no Tomcat"; }
"${RECORD[@]}" -q --flight-recorder --methods web -p $jvm -o "$TESTDIR/trace" 2>"$TESTDIR/rec.err" &
recorder=$!
attached() { "$JIS" attach -q -o "$TESTDIR/trace" $jvm 2>/dev/null; }
wait_for 120 attached

wrk -t1 -c4 -d"${seconds}s" "http://127.0.0.1:$port/demo/lu" >"$TESTDIR/wrk" 2>&1 &
load=$!
sleep 2
kill -0 $load || { cat "$TESTDIR/wrk"; fail "no load"; }

loaders() { "$jcmd" $jvm GC.class_histogram | awk '/ParallelWebappClassLoader/ { n = $2 } END { print n + 0 }'; }
alone() { [ "$(find "$base/webapps" -maxdepth 1 -name 'demo##*' | wc -l)" = 1 ]; }
# Of this moment, in KiB: committed for code, for classes, and what the process has in memory in all.
memory() {
	"$jcmd" $jvm GC.run >/dev/null
	"$jcmd" $jvm VM.native_memory summary | awk '
		/^- *(Code|Class|Metaspace) \(/ { match($0, /committed=[0-9]+/); kb[$2] += substr($0, RSTART + 10, RLENGTH - 10) }
		END { printf "%d %d ", kb["Code"], kb["Class"] + kb["Metaspace"] }'
	awk '/^VmRSS:/ { printf "%d ", $2 }' /proc/$jvm/status
	echo "$(loaders) $(find /proc/$jvm/fd -mindepth 1 | wc -l) $(find /proc/$jvm/task -mindepth 1 -maxdepth 1 | wc -l)"
}

round=1
: >"$log"
while kill -0 $load 2>/dev/null || [ $round -lt 4 ]; do
	"$JIS" methods -q --off 'org.apache.catalina.**.*' -o "$TESTDIR/trace" $jvm || fail "round $round: methods are not switched off"
	sleep 1
	"$JIS" methods -q --on 'org.apache.catalina.**.*' -o "$TESTDIR/trace" $jvm || fail "round $round: methods are not switched on"
	round=$((round + 1))
	deploy $round
	wait_for 60 alone
	[ $((round % 10)) != 0 ] || { "$JIS" snapshot -q -o "$TESTDIR/snapshot" "$TESTDIR/trace" && rm -rf "$TESTDIR/snapshot"; } ||
		fail "round $round: no snapshot"
	memory >>"$log"
	kill -0 $jvm $recorder || fail "round $round: the JVM or the recorder is gone: $(cat "$TESTDIR/rec.err")"
done
wait $load || fail "wrk ended with $?"
cat "$TESTDIR/wrk"
! grep -q 'Non-2xx\|Socket errors' "$TESTDIR/wrk" || fail "requests failed"
curl -fsS -o /dev/null "http://127.0.0.1:$port/demo/lu" || fail "it does not answer any more"
kill -INT $recorder
wait $recorder || { cat "$TESTDIR/rec.err"; fail "the recorder ended with $?"; }
"$JIS" stats -q --csv "$TESTDIR/trace" >"$TESTDIR/stats.csv"
grep -q LuServlet "$TESTDIR/stats.csv" || fail "no call of the application's servlet in the trace"
kill $jvm
wait $jvm || [ $? = 143 ] || { tail "$TESTDIR/tomcat.log"; fail "Tomcat ended with $?"; }
python3 - "$log" "$seconds" <<'PY' || fail "something grows"
import statistics, sys
rows = [list(map(int, l.split())) for l in open(sys.argv[1])]
names = ["code KiB", "classes KiB", "in memory KiB", "loaders of web applications", "descriptors", "threads"]
assert len(rows) >= 3, rows
# the servers' own, demo, examples, and one that is not collected yet
assert max(r[3] for r in rows) <= 4, [r[3] for r in rows]
third = len(rows) // 3
wrong = 0
for i, name in enumerate(names):
    v = [r[i] for r in rows]
    middle, last = (statistics.median(v[third:2 * third] or v), statistics.median(v[2 * third:]))
    print(f"{name}: first {v[0]}, median of the middle third {middle}, of the last {last}, most {max(v)}")
    # A JIT compiler goes on for a while: by how much is known after some rounds only.
    if len(rows) >= 24 and last > middle * 1.02 + 512:
        wrong += 1
        print(f"{name} grows")
print(f"{len(rows)} rounds")
sys.exit(wrong > 0)
PY
