#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All remote calls of one recording, each with a number of its own: by TLS, a Unix-domain socket and TCP, hop by hop, and back; by
# many threads, every other one virtual; over connections that are used again and ones that are made anew; exceptions, calls that
# cannot be sent, a server that is killed while all threads call, one that ends itself in a call; and a chain of which every
# other JVM has no agent. No link is wrong, what was told at both ends is linked, each other call has a reason.
# CALLS=N: so many calls, 6,400 by default.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

calls=${CALLS:-6400}
newest="$JAVA" mixed=
for java in $(readlink -f /usr/lib/jvm/*/bin/java | sort -u); do
	version=$(jdk_version "$java")
	[ "${version:-0}" -lt 21 ] || [ "$version" -lt "${at:-0}" ] || { at=$version newest=$(check_jni "$java") mixed=mixed; }
done
"$(dirname "$(readlink -f "$REAL_JAVA")")/keytool" -genkeypair -alias jis -keyalg EC -dname CN=127.0.0.1 \
	-ext SAN=ip:127.0.0.1 -validity 100 -storetype PKCS12 -keystore "$TESTDIR/keys" -storepass password >"$TESTDIR/keytool.out" 2>&1 ||
	{ cat "$TESTDIR/keytool.out"; fail "keytool"; }
store=(keyStore="$TESTDIR/keys" keyStorePassword=password trustStore="$TESTDIR/keys" trustStorePassword=password)
cat >"$TESTDIR/all" <<EOS
#!/bin/bash
cd "$TESTDIR" || exit 1
all=(-Djava.rmi.server.hostname=127.0.0.1 -Dsun.rmi.transport.connectionTimeout=5 -Dsockets="$TESTDIR" ${store[*]/#/-Djavax.net.ssl.}
	-cp "$CLASSES:$MARKERS")
"$newest" -Djava="$newest" "\${all[@]}" RemoteCalls ssl,unix,tcp 3 8 $((calls / 32)) back broken killed $mixed >mixed.out 2>mixed.err &
"$JAVA" -Djava="$JAVA" -Duntraced=1,3 "\${all[@]}" RemoteCalls tcp 3 2 $((20 + calls / 400)) back hang >untraced.out 2>untraced.err
status=\$?
wait \$! && exit \$status
EOS
chmod +x "$TESTDIR/all"
"${RECORD[@]}" -q -o "$TESTDIR/trace" -- "$TESTDIR/all" 2>"$TESTDIR/rec" || { cat "$TESTDIR"/*.err "$TESTDIR/rec"; fail "exit status $?"; }
cat "$TESTDIR"/*.out
grep -q '^END$' "$TESTDIR/mixed.out" && grep -q '^END$' "$TESTDIR/untraced.out" || { cat "$TESTDIR"/*.err; fail "a program did not end"; }
"$JIS" info --json "$TESTDIR/trace" >"$TESTDIR/info"
python3 - "$TESTDIR/info" <<'PY' || fail "JVMs lost records"
import json, sys
lost = {s["path"]: s["lost"] for s in json.load(open(sys.argv[1]))["streams"] if s["path"].startswith("jvm-") and any(s["lost"].values())}
sys.exit(str(lost) if lost else 0)
PY
"$JIS" dump -q --event java_marker "$TESTDIR/trace" >"$TESTDIR/markers"
"$JIS" dump -q --event rmi_connection "$TESTDIR/trace" >"$TESTDIR/connections"
"$JIS" tree -q -o "$TESTDIR/tree" "$TESTDIR/trace"
echo "$(wc -l <"$TESTDIR/connections") ends of connections"
"$JIS" rmi -q --json --internal "$TESTDIR/trace" >"$TESTDIR/rmi"
python3 "$CHECKERS/remote_truth.py" "$TESTDIR/tree.jta" "$TESTDIR/markers" "$TESTDIR/rmi" "$TESTDIR/mixed.out" "$TESTDIR/untraced.out" ||
	fail "calls"
for reason in UID connection "never sent" "no answer" "under way at the end" "other end not recorded"; do
	grep -qE "\"$reason\": *[1-9]" "$TESTDIR/rmi" || fail "nothing is told as $reason"
done
