#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Classes loaded and unloaded, methods compiled, exceptions thrown and allocations sampled are exactly those that the
# program knows of and the JVM prints; started with the JVM and attached (without exceptions, which it then cannot
# tell), on every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

FAMILIES=default,classes,compilations
WHAT=exceptions,classes,compilations,allocations
VM=(-Xcheck:jni -XX:+PrintCompilation -Xbatch)
started() { # NAME JAVA
	local name=$1 java=$2
	"${RECORD[@]}" -q --java $FAMILIES,exceptions --allocations 1 -o "$TESTDIR/$name" -- "$java" "${VM[@]}" \
		-cp "$CLASSES" Doings $WHAT 37 >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" ||
		{ cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep -q 'WARNING' "$TESTDIR/$name.out" && fail "$name: the JVM warns"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/doings.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" || fail "$name"
}
attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }
running() { # NAME JAVA
	local name=$1 java=$2 jvm host
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$java" "${VM[@]}" -cp "$CLASSES" Doings wait,$WHAT 23 <"$TESTDIR/in" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/$name.out"
	"${RECORD[@]}" -q --java $FAMILIES,exceptions --allocations 1 -o "$TESTDIR/$name" -p $jvm 2>"$TESTDIR/$name.rec" &
	host=$!
	wait_for 60 attached "$TESTDIR/$name" $jvm
	echo >&9
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/$name.err"; fail "$name: the program ended with $?"; }
	wait $host || { cat "$TESTDIR/$name.rec"; fail "$name: jis record ended with $?"; }
	"$JIS" info "$TESTDIR/$name" >"$TESTDIR/info"
	grep -q 'exceptions are not recorded' "$TESTDIR/info" || fail "$name: nothing is noted of exceptions"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	python3 "$CHECKERS/doings.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" --no-exceptions || fail "$name"
}
n=0
while read -r version java; do
	first=${first:-jdk$version}
	started "jdk$version" "$java"
	running "jdk$version-attached" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

"$JIS" report --json "$TESTDIR/$first" >"$TESTDIR/json"
python3 - "$TESTDIR/json" <<'EOP' || fail "the report"
import json, sys
r = json.load(open(sys.argv[1]))
e = [x for x in r["exceptions"] if x["name"] == "Doings$Odd"]
assert len(e) == 1 and e[0]["count"] == e[0]["caught"] == 37 and e[0]["method"] == "Doings.thrower", e
a = [x for x in r["allocations"] if x["name"] == "Doings$Sampled"]
assert len(a) == 1 and a[0]["count"] == 37 and a[0]["bytes"] == 37 * 16, a
p = max(r["processes"], key=lambda p: p["classes_loaded"])
assert p["classes_loaded"] > 37 and p["classes_unloaded"] >= 37, p
assert any(x["name"] == "Doings.hot" for x in r["compilations"])
EOP
"$JIS" export paraver "$TESTDIR/$first" -q -o "$TESTDIR/p.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/p.prv" || fail "Paraver"
for type in 77000044 77000045 77000046 77000048 77000050; do
	grep -q "^0 $type " "$TESTDIR/p.pcf" || fail "no type $type in the .pcf"
done
python3 "$CHECKERS/prv_records.py" "$TESTDIR/$first" "$TESTDIR/p.prv" 46+37 47+37 50 51 || fail "Paraver has other exceptions or methods"
[ "$(grep -o ':77000049:[0-9]*' "$TESTDIR/p.prv" | wc -l)" = "$(grep -c ' allocation {' "$TESTDIR/$first.dump")" ] ||
	fail "Paraver has other allocations"
