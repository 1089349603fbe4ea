#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JaViz's example: a client, a chain of three servers and a registry, each a JVM with a name, in one recording. The client's
# tree, and each server's own with what it served, are those that are expected: kind, method, JVM, thread, and the order of
# children. On each JDK that is here, and with all of them in one chain.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

METHODS='Beacon*.*,java.rmi.Naming.*,sun.rmi.server.UnicastRef.invoke,sun.rmi.server.UnicastServerRef.dispatch'
inputs=()

# server NAME JAVA SAYS ARG...: a server of its own, which goes on until its input is closed.
server() {
	local name=$1 java=$2 says=$3 how=(--join "$trace")
	shift 3
	[ -d "$trace" ] || how=("${RECORD[@]:2}" -o "$trace" --methods "$METHODS")
	rm -f "$TESTDIR/in.$name" "$TESTDIR/$name.out" # an earlier one of that name had its own
	mkfifo "$TESTDIR/in.$name"
	"$JIS" record "${how[@]}" -q --name "$name" -- "$java" -Djava.rmi.server.hostname=127.0.0.1 -cp "$CLASSES" BeaconServer "$@" \
		<"$TESTDIR/in.$name" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	hosts+=($!)
	exec {input}>"$TESTDIR/in.$name"
	inputs+=("$input")
	wait_for 60 grep -q "^$says" "$TESTDIR/$name.out"
}

check() { # NAME JAVA-OF-THE-CLIENT-AND-REGISTRY JAVA1 JAVA2 JAVA3
	local host
	trace=$TESTDIR/$1 hosts=() inputs=()
	server registry "$2" PORT registry
	port=$(sed -n 's/^PORT //p' "$TESTDIR/registry.out")
	server s3 "$5" BOUND "$port" s3 end
	server s2 "$4" BOUND "$port" s2 s3
	server s1 "$3" BOUND "$port" s1 s2
	"$JIS" record --join "$trace" -q --name client1 -- "$2" -cp "$CLASSES" BeaconClient "$port" s1 >"$TESTDIR/client.out" ||
		fail "$1: the client ended with $?"
	[ "$(cat "$TESTDIR/client.out")" = "SERVERS 3" ] || fail "$1: $(cat "$TESTDIR/client.out")"
	for input in "${inputs[@]}"; do exec {input}>&-; done
	for host in "${hosts[@]}"; do wait "$host" || { cat "$TESTDIR"/*.err; fail "$1: a server ended with $?"; }; done
	"$JIS" tree -q -o "$trace.tree" "$trace"
	for jvm in client1 s1 s2 s3; do
		echo "== $jvm"
		python3 "$CHECKERS/tree_shape.py" "$trace.tree.jta" "$jvm"
	done >"$TESTDIR/$1.shape" || { cat "$TESTDIR/$1.shape"; fail "$1"; }
	diff "$(dirname "$0")/expected/javiz_example.txt" "$TESTDIR/$1.shape" || fail "$1: not the trees that are expected"
}

all=()
while read -r version java; do
	home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	[ -e "$home/conf/security/java.security" ] || { echo "jdk$version: no security settings"; continue; }
	all+=("$java")
	check "jdk$version" "$java" "$java" "$java" "$java"
done < <(all_jdks) # all, for the mixed one
[ ${#all[@]} -gt 0 ] || fail "no JDK"
[ ${#all[@]} -lt 3 ] || check mixed "${all[@]}" "${all[0]}"
