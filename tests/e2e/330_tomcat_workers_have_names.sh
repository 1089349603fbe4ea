#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Tomcat trace shows each worker, acceptor and poller by its full name, nothing is lost under load, and
# the Paraver files keep all rules.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || fail "$classes is not there: run make demo-classes"
port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
mapfile -t command < <(tomcat_command "$TESTDIR/base" -Xmx256m)
"${RECORD[@]}" -o "$TESTDIR/trace" -- "${command[@]}" >"$TESTDIR/tomcat.log" 2>"$TESTDIR/record.log" &
recorder=$!
trap 'kill -KILL $recorder $(pgrep -P $recorder) 2>/dev/null || true' EXIT
tomcat_wait "$port" $recorder 120 || { tail "$TESTDIR/tomcat.log" "$TESTDIR/record.log"; fail "no Tomcat"; }
clients=()
for ((i = 0; i < 20; i++)); do
	curl -fsS "http://127.0.0.1:$port/demo/lu?n=60" "http://127.0.0.1:$port/demo/page$i.html" \
		"http://127.0.0.1:$port/examples/jsp/dates/date.jsp" >"$TESTDIR/page$i" &
	clients+=($!)
done
wait "${clients[@]}"
jvm=$(pgrep -P $recorder)
# What the JVM itself says its threads are called, by kernel thread id.
kill -QUIT "$jvm"
wait_for 30 threads_dumped "$TESTDIR/tomcat.log" "$TESTDIR/threads"
kill -INT $recorder
wait $recorder || [ $? = 130 ] || [ $? = 143 ] || { cat "$TESTDIR/record.log"; fail "the recording failed"; }
trap - EXIT
tail -n 3 "$TESTDIR/record.log"
! grep -q 'records were lost' "$TESTDIR/record.log" || fail "records were lost"

"$JIS" export paraver -q "$TESTDIR/trace" -o "$TESTDIR/tomcat.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/tomcat.prv"
for name in http-nio-127.0.0.1-$port-exec-1 http-nio-127.0.0.1-$port-Acceptor http-nio-127.0.0.1-$port-Poller \
	"LU worker 0" "LU worker 1" main; do
	grep -qF -- "$name" "$TESTDIR/tomcat.row" || { grep -c . "$TESTDIR/tomcat.row"; fail "no row named $name"; }
done
python3 "$CHECKERS/thread_names.py" "$TESTDIR/threads" "$TESTDIR/tomcat.row" "$TESTDIR/trace/manifest.json"
