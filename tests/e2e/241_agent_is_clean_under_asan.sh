#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent built with AddressSanitizer in a JVM: no report, the records are right.
# Runs beside others.
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS
sanitized() { # DIRECTORY: builds there, prints the agent's path
	make -s -C "$here/../.." SAN=address BUILD="$1" "$2" >"$TESTDIR/make" 2>&1 && echo "$2"
}
# A BUILD= on make's command line wins over the sub-folder SAN= would choose.
asan=$(sanitized "$TESTDIR/asan" "$TESTDIR/asan/libjisagent.so" ||
	sanitized "$TESTDIR/asan" "$TESTDIR/asan/san-address/libjisagent.so") ||
	{ cat "$TESTDIR/make"; fail "the agent does not build with SAN=address"; }
preload=$(gcc -print-file-name=libasan.so)
[ -e "$preload" ] || skip "no libasan"
run() {
	"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- env LD_PRELOAD="$(readlink -f "$preload")" \
		ASAN_OPTIONS=handle_segv=0:detect_leaks=0:halt_on_error=1:exitcode=55 "$JAVA" -Xcheck:jni -agentpath:"$asan" \
		-cp "$CLASSES:$MARKERS" "$@" >"$TESTDIR/out" 2>&1 || { cat "$TESTDIR/out"; fail "$*: exit status $?"; }
	grep -q 'AddressSanitizer\|WARNING' "$TESTDIR/out" && { cat "$TESTDIR/out"; fail "$*"; }
	grep '^BAD' "$TESTDIR/pool" && fail "bad records"
	grep -q 'java_thread_start' "$TESTDIR/pool" || fail "nothing was recorded"
}
run AgentThreads names
run AgentThreads rename
run AgentThreads churn 500
run AgentMarkers spans
run AgentMarkers count 4 20000
run AgentGc 4 2
