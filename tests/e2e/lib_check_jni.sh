# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by lib.sh and tests/run.sh. With JIS_TEST_CHECK_JNI=1 every JVM of a test runs with -Xcheck:jni, and
# what the JVM then says of a misuse fails the test, whatever the test itself looks at.

# check_jni JAVA: the command to run JAVA by: itself, or one that adds -Xcheck:jni. The wrapper leaves a line in
# $TESTDIR/check-jni/started, and keeps the output of JVMs that nobody else would.
check_jni() {
	[ "${JIS_TEST_CHECK_JNI:-0}" = 1 ] || { echo "$1"; return; }
	local dir=$BUILD/tests/check-jni program
	program=$dir/java-$(sha256sum <<<"$1 $TESTDIR" | cut -c1-12)
	# Where other users reach it, too.
	mkdir -p "$dir" "$TESTDIR/check-jni"
	cat >"$program" <<EOS
#!/bin/sh
dir='$TESTDIR/check-jni'
if { echo '$1' >>"\$dir/started"; } 2>/dev/null && [ "\$(readlink /proc/\$\$/fd/1)" = /dev/null ]; then
	exec >>"\$dir/out.\$\$"
fi
exec '$1' -Xcheck:jni "\$@"
EOS
	chmod 755 "$program"
	echo "$program"
}

# jni_complaints FILE...: the lines in which a JVM complains of a misuse of JNI, in all that the test left; none: 1.
jni_complaints() {
	grep -rIHn -A 12 -e 'WARNING in native method' -e 'FATAL ERROR in native method' -e 'WARNING: JNI local refs' "$@"
}

# jni_verdict STATUS LOG: the status of a test that ended with STATUS; why it is another is added to LOG.
jni_verdict() {
	local complaints
	if complaints=$(jni_complaints "$2" "$TESTDIR" | head -n 40); [ -n "$complaints" ]; then
		printf 'the JVM complains of a misuse of JNI:\n%s\n' "$complaints" >>"$2"
		return 1
	fi
	if [ "$1" = 0 ] && [ ! -s "$TESTDIR/check-jni/started" ]; then
		echo "no JVM ran with -Xcheck:jni" >>"$2"
		return 1
	fi
	return "$1"
}
