#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The critical path of a remote call goes through the JVMs that serve it: what the last one slept and worked, by its own
# clock, is in the path of the client's span, under the thread that did, each nanosecond once. Three hops, one of them back into the
# client's JVM; by TCP, TLS and sockets that are no TCP's, from virtual threads. On every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

"$(dirname "$(readlink -f "$REAL_JAVA")")/keytool" -genkeypair -alias jis -keyalg EC -dname CN=127.0.0.1 \
	-ext SAN=ip:127.0.0.1 -validity 100 -storetype PKCS12 -keystore "$TESTDIR/keys" -storepass password >"$TESTDIR/keytool.out" 2>&1 ||
	{ cat "$TESTDIR/keytool.out"; fail "keytool"; }
store=(keyStore="$TESTDIR/keys" keyStorePassword=password trustStore="$TESTDIR/keys" trustStorePassword=password)
# Milliseconds, and how many threads call how often.
SLEEP=20 SPIN=5 THREADS=2 CALLS=15

check() { # NAME JAVA SYSCALLS SOCKETS MORE...
	local trace=$TESTDIR/$1 java=$2 syscalls=$3 sockets=$4 unknown=() n=$((THREADS * CALLS))
	local options=(--syscalls "$syscalls")
	[ "$syscalls" != none ] || options=()
	echo -n "$1: "
	shift 4
	"${RECORD[@]}" -q "${options[@]}" -o "$trace" -- "$java" -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 \
		-Djdk.lang.Process.launchMechanism=VFORK -Dsockets="$TESTDIR" "${store[@]/#/-Djavax.net.ssl.}" \
		-Dsleep=$SLEEP -Dspin=$SPIN -cp "$CLASSES:$MARKERS" RemoteCalls "$sockets" 2 $THREADS $CALLS back "$@" \
		>"$trace.out" 2>"$trace.err" || { cat "$trace.err"; fail "exit status $?"; }
	grep -q '^END$' "$trace.out" || { cat "$trace.err"; fail "the program did not end"; }
	if [ "$BACKEND" != kmod ]; then
		"$JIS" report -q --json "$trace" >"$trace.report"
		grep -q '"contradictions":0,' "$trace.report" && grep -q '"unseen_switches":0,' "$trace.report" || unknown=(--unknown)
	fi
	"$JIS" why -q --json --span call --top 1000 "$trace" >"$trace.json"
	python3 "$CHECKERS/why_remote.py" "$trace.json" "$trace.err" $SLEEP $n "${unknown[@]}" || fail "the path"
	expect_status 0 "$JIS" why -q --span call "$trace"
	expect_says 'remote call RemoteCalls$Chain.call ('
	expect_says ' served by RMI TCP Connection('
}
n=0
while read -r version java; do
	# Without its security settings a JDK makes no remote calls: one in a root that scripts/lab/image.sh made long ago.
	home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	[ -e "$home/conf/security/java.security" ] || { echo "jdk$version: no security settings"; continue; }
	check "jdk$version-tcp" "$java" io,net tcp
	check "jdk$version-ssl" "$java" io,net ssl
	check "jdk$version-unix" "$java" none unix
	[ "$version" -lt 21 ] || check "jdk$version-virtual" "$java" io,net tcp virtual
	n=$((n + 1))
done < <(TAKE=25 jdks)
[ "$n" -gt 0 ] || fail "no JDK"
