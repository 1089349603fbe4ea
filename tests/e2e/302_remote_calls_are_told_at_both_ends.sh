#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Remote calls, each at both of its ends, known to be the same call by what its own argument says: one UID, one place on one
# connection, one method, moments in order. Three hops, a registry, a callback, exceptions, calls that cannot be sent, a
# server that dies in one; by TCP, TLS and sockets that are no TCP's; from virtual threads. On every JDK that is here.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

"$(dirname "$(readlink -f "$REAL_JAVA")")/keytool" -genkeypair -alias jis -keyalg EC -dname CN=127.0.0.1 \
	-ext SAN=ip:127.0.0.1 -validity 100 -storetype PKCS12 -keystore "$TESTDIR/keys" -storepass password >"$TESTDIR/keytool.out" 2>&1 ||
	{ cat "$TESTDIR/keytool.out"; fail "keytool"; }
store=(keyStore="$TESTDIR/keys" keyStorePassword=password trustStore="$TESTDIR/keys" trustStorePassword=password)

# VFORK: the helper that a JDK starts processes by does not run outside of its root.
check() { # NAME JAVA SOCKETS HOPS THREADS CALLS MORE...
	local name=$1 java=$2 options=()
	shift 2
	[ "$1" != unix ] || options=(--no-addresses)
	"${RECORD[@]}" -q -o "$TESTDIR/$name" -- "$java" ${VERIFY:-} -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 \
		-Djdk.lang.Process.launchMechanism=VFORK -Dsockets="$TESTDIR" "${store[@]/#/-Djavax.net.ssl.}" \
		-cp "$CLASSES:$MARKERS" RemoteCalls "$@" \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -q '^END$' "$TESTDIR/$name.out" || { cat "$TESTDIR/$name.err"; fail "$name: the program did not end"; }
	"$JIS" dump -q "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	echo -n "$name: "
	python3 "$CHECKERS/rmi_records.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" "${options[@]}" || fail "$name"
	"$JIS" export paraver -q "$TESTDIR/$name" -o "$TESTDIR/$name.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$TESTDIR/$name.prv" || fail "$name: the Paraver files break a rule"
	"$JIS" report -q --json "$TESTDIR/$name" >"$TESTDIR/$name.report"
	"$JIS" rmi -q --json --internal "$TESTDIR/$name" >"$TESTDIR/$name.json"
	python3 - "$TESTDIR/$name.out" "$TESTDIR/$name.json" "$TESTDIR/$name.report" "$TESTDIR/$name.prv" <<'PY' || fail "$name: jis rmi"
import json, sys
said = next(line for line in open(sys.argv[1]) if line.startswith("CALLS "))
said = {k: int(v) for k, v in (w.split("=") for w in said.split()[1:])}
r, wrong = json.load(open(sys.argv[2])), 0
def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
def of(name, field="calls", lines=r["lines"]):
    return sum(l[field] for l in lines if l["method"].endswith(name))
expect("calls and callbacks", of("Chain.call") + of("Back.back"), said["returned"])
expect("thrown", (of("Chain.fail"), of("Chain.fail", "thrown")), (said["thrown"],) * 2)
expect("never sent", (of("Chain.take"), r["matches"]["never sent"]), (said["unsent"],) * 2)
expect("broken", (of("Chain.die", "failed"), r["matches"]["connection"]), (said["broken"],) * 2)
registry = [l for l in r["lines"] if l["method"].startswith(("void rebind(", "java.rmi.Remote lookup("))]
expect("of the registry", sum(l["calls"] for l in registry), said["registry"])
expect("hidden by default", {l["internal"] for l in registry}, {True})
expect("disagreements", (r["disagreements"], r["backward"]), (0, 0))
expect("all", r["calls"], sum(r["matches"][k] for k in ("UID", "connection", "never sent")))
for l in r["lines"]:
    if l["whole"] == l["calls"]:
        expect("the parts of " + l["method"], sum(l["parts"].values()), l["total"])
links = json.load(open(sys.argv[3]))["links"]["kinds"]
both = r["matches"]["UID"]
expect("links", (links["remote call"]["count"] - r["matches"]["connection"], links["remote answer"]["count"]), (both, both))
lines = [line.rstrip().split(":") for line in open(sys.argv[4]) if line[0] in "23"]
arrows = {t: sum(l[0] == "3" and l[-1] == t for l in lines) for t in ("18", "19")}
expect("arrows", arrows, {"18": both + r["matches"]["connection"], "19": both})
served = sum(l[i] == "77000061" and l[i + 1] != "0" for l in lines if l[0] == "2" for i in range(6, len(l), 2))
expect("calls served", served, both)
called = sum(l[i] == "77000060" and l[i + 1] != "0" for l in lines if l[0] == "2" for i in range(6, len(l), 2))
expect("calls of stubs", called, r["calls"] - r["internal"] - r["matches"]["never sent"])
chain = [(l["client"]["pid"], l["server"]["pid"]) for l in r["lines"] if l["method"].endswith("Chain.call")]
expect("a chain", len(chain), len({a for a, _ in chain} | {b for _, b in chain}) - 1)
sys.exit(wrong > 0)
PY
}
n=0
while read -r version java; do
	# Without its security settings a JDK makes no remote calls: one in a root that scripts/lab/image.sh made long ago.
	home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	[ -e "$home/conf/security/java.security" ] || { echo "jdk$version: no security settings"; continue; }
	check "jdk$version-tcp" "$java" tcp 3 4 100 back broken
	# The JVM does not look at what is put into its own classes; here it does.
	VERIFY="-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal" check "jdk$version-ssl" "$java" ssl 2 2 30 back
	check "jdk$version-unix" "$java" unix 2 4 50 back
	[ "$version" -lt 21 ] || check "jdk$version-virtual" "$java" tcp 2 40 20 back virtual
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
