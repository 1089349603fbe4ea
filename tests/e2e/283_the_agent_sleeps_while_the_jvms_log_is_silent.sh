#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The thread of the agent that reads the JVM's log is not woken while nothing is written there, and is when something
# is: of a JVM that first sleeps and then collects, by the kernel's count of its waits, on every JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

# waits TID: how often the thread has waited.
waits() {
	awk '/^voluntary_ctxt_switches/{print $2}' "/proc/$pid/task/$1/status"
}

# stops: safepoints in the JVM's own log until now.
stops() {
	grep -c 'Safepoint "' "$TESTDIR/safepoints" || true
}

check() { # VERSION JAVA
	local control before stopped told
	rm -f "$TESTDIR/go" "$TESTDIR/out" # the last one's
	"${RECORD[@]}" -q --no-uprobes --java safepoints,heap -o "$TESTDIR/t$1" -- "$2" -Xlog:safepoint:file="$TESTDIR/safepoints" \
		-cp "$CLASSES" Silence "$TESTDIR/go" 20 >"$TESTDIR/out" 2>"$TESTDIR/err" &
	recorder=$!
	wait_for 200 grep -q '^SILENT' "$TESTDIR/out"
	pid=$(sed -n 's/^SILENT //p' "$TESTDIR/out")
	control=$(grep -l '^jis-control$' /proc/"$pid"/task/*/comm | cut -d/ -f5)
	[ -n "$control" ] || fail "$1: no control thread"
	sleep 2 # what has been written is read
	before=$(waits "$control") stopped=$(stops)
	sleep 6
	before=$(($(waits "$control") - before)) stopped=$(($(stops) - stopped))
	echo "$1: $before waits in 6 s, $stopped safepoints"
	[ $before -le $((3 * stopped + 3)) ] || fail "$1: the control thread was woken $before times for $stopped safepoints"
	touch "$TESTDIR/go"
	wait $recorder || { cat "$TESTDIR/err"; fail "$1: the recording failed"; }
	told=$("$JIS" dump -q "$TESTDIR/t$1" | grep -c ' safepoint_end ')
	stopped=$(stops)
	echo "$1: $told safepoints told, $stopped in the JVM's log"
	[ "$told" -ge 20 ] && [ "$told" -le "$stopped" ] || fail "$1: $told safepoints told of $stopped"
}
n=0
while read -r version java; do
	check "$version" "$java"
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
