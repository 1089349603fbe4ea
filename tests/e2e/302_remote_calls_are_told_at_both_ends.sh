#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Remote calls, each at both of its ends, known to be the same call by what its own argument says: one UID, one place on one
# connection, one method, moments in order. Three hops, a registry, a callback, exceptions, calls that cannot be sent, a
# server that dies in one; by TCP, TLS and sockets that are no TCP's; from virtual threads. On every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

"$(dirname "$(readlink -f "$REAL_JAVA")")/keytool" -genkeypair -alias jis -keyalg EC -dname CN=127.0.0.1 -ext SAN=ip:127.0.0.1 -validity 100 \
	-storetype PKCS12 -keystore "$TESTDIR/keys" -storepass password >"$TESTDIR/keytool.out" 2>&1 ||
	{ cat "$TESTDIR/keytool.out"; fail "keytool"; }
store=(keyStore="$TESTDIR/keys" keyStorePassword=password trustStore="$TESTDIR/keys" trustStorePassword=password)

check() { # NAME JAVA SOCKETS HOPS THREADS CALLS MORE...
	local name=$1 java=$2 options=()
	shift 2
	[ "$1" != unix ] || options=(--no-addresses)
	"${RECORD[@]}" -q -o "$TESTDIR/$name" -- "$java" -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 \
		-Dsockets="$TESTDIR" "${store[@]/#/-Djavax.net.ssl.}" -cp "$CLASSES:$MARKERS" RemoteCalls "$@" \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -q '^END$' "$TESTDIR/$name.out" || { cat "$TESTDIR/$name.err"; fail "$name: the program did not end"; }
	"$JIS" dump -q "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	echo -n "$name: "
	python3 "$CHECKERS/rmi_records.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" "${options[@]}" || fail "$name"
}
n=0
while read -r version java; do
	# Without its security settings a JDK makes no remote calls: one in a root that scripts/lab/image.sh made long ago.
	home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	[ -e "$home/conf/security/java.security" ] || { echo "jdk$version: no security settings"; continue; }
	check "jdk$version-tcp" "$java" tcp 3 4 100 back broken
	check "jdk$version-ssl" "$java" ssl 2 2 30 back
	check "jdk$version-unix" "$java" unix 2 4 50 back
	[ "$version" -lt 21 ] || check "jdk$version-virtual" "$java" tcp 2 40 20 back virtual
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
