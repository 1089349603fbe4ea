#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Class files with random damage: the rewriter does not crash, and what the JVM would still link it links when
# rewritten.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
probe_class_idle
mkdir was is
"$BUILD/tests/fuzz/fuzz_class" 100 "${JIS_TEST_SEED:-1}" -o . "$CLASSES"/Calls*.class "$CLASSES"/Agent*.class
"$JAVA" -Xverify:all --patch-module java.base=patch -cp "$CLASSES" VerifyPairs . | tee out
read -r _ pairs _ linked _ broken < <(tail -n 1 out)
[ "$pairs" -gt 250 ] && [ "$linked" -gt 50 ] && [ "$broken" = 0 ] || fail "see above"
