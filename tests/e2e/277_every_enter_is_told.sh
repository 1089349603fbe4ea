#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With --java enters every enter and exit of a monitor is told: by class as many enters, as many of them contended, and
# held as long as the program itself counts: blocks, methods, static ones, again inside, left by exceptions, with
# Object.wait inside; started and attached, on every JDK that is here. Afterwards classes have their own code.
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_attach.sh"
cd "$TESTDIR" || exit 1

N=5
check() { # NAME
	"$JIS" report --json "$1" >"$1.json"
	"$JIS" dump -q "$1" | grep ' monitor_e[nx]' | sed 's/.* monitor_\(e[a-z]*\) .*/\1/' | sort | uniq -c >"$1.counts"
	python3 - "$1.json" out <<'EOP' || { cat "$1.counts"; fail "$1"; }
import json, sys
r = json.load(open(sys.argv[1]))
told = {m["name"]: m for m in r["monitors"]}
n = 0
for line in open(sys.argv[2]):
    w = line.split()
    if not w or w[0] != "EXPECT":
        continue
    n += 1
    m, enters, contended, held = told[w[1]], int(w[2]), int(w[3]), int(w[4])
    print(w[1], m)
    assert (m["count"], m["contended"]) == (enters, contended), (line, m)
    # What lies between the program's own clock and the monitor: the recording itself, and who takes the CPU meanwhile.
    assert held < 0 or held <= m["held"] <= held * 1.02 + 2e6 * enters, (line, m)
    assert m["longest"] <= m["held"]
assert n == 7, n
# None but the program's own.
assert not [name for name in told if name.startswith("java.") and name != "java.lang.Class"], told
assert not {k: v for k, v in r["counts"]["errors"].items() if v}, r["counts"]["errors"]
EOP
	[ "$(awk '{print $1}' "$1.counts" | uniq | wc -l)" = 1 ] || { cat "$1.counts"; fail "$1: enters and exits"; }
}
started() { # NAME JAVA...
	local name=$1
	shift
	"${RECORD[@]}" -q --java default,enters -o "$name" -- "$@" -cp "$CLASSES" Enters $N >out 2>err ||
		{ cat err; fail "$name: exit status $?"; }
	! grep -v '^EXPECT\|^END$' out || fail "$name: the JVM says something"
	check "$name"
}
attached() { "$JIS" attach -q -o "$1" "$jvm" 2>/dev/null; }
said() { [ "$(grep -c READY out)" = "$1" ]; }
code() { sed -n 's/^READY //p' out | tail -n 1; }
running() { # NAME JAVA...
	local name=$1 before
	shift
	rm -f in
	mkfifo in
	: >out
	"$@" -Dwitness="$BUILD/tests/libclasswitness.so" -cp "$CLASSES" Enters $N <in >out 2>err &
	server=$!
	exec 9>in
	wait_for 60 said 1
	before=$(code)
	jvm=$(jvm_below $server)
	record_start "$name" -p "$jvm" --java default,enters
	wait_for 60 attached "$name"
	echo >&9
	wait_for 60 said 2
	[ "$(code)" != "$before" ] || fail "$name: the class is not rewritten"
	record_end
	echo >&9
	wait_for 60 said 3
	[ "$(code)" = "$before" ] || fail "$name: the class has not its own code again"
	echo >&9
	exec 9>&-
	wait $server || { cat err; fail "$name: the program ended with $?"; }
	check "$name"
}
n=0
while read -r version java; do
	started "jdk$version" "$java" -Xcheck:jni
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
for java in "${JAVAS[@]}"; do
	running "attached-$(java_version "$java")" "$java"
done
