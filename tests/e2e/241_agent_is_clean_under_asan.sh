#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent built with AddressSanitizer and UBSan in a JVM: no report, the records are right. Methods of all kinds are
# traced, switched and taken out again.
# Runs beside others.
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS
sanitized() { # DIRECTORY: builds there, prints the agent's path
	make -s -C "$here/../.." SAN=address,undefined BUILD="$1" "$2" >"$TESTDIR/make" 2>&1 && echo "$2"
}
# A BUILD= on make's command line wins over the sub-folder SAN= would choose.
asan=$(sanitized "$TESTDIR/asan" "$TESTDIR/asan/libjisagent.so" ||
	sanitized "$TESTDIR/asan" "$TESTDIR/asan/san-address-ub/libjisagent.so") ||
	{ cat "$TESTDIR/make"; fail "the agent does not build with SAN=address,undefined"; }
preload=
for library in libasan libubsan; do
	file=$(gcc -print-file-name=$library.so)
	[ -e "$file" ] || skip "no $library"
	preload+=${preload:+:}$(readlink -f "$file")
done
options=()
run() {
	"$TESTPROG/poolhost" "${options[@]}" -o "$TESTDIR/pool" "$TESTDIR/socket" -- env LD_PRELOAD="$preload" \
		ASAN_OPTIONS=handle_segv=0:detect_leaks=0:halt_on_error=1:exitcode=55 UBSAN_OPTIONS=print_stacktrace=1 \
		"$JAVA" -Xcheck:jni -agentpath:"$asan" \
		-cp "$CLASSES:$MARKERS" "$@" >"$TESTDIR/out" 2>&1 ||
		fail "$*: exit status $?: $(cat "$TESTDIR/out"; grep -h '^BAD\|^end' "$TESTDIR/pool" | head -n 9)"
	grep -q 'AddressSanitizer\|WARNING\|runtime error' "$TESTDIR/out" && { cat "$TESTDIR/out"; fail "$*"; }
	grep '^BAD' "$TESTDIR/pool" && fail "bad records"
	grep -q 'java_thread_start' "$TESTDIR/pool" || fail "nothing was recorded"
}
run AgentThreads names
run AgentThreads rename
run AgentThreads churn 500
run AgentMarkers spans
run AgentMarkers count 4 20000
run AgentGc 4 2

# Methods: lists that follow each other, with numbers that there are and others, and in the end all is taken out.
told() { # TYPE: how many messages of it
	grep -c "^message type=$1 " "$TESTDIR/pool" || true
}
reached() { [ -e "$TESTDIR/pool" ] && [ "$(told "$1")" -ge "$2" ]; }
methods() { # CHANGES LIST...: changes to be made
	local changes=$1 list
	shift
	options=(-p 4000)
	for list; do options+=(-m "$list"); done
	rm -f "$TESTDIR/pool" "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	{
		echo call 20
		wait_for 120 reached 9 "$changes"
		echo call 20
	} >"$TESTDIR/in" &
	run MethodsLive <"$TESTDIR/in"
	wait $! || fail "the lists were not worked off"
	[ "$(grep -c ' methods_changed ' "$TESTDIR/pool")" -ge "$changes" ] || fail "changes are not told"
	grep -q ' method_enter ' "$TESTDIR/pool" || fail "no call is told"
}
P='MethodsLive$'
methods 6 "library:java.util.**,mark:${P}Whole.*,arguments:this+0:${P}Half*.*,arguments:all:java.lang.String.*,strings:9" \
	"annotation:*Traced,subtypes:${P}Service,size>3" "!${P}Whole.inner,intrinsics" 1:100:2000000000,3:7:2000000000,99999999:1:1 \
	'!**' "**,!java.lang.invoke.**,mark:${P}Whole.*,arguments:this+0:${P}Other.*" \
	"library:java.util.**,annotation:*Traced,arguments:this+0:subtypes:${P}Service"
grep -q ' method_value ' "$TESTDIR/pool" && grep -q ' method_off ' "$TESTDIR/pool" || fail "no value or no end is told"
methods 1 '**' '!java.lang.**' ''
