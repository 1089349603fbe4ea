#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A library that misuses JNI is found by the checks that make check-jni relies on, wherever the JVM's output goes, and
# a program that does not is not complained of.
. "$(dirname "$0")/lib.sh"

# A test in a folder of its own, with the switch on; its verdict is that of tests/run.sh.
inner() { # COMMAND...: with JAVA
	mkdir "$TESTDIR/inner"
	TESTDIR=$TESTDIR/inner JIS_TEST_CHECK_JNI=1 JAVA=$REAL_JAVA bash -c '
		. "$0"/lib.sh
		'"$1" "$here" >"$TESTDIR/log" 2>&1
	status=$?
	status=$(TESTDIR=$TESTDIR/inner; jni_verdict $status "$TESTDIR/../log" >/dev/null; echo $?)
	rm -rf "$TESTDIR/inner"
}

misuse='"$JAVA" -agentpath:"$BUILD/tests/libjnimisuse.so" -cp "$CLASSES:$MARKERS" AgentMarkers count 1 1'
inner "$misuse"
[ "$status" = 1 ] || { cat "$TESTDIR/log"; fail "a misuse on stdout is not found: $status"; }
grep -q 'exception pending' "$TESTDIR/log" || { cat "$TESTDIR/log"; fail "it is not told"; }
inner "$misuse >\"\$TESTDIR/some\" 2>&1"
[ "$status" = 1 ] || { cat "$TESTDIR/log"; fail "a misuse in a file is not found: $status"; }
inner "$misuse >/dev/null"
[ "$status" = 1 ] || { cat "$TESTDIR/log"; fail "a misuse that nobody listens to is not found: $status"; }
inner '"$JAVA" -cp "$CLASSES:$MARKERS" AgentMarkers count 1 1'
[ "$status" = 0 ] || { cat "$TESTDIR/log"; fail "a program without fault is complained of: $status"; }
inner true
[ "$status" = 1 ] || fail "a test without a JVM is taken for checked"
rm "$TESTDIR/log"
"$JAVA" -version
