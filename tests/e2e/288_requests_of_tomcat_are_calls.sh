#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Tomcat with preset web: it serves all requests, and the calls of its adapter and of its servlets' valves are the
# lines of its access log.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || skip "$classes is not there: run make demo-classes"
port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
python3 - "$TESTDIR/base/conf/server.xml" "$TESTDIR" <<'PY'
import sys
text = open(sys.argv[1]).read()
valve = ('<Valve className="org.apache.catalina.valves.AccessLogValve" directory="%s" prefix="access" suffix=".log" '
         'pattern="%%r %%s" buffered="false" rotatable="false"/>' % sys.argv[2])
assert text.count("</Engine>") == 1
open(sys.argv[1], "w").write(text.replace("</Engine>", valve + "</Engine>"))
PY
mapfile -t command < <(tomcat_command "$TESTDIR/base" -Xmx256m)
"${RECORD[@]}" --pool 64M --methods web --methods-budget 0 -o "$TESTDIR/trace" -- "${command[@]}" \
	>"$TESTDIR/tomcat.log" 2>"$TESTDIR/record.log" &
recorder=$!
trap 'kill -KILL $recorder $(pgrep -P $recorder) 2>/dev/null || true' EXIT
tomcat_wait "$port" $recorder 200 || { tail "$TESTDIR/tomcat.log" "$TESTDIR/record.log"; fail "no Tomcat"; }
for ((i = 0; i < 40; i++)); do
	curl -fsS "http://127.0.0.1:$port/demo/page$((i % 50)).html" -o "$TESTDIR/page" || fail "request $i failed"
done
sleep 1
kill -TERM "$recorder"
wait "$recorder" || true
trap - EXIT
cat "$TESTDIR/record.log"
! grep -q ' [1-9][0-9]* lost' "$TESTDIR/record.log" || fail "records are lost"
"$JIS" methods --list "$TESTDIR/trace" >"$TESTDIR/list"
grep '^#' "$TESTDIR/list"
grep -c number "$TESTDIR/list"
"$JIS" dump "$TESTDIR/trace" | grep ' method_e' >"$TESTDIR/calls"
wc -l <"$TESTDIR/calls"
log=$(wc -l <"$TESTDIR/access.log")
adapter=$(grep -c 'method_enter.*(org.apache.catalina.connector.CoyoteAdapter.service)' "$TESTDIR/calls")
left=$(grep -c 'method_exit.*(org.apache.catalina.connector.CoyoteAdapter.service) }' "$TESTDIR/calls")
echo "$log requests, $adapter calls, $left returns"
[ "$log" -ge 40 ] && [ "$adapter" = "$log" ] && [ "$left" = "$log" ] || fail "the calls are not the requests"
served=$(grep -c 'method_enter.*(org.apache.catalina.core.StandardWrapperValve.invoke)' "$TESTDIR/calls")
[ "$served" = "$log" ] || fail "$served calls of servlets' valves"
