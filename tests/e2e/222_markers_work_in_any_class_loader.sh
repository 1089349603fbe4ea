#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two more class loaders, each with its own copy of jis.Jis: all copies are switched on.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- "$JAVA" -agentpath:"$BUILD/libjisagent.so" \
	-cp "$CLASSES:$MARKERS" AgentMarkers loaders "$MARKERS" | tee "$TESTDIR/out"
[ "$(grep -c '^false true$' "$TESTDIR/out")" = 2 ] || fail "the copies are not on"
for type in 50 51 52; do
	grep -q "java_marker java_tid=1 type=$type value=7\|java_marker java_tid=[0-9]* type=$type value=7" "$TESTDIR/pool" || fail "no marker $type"
done
