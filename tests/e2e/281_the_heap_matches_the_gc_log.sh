#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The heap before and after each collection is what the JVM's own log says, for each collector and JDK; where a
# collector does not tell, the recording says so.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root

run() { # NAME JAVA OPTION...
	local name=$1 java=$2
	shift 2
	"${RECORD[@]}" -q --java heap -o "$TESTDIR/$name" -- "$java" -Xmx96m "$@" \
		"-Xlog:gc=info:file=$TESTDIR/$name.log:timenanos" -cp "$CLASSES" Doings fill 8 \
		>"$TESTDIR/$name.out" 2>"$TESTDIR/$name.err" || { cat "$TESTDIR/$name.err"; fail "$name: exit status $?"; }
	"$JIS" dump "$TESTDIR/$name" >"$TESTDIR/$name.dump"
}
has_gc() { "$1" -XX:+UnlockExperimentalVMOptions "-XX:+Use${2}GC" -version >/dev/null 2>&1; }
n=0
while read -r version java; do
	first=${first:-jdk$version}
	for gc in Serial Parallel G1 Z; do
		has_gc "$java" $gc || continue
		run "jdk$version-$gc" "$java" -XX:+Use${gc}GC -Xcheck:jni
		# G1 leaves out the regions of 1 MiB that threads allocate in; Z works while the program goes on,
		# which may have allocated some more between the one reading and the other.
		case $gc in
		G1) how=(3) ;;
		Z) how=(12 --concurrent) ;;
		*) how=(0) ;;
		esac
		python3 "$CHECKERS/heap.py" "$TESTDIR/jdk$version-$gc.log" "$TESTDIR/jdk$version-$gc.dump" "${how[@]}" ||
			fail "jdk$version-$gc"
		n=$((n + 1))
	done
	has_gc "$java" Shenandoah || continue
	run "jdk$version-Shenandoah" "$java" -XX:+UseShenandoahGC
	grep -q ' heap {' "$TESTDIR/jdk$version-Shenandoah.dump" && fail "Shenandoah has heap records"
	"$JIS" info "$TESTDIR/jdk$version-Shenandoah" >"$TESTDIR/info"
	grep -q 'does not say how full the heap is' "$TESTDIR/info" || fail "Shenandoah: nothing is noted"
done < <(jdks)
[ "$n" -ge 4 ] || fail "no JDK"
# In the report and for Paraver.
"$JIS" report --json "$TESTDIR/$first-G1" >"$TESTDIR/json"
python3 - "$TESTDIR/json" <<'EOP' || fail "the report"
import json, sys
heap = max((p["heap"] for p in json.load(open(sys.argv[1]))["processes"]), key=lambda h: h["collections"])
assert heap["collections"] >= 8 and heap["most_before"] > heap["most_after"] > 0 and heap["freed"] > 64 << 20, heap
EOP
"$JIS" export paraver "$TESTDIR/$first-G1" -q -o "$TESTDIR/g1.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/g1.prv" || fail "Paraver"
grep -q '^0 77000042 Heap in use' "$TESTDIR/g1.pcf" || fail "no type for the heap"
python3 "$CHECKERS/prv_records.py" "$TESTDIR/$first-G1" "$TESTDIR/g1.prv" 42+16 43+16 || fail "Paraver has other values"
