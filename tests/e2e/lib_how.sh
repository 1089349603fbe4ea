# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests whose programs are recorded from their start as well as attached. Such a program waits for a line with
# -Dwait=true (Waits.ready). RECORDING: the recorder's command and options.
HOWS=${HOWS:-started attached}

# started NAME JAVA ARG...: into $TESTDIR/NAME, its output into NAME.out.
started() {
	local name=$1
	shift
	"${RECORDING[@]}" -o "$TESTDIR/$name" -- "$@" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" ||
		{ cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
}

is_attached() { "$JIS" attach -q -o "$1" "$2" 2>/dev/null; }

# attached NAME JAVA ARG...: the same, when the JVM runs already.
attached() {
	local name=$1 java=$2 jvm host
	shift 2
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$java" -Dwait=true "$@" <"$TESTDIR/in" >"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 120 grep -q READY "$TESTDIR/$name.out"
	"${RECORDING[@]}" -o "$TESTDIR/$name" -p $jvm 2>"$TESTDIR/$name.rec" &
	host=$!
	wait_for 120 is_attached "$TESTDIR/$name" $jvm
	echo >&9
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/$name.err"; fail "$name: the program ended with $?"; }
	wait $host || { cat "$TESTDIR/$name.rec"; fail "$name: jis record ended with $?"; }
	sed -i '/^READY$/d' "$TESTDIR/$name.out"
}
