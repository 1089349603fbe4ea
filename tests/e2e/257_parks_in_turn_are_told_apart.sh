#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a thread parks for, the same object in turn, another, none, or a new one of the same class: each park is told with
# the class, identity and owner the program itself has, of threads that come and go, from the start and attached, also
# for the second time to the same threads, on every JDK that is here, with different collectors; -Xcheck:jni is silent.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

ROUNDS=40
RECORDING=("${RECORD[@]}" -q)
compare() { # TRACE OUTPUT PHASE
	! jni_complaints "$2" || fail "$1: the JVM complains"
	"$JIS" dump -q "$1" | grep -e ' park_begin ' -e ' java_thread_start ' -e ' string_def ' >"$TESTDIR/dump"
	python3 - "$TESTDIR/dump" "$2" "$3" $ROUNDS <<'PY' || { "$JIS" info "$1"; fail "$1"; }
import collections, re, sys
want, got, names, strings = collections.defaultdict(list), collections.defaultdict(list), {}, {"0": None}
for line in open(sys.argv[2]):
    w = line.split()
    if w[:2] == ["PARK", sys.argv[3]]:
        want[w[2]].append((None if w[3] == "-" else w[3], int(w[4]), int(w[5])))
for line in open(sys.argv[1]):
    f = {k: v.strip('"') for k, v in re.findall(r'(\w+) = ("[^"]*"|[^,} ]+)', line)}
    if " java_thread_start " in line:
        names[f["java_tid"]] = f["name"]
    elif " string_def " in line:
        strings[f["id"]] = f["text"]
    elif names.get(f["java_tid"]) in want:
        got[names[f["java_tid"]]].append((strings[f["class_name"]], int(f["hash"], 0), int(f["owner_java_tid"])))
wrong = 0
for name, parks in want.items():
    if parks != got[name]:
        wrong += 1
        at = next((i for i, (a, b) in enumerate(zip(parks, got[name])) if a != b), min(len(parks), len(got[name])))
        print(f"{name}: {len(got[name])} parks of {len(parks)}, differ from the {at}th on:", parks[at:at + 2], got[name][at:at + 2])
print(len(want), "threads,", sum(map(len, want.values())), "parks,", wrong, "wrong")
sys.exit(wrong or len(want) != int(sys.argv[4]) + 2)
PY
}
check() { # NAME JAVA HOW [OPTION...]
	$3 "$1" "$2" -Xcheck:jni "${@:4}" -cp "$CLASSES" ParksInTurn $ROUNDS
	compare "$TESTDIR/$1" "$TESTDIR/$1.out" 1
}
said() { [ "$(grep -c READY "$TESTDIR/out")" = "$1" ]; }
twice() { # NAME JAVA: two recordings of one JVM, and of threads that live through both
	local phase recorder
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$2" -Xcheck:jni -Dwait=true -Dphases=3 -cp "$CLASSES" ParksInTurn $ROUNDS <"$TESTDIR/in" >"$TESTDIR/out" 2>&1 &
	jvm=$!
	exec 9>"$TESTDIR/in"
	for phase in 1 2 3; do
		wait_for 120 said $phase
		"${RECORDING[@]}" -o "$TESTDIR/$1-$phase" -p $jvm &
		recorder=$!
		wait_for 120 is_attached "$TESTDIR/$1-$phase" $jvm
		echo >&9
		[ $phase = 3 ] || wait_for 120 said $((phase + 1))
		[ $phase = 3 ] || kill -INT $recorder
		wait $recorder || fail "$1: jis record ended with $?"
	done
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/out"; fail "$1: the program ended with $?"; }
	for phase in 1 2 3; do
		compare "$TESTDIR/$1-$phase" "$TESTDIR/out" $phase
	done
}
n=0
while read -r version java; do
	check "jdk$version" "$java" started -XX:+UseSerialGC
	check "jdk$version-attached" "$java" attached -XX:+UseG1GC
	check "jdk$version-z" "$java" started -XX:+UseZGC -Xmx256m
	twice "jdk$version" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
