#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program whose methods count their calls themselves, rewritten: entries, exits and monitors are exactly those,
# nested as they must be on each thread, with the right receivers, results and monitors; interpreted, compiled by
# C1 and by C2, on each JDK that is here.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
probe_class_counting

mkdir old new own
cp "$CLASSES"/Calls*.class old
cp "$CLASSES"/'Calls$Own.class' own
rm 'old/Calls$Own.class'

calls() { # HOME OPTION...
	local home=$1
	shift
	echo "JDK $(jdk_version "$home") $*"
	jdk_run "$home" -Xverify:all --patch-module java.base=patch "$@" -cp new:own Calls list "$rounds" "$threads" |
		tee out
	grep -qE '^methods [0-9]{2,} calls [0-9]{3,} locks [0-9]+ repaired [0-9]+$' out ||
		fail "the calls are not those of the program"
}

rewrite old new entry,exit,monitors,this
[ "$refused" = 0 ] && [ "$exempt" = 0 ] || fail "methods are refused"
grep -v '^refused' changed >list
rounds=20 threads=3
calls "$JDK" -Xint
rounds=300
calls "$JDK" -XX:TieredStopAtLevel=1 -XX:Tier3InvocationThreshold=50 -Xbatch
calls "$JDK" -XX:-TieredCompilation -XX:CompileThreshold=100 -Xbatch
for home in $(other_jdks); do
	rounds=20
	calls "$home" -Xint
	rounds=300
	calls "$home" -XX:-TieredCompilation -XX:CompileThreshold=100 -Xbatch
done
