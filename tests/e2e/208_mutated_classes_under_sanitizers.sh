#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The rewriter, built with AddressSanitizer and UBSan, on mutated class files: of the tests, and
# of the JDK. Nothing is reported, nothing hangs.
# JIS_TEST_MUTANTS (5) of each of some 300 files, from JIS_TEST_SEED (1) on.
. "$(dirname "$0")/lib_classes.sh"
cd "$TESTDIR"
unset MAKEFLAGS MAKELEVEL MFLAGS
fuzz=$TESTDIR/asan/san-address-ub/tests/fuzz/fuzz_class
make -s -C "$here/../.." SAN=address,undefined BUILD="$TESTDIR/asan" "$fuzz" >made 2>&1 ||
	{ cat made; fail "the fuzzer does not build with sanitizers"; }
mkdir jdk
"$JDK/bin/jimage" extract --dir jdk --include 'regex:/java.base/java/(lang/invoke|util/stream|time/chrono)/.*\.class' "$JDK/lib/modules"
mapfile -t files < <(find "$CLASSES" -maxdepth 1 -name '*.class' | sort; find jdk -name '*.class' | sort | awk 'NR % 3 == 1')
[ ${#files[@]} -ge 250 ] || fail "only ${#files[@]} class files"
mutants=${JIS_TEST_MUTANTS:-5}
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=exitcode=55 "$fuzz" "$mutants" "${JIS_TEST_SEED:-1}" "${files[@]}" >out 2>err ||
	{ tail -n 40 err; fail "the fuzzer ended with $?"; }
[ ! -s err ] || { cat err; fail "something was reported"; }
tail -n 2 out
