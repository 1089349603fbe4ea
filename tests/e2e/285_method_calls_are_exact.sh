#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each call of the chosen methods is recorded once, with its exit, under its name: recursion, exceptions through ten
# frames, constructors that fail, synchronized methods, lambdas, virtual threads that change their carrier; interpreted,
# compiled by C1 and by C2; on each JDK that is here, by each way there is to call a probe. The program counts its
# calls itself.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

# The numbers of enum jis_method_way.
jni=1 barrier=2 critical=3 patch=4 link=5
[ "$(uname -m)" = x86_64 ] || patch=$jni

run() { # NAME WAY OPTIONS ROUNDS KIND JAVA [OPTION]...
	local name=$1 way=$2 options=$3 rounds=$4 kind=$5 threads=3 moves=
	shift 5
	[ "$kind" != virtual ] || { moves=--moves threads=12; }
	# shellcheck disable=SC2086 # several options, or none
	"${RECORD[@]}" -q --pool 64M --methods-budget 0 --methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' \
		$options -o "$TESTDIR/$name" -- "$@" -cp "$CLASSES" CallsTold "$rounds" "$threads" "$kind" \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	grep 'refused\|cannot be\|patched' "$TESTDIR/$name.err" && fail "$name: something is refused"
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
	echo "$name: $(grep -o 'method_probe {[^}]*}' "$TESTDIR/$name.dump")"
	grep -q "method_probe { way = $way," "$TESTDIR/$name.dump" || fail "$name: not by way $way"
	python3 "$CHECKERS/methods.py" "$TESTDIR/$name.out" "$TESTDIR/$name.dump" ${moves:+"$moves"} || fail "$name"
	rm -rf "${TESTDIR:?}/$name" "$TESTDIR/$name.dump"
}

while read -r version java; do
	# The linker of 17 is C2: what else runs, also under a debugger, calls the natives.
	flag=$barrier c1=$link c2=$link watched=$barrier
	[ "$version" != 17 ] || { flag=$critical c1=$critical watched=$link; }
	[ "$(uname -m)" = x86_64 ] || c1=$flag c2=$flag watched=$flag
	only_c1=(-XX:TieredStopAtLevel=1 -XX:Tier3InvocationThreshold=50 -Xbatch)
	run "jdk$version-interpreter" $flag "" 10 platform "$java" -Xint
	run "jdk$version-interpreter-no-flag" $jni --no-jvm-flags 5 platform "$java" -Xint
	run "jdk$version-c1" $flag "--no-patch --no-link" 40 platform "$java" "${only_c1[@]}"
	run "jdk$version-c1-link" $c1 --no-patch 10 platform "$java" "${only_c1[@]}"
	run "jdk$version-c1-jni" $jni --jni-probes 10 platform "$java" "${only_c1[@]}"
	run "jdk$version-c1-patch" $patch --no-jvm-flags 10 platform "$java" "${only_c1[@]}" -XX:+UseParallelGC
	run "jdk$version-c2" $patch "" 40 platform "$java" -XX:-TieredCompilation -XX:CompileThreshold=100 -Xbatch
	# A debugger, or who watches fields, may have a thread interpret all it runs, which linked natives of 21 and 25
	# would not stand.
	run "jdk$version-debugger" $watched --no-patch 5 platform "$java" \
		-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0
	run "jdk$version-watch" $watched --no-patch 5 platform "$java" "-agentpath:$BUILD/tests/libfieldwatch.so"
	run "jdk$version-c2-link" $c2 --no-patch 40 platform "$java" -XX:-TieredCompilation -XX:CompileThreshold=100 -Xbatch
	[ "$version" = 17 ] || run "jdk$version-virtual-link" $c2 --no-patch 8 virtual "$java" -Djdk.virtualThreadScheduler.parallelism=3
	[ "$version" = 17 ] || run "jdk$version-virtual" $patch "" 8 virtual "$java" -Djdk.virtualThreadScheduler.parallelism=3
done < <(JIS_TEST_JDKS=all jdks) # exact, whichever the JVM
