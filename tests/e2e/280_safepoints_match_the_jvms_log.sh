#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Safepoints from the JVM's log: the same ones, with the same names and times within 100 us, as a log that the JVM
# writes by itself; started with the JVM and attached, on every JDK that is here. The threads they stop have them as
# their reason. (284 has those by probes.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
RECORD+=(--no-uprobes)

N=12
check() { # NAME OPTION...
	local name=$1
	shift
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	"$JIS" info --json "$TESTDIR/$name" >"$TESTDIR/$name.info"
	python3 "$CHECKERS/safepoints.py" "$TESTDIR/$name.log" "$TESTDIR/$name.dump" "$TESTDIR/$name.info" \
		--source 1 --at-least $((2 * N)) "$@" || fail "$name"
	"$JIS" export paraver -q "$TESTDIR/$name" -o "$TESTDIR/$name.prv"
	python3 "$CHECKERS/prv_records.py" "$TESTDIR/$name" "$TESTDIR/$name.prv" 40+$((2 * N)) 41+$((4 * N)) || fail "$name: Paraver"
	"$JIS" report --json "$TESTDIR/$name" >"$TESTDIR/$name.json"
	python3 - "$TESTDIR/$name.json" $N <<'EOP' || fail "$name: the report"
import json, sys
r, n = json.load(open(sys.argv[1])), int(sys.argv[2])
sums = {s["name"]: s["count"] for s in r["safepoints"]}
assert sums.get("ThreadDump") == n, sums
assert "" not in sums, sums
stops = [(p["reason"], p["name"], p["time"]) for p in r["peers"] if p["reason"] in ("safepoint", "garbage collection")]
assert any("GC" in name or "Collect" in name or "Mark" in name for _, name, _ in stops), stops
errors = {k: v for k, v in r["counts"]["errors"].items() if "safepoint" in k and v}
assert not errors, errors
EOP
}
started() { # NAME JAVA OPTION...
	local name=$1 java=$2
	shift 2
	"${RECORD[@]}" -q --java default -o "$TESTDIR/$name" -- "$java" "$@" \
		"-Xlog:safepoint=info:file=$TESTDIR/$name.log:timenanos" -cp "$CLASSES" Doings spin,safepoints $N \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -v '^EXPECT\|^END$' "$TESTDIR/$name.out" && fail "$name: the JVM says something"
	check "$name" --from-start --to-end
}
# The agent's logs that the JVM writes to: it has each open twice.
logs_of() { echo $(($(readlink /proc/"$1"/fd/* 2>/dev/null | grep -c jis-vmlog) / 2)); }
attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }
running() { # NAME JAVA OPTION...
	local name=$1 java=$2 jvm host
	shift 2
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$java" "-Xlog:safepoint=info:file=$TESTDIR/$name.log:timenanos" -cp "$CLASSES" Doings \
		safepoints,spin,wait,safepoints,wait,safepoints $N <"$TESTDIR/in" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/$name.out"
	"${RECORD[@]}" -q "$@" --java default -o "$TESTDIR/$name" -p $jvm 2>"$TESTDIR/$name.rec" &
	host=$!
	wait_for 60 attached "$TESTDIR/$name" $jvm
	echo >&9
	said_twice() { [ "$(grep -c READY "$TESTDIR/$name.out")" = 2 ]; }
	wait_for 60 said_twice
	# The logs that we had switched on (safepoints, heap) are there, and gone afterwards.
	[ "$(logs_of $jvm)" = 2 ] || fail "$name: no log"
	kill -INT $host
	wait $host || { cat "$TESTDIR/$name.rec"; fail "$name: jis record ended with $?"; }
	[ "$(logs_of $jvm)" = 0 ] || fail "$name: a log is left on"
	echo >&9
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/$name.err"; fail "$name: the program ended with $?"; }
	check "$name"
}
n=0
while read -r version java; do
	started "jdk$version" "$java" -XX:+UseG1GC
	started "jdk$version-serial" "$java" -XX:+UseSerialGC -Xcheck:jni
	started "jdk$version-z" "$java" -XX:+UseZGC
	[ "$version" != 17 ] || RECORD+=(--clock raw)
	[ "$version" != 17 ] || started "jdk$version-raw" "$java" -XX:+UseParallelGC
	[ "$version" != 17 ] || RECORD=("${RECORD[@]:0:${#RECORD[@]}-2}")
	running "jdk$version-attached" "$java"
	running "jdk$version-events" "$java" --no-rewrite
	n=$((n + 1))
done < <(TAKE=17 jdks)
[ "$n" -gt 0 ] || fail "no JDK"
