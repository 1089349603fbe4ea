#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Collections: as many as the JVM's own log has, each begun and finished, numbered in order.
. "$(dirname "$0")/lib.sh"

# (By default Parallel logs the two halves of a System.gc() as two pauses; it is one stop.)
for gc in Serial Parallel; do
	"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- "$JAVA" -agentpath:"$BUILD/libjisagent.so" \
		-XX:+Use${gc}GC -XX:+IgnoreUnrecognizedVMOptions -XX:-ScavengeBeforeFullGC -Xmx64m -Xlog:gc:file="$TESTDIR/gc.log" -cp "$CLASSES" AgentGc 20 7
	logged=$(grep -c 'Pause' "$TESTDIR/gc.log")
	numbers=$(sed -n 's/.* gc_start number=//p' "$TESTDIR/pool" | tr '\n' ' ')
	echo "$gc: $logged logged, recorded: $numbers"
	[ "$logged" -ge 8 ] || fail "the program collected too little"
	[ "$numbers" = "$(seq -s ' ' 1 "$logged") " ] || fail "not the collections of the log"
	[ "$numbers" = "$(sed -n 's/.* gc_finish number=//p' "$TESTDIR/pool" | tr '\n' ' ')" ] || fail "not all finished"
	grep -q '^BAD' "$TESTDIR/pool" && fail "bad records"
done
"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -XX:+UseG1GC -Xmx64m -cp "$CLASSES" AgentGc 20 7
starts=$(grep -c gc_start "$TESTDIR/pool") ends=$(grep -c gc_finish "$TESTDIR/pool")
[ "$starts" = "$ends" ] && [ "$starts" -ge 7 ] || fail "G1: $starts begun, $ends finished"
