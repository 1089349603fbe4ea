#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An agent that comes into a running JVM tells waits as one from the start does, and without rewriting a class
# all but joins, each with its Java stack; a virtual thread that was mounted then is told to be on its carrier.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

OPENS=--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }
run() { # NAME JAVA OPTION CLASS ARG...
	local name=$1 java=$2 option=$3 jvm host
	shift 3
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$java" "$OPENS" -Dwait=true -cp "$CLASSES" "$@" <"$TESTDIR/in" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/$name.out"
	# shellcheck disable=SC2086
	"${RECORD[@]}" -q $option --stacks 'blocked>5ms' -o "$TESTDIR/$name" -p $jvm 2>"$TESTDIR/$name.rec" &
	host=$!
	wait_for 60 attached "$TESTDIR/$name" $jvm
	echo >&9
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/$name.err"; fail "$name: the program ended with $?"; }
	wait $host || { cat "$TESTDIR/$name.rec"; fail "$name: jis record ended with $?"; }
	grep -v '^EXPECT\|^END$\|^READY$' "$TESTDIR/$name.out" && fail "$name: the JVM says something"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump" 2>/dev/null
	python3 "$CHECKERS/waits.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" --stacks "$here/java/$1.java" || fail "$name"
}
while read -r version java; do
	run "jdk$version" "$java" "" Waits 2 15
	run "jdk$version-events" "$java" --no-rewrite Waits 2 15 monitor light timedWait notifiedWait parks lock sleep starts
	[ "$version" = 17 ] || run "jdk$version-virtual" "$java" "" WaitsVirtual 2 15
done < <(TAKE=21 jdks)
