#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a Tomcat under load, running and ready times and the number of switches of each thread that lives at the
# end, the JVM's own among them, are those of the kernel's own books; the Paraver trace keeps all rules;
# nothing is lost.
. "$(dirname "$0")/lib_truth.sh"
. "$here/../../scripts/demo/lib.sh"

classes=$BUILD/demo-classes/app
[ -d "$classes" ] || fail "$classes is not there: run make demo-classes"
port=$(free_port)
tomcat_base "$TESTDIR/base" "$port" "$classes"
read -ra options <<<"${JVM_OPTIONS:--Xmx256m}"
mapfile -t command < <(tomcat_command "$TESTDIR/base" "${options[@]}")
watch_begin
before=$(steal_ns)
"${RECORD[@]}" -o "$TESTDIR/trace" -- "$TESTPROG/books" "${command[@]}" >"$TESTDIR/program" 2>"$TESTDIR/log" &
recorder=$!
trap 'kill -TERM $recorder 2>/dev/null || true; rmdir $watch 2>/dev/null || true' EXIT
tomcat_wait "$port" $recorder 200 || { tail "$TESTDIR/log"; fail "no Tomcat"; }
clients=()
for ((i = 0; i < 20; i++)); do
	curl -fsS "http://127.0.0.1:$port/demo/lu?n=60" "http://127.0.0.1:$port/demo/page$i.html" >/dev/null &
	clients+=($!)
done
wait "${clients[@]}"
pkill -USR1 -P $recorder || fail "nobody to read the books"
wait $recorder || { cat "$TESTDIR/log"; fail "the books could not be read"; }
trap 'rmdir $watch 2>/dev/null || true' EXIT
steal=$(($(steal_ns) - before))
states_are_true "$TESTDIR/trace" "$TESTDIR/program" "$steal"
