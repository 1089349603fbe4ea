#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With a cache of classes made ahead of time (JDK 25: -XX:AOTCache) calls are recorded as exactly as without, and the
# JVM keeps the cache, the classes of the JDK that are not traced coming from it: it would not start else (AOTMode=on).
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR"

read -r _ java < <(jdks 25) || skip "there is no JDK 25"
JAR=$(dirname "$(readlink -f "$REAL_JAVA")")/jar
[ -x "$JAR" ] || skip "no jar beside $JAVA"
(cd "$CLASSES" && "$JAR" --create --file "$TESTDIR/calls.jar" Calls*.class)

"$java" -XX:AOTMode=record -XX:AOTConfiguration=calls.conf -cp calls.jar CallsTold 1 1 >train.out 2>&1 ||
	{ cat train.out; fail "the JVM makes no configuration"; }
"$java" -XX:AOTMode=create -XX:AOTConfiguration=calls.conf -XX:AOTCache=calls.aot -cp calls.jar >train.out 2>&1 ||
	{ cat train.out; fail "the JVM makes no cache"; }

# run NAME COMMAND...: from_cache gets how many classes come from the cache.
run() {
	local name=$1
	shift
	"$@" -XX:AOTCache=calls.aot -XX:AOTMode=on -Xlog:class+load:file="$name.load" -cp calls.jar CallsTold 5 2 \
		>"$name.out" 2>"$name.err" || { cat "$name.err"; fail "$name: exit status $?"; }
	from_cache=$(grep -c 'source: shared objects file' "$name.load")
}

run alone "$java"
alone=$from_cache
run recorded "${RECORD[@]}" -q --pool 16M --methods-budget 0 \
	--methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' -o trace -- "$java"
echo "$alone classes come from the cache, $from_cache with JIS"
[ "$alone" -gt 400 ] || fail "the cache has hardly any class"
# Rewritten ones do not: the traced classes, and some of the JDK's.
[ "$from_cache" -gt $((alone * 9 / 10)) ] || fail "the cache is not used with JIS"
"$JIS" dump trace >dump
python3 "$CHECKERS/methods.py" recorded.out dump || fail "the calls are not those"
