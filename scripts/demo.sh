#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make demo: records Debian's Tomcat 10 with its example servlets under load, and leaves the trace in
# BUILD/demo/trace and the Paraver files BUILD/demo/tomcat.{prv,pcf,row}.
# Usage: scripts/demo.sh BUILD [SECONDS [USERS]]; DEMO_JVM_OPTIONS: for Tomcat's JVM, default -Xmx512m.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/demo/lib.sh

BUILD=$(cd "${1:?build directory}" && pwd) seconds=${2:-30} users=${3:-12}
out=$BUILD/demo
jis=$BUILD/jis

fail() {
	echo "demo: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "recording needs root: sudo make demo"
[ -x "$jis" ] || fail "$jis is not there: run make"
JAVA=${JAVA:-$(command -v java)} || fail "no java: run make setup"
export JAVA

rm -rf "$out"
mkdir -p "$out"
classes=$BUILD/demo-classes
[ -d "$classes/app" ] || fail "$classes is not there: run make demo-classes"

# Below /tmp, so that Tomcat's own user reaches it wherever this tree stands.
base=$(mktemp -d /tmp/jis-demo.XXXXXX)
recorder=
cleanup() {
	[ -z "$recorder" ] || kill -TERM "$recorder" 2>/dev/null || true
	rm -rf "$base"
}
trap cleanup EXIT
chmod 755 "$base"
port=$(free_port)
tomcat_base "$base" "$port" "$classes/app"
user=root
if id tomcat >/dev/null 2>&1; then
	user=tomcat
	chown -R tomcat: "$base"
fi
read -ra options <<<"${DEMO_JVM_OPTIONS:--Xmx512m}"
mapfile -t command < <(tomcat_command "$base" "${options[@]}")

echo "demo: recording Tomcat (port $port, as user $user) for $seconds s of load"
"$jis" record -o "$out/trace" --user "$user" -- "${command[@]}" >"$out/tomcat.log" 2>"$out/record.log" &
recorder=$!
tomcat_wait "$port" $recorder 120 || { tail -n 20 "$out/tomcat.log" "$out/record.log" >&2; fail "see above"; }
"$JAVA" -Xmx128m -cp "$classes/load" SurgeLoad "http://127.0.0.1:$port" "$seconds" "$users" ||
	fail "requests failed: see $out/tomcat.log"
kill -INT $recorder
status=0
wait $recorder || status=$?
recorder=
# 130: the JVM ends by the signal that was passed on to it.
case $status in
0 | 130 | 143) grep '^jis record' "$out/record.log" || true ;;
*) cat "$out/record.log" >&2; fail "the recording ended with status $status" ;;
esac

cp -r paraver-export/cfg "$out/cfg"
"$jis" export paraver "$out/trace" -o "$out/tomcat.prv"
"$jis" report "$out/trace" | tee "$out/report.txt"
echo
echo "trace          $out/trace (jis info, jis dump, babeltrace2)"
echo "Paraver files  $out/tomcat.prv .pcf .row; views in $out/cfg"
