#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 10,000 short-lived threads: all names are there, slots are reused, starts and ends pair up.
# Runs beside others.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -n 40 -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentThreads churn 10000
grep -c '^BAD' "$TESTDIR/pool" && fail "bad records"
[ "$(grep -o 'name="churn-[0-9]*"' "$TESTDIR/pool" | sort -u | wc -l)" = 10000 ] || fail "names are missing"
[ "$(grep -o 'java_marker .* type=3 value=.*' "$TESTDIR/pool" | sort -u | wc -l)" = 10000 ] || fail "markers are missing"
[ "$(grep -c 'no_slot\|lost=[1-9]' "$TESTDIR/pool")" = 0 ] || fail "records were lost"
starts=$(grep -c 'java_thread_start.*name="churn' "$TESTDIR/pool")
[ "$starts" = 10000 ] || fail "$starts starts"
ends=$(grep -c java_thread_end "$TESTDIR/pool")
[ "$ends" -ge 10000 ] || fail "only $ends ends"
slots=$(grep java_marker "$TESTDIR/pool" | grep -o '^slot=[0-9]*' | sort -u | wc -l)
# The JVM starts new threads while old ones still end: more than 8 slots, but far fewer than threads.
[ "$slots" -le 39 ] || fail "$slots slots for 10,000 threads, 8 at once"
grep -q thread_bind "$TESTDIR/pool" || fail "no slot was handed over"
