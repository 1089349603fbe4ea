#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pool nobody empties: what does not fit is counted, by type, and nothing else happens.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -x -p 40 -d 20 -o "$TESTDIR/pool" "$TESTDIR/socket" -- \
	"$JAVA" -agentpath:"$BUILD/libjisagent.so" -cp "$CLASSES:$MARKERS" AgentMarkers count 4 20000
grep '^BAD' "$TESTDIR/pool" && fail "counts do not add up"
awk '/^count slot=[1-9].* id=5 /{ split($4,p,"="); split($5,s,"="); split($6,l,"="); P+=p[2]; S+=s[2]; L+=l[2] }
	END { print "produced", P, "stored", S, "lost", L; exit !(P == 80000 && S + L == P && L > 0 && S > 0) }' "$TESTDIR/pool" ||
	fail "80000 markers were made"
