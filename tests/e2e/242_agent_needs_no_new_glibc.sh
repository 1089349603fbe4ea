#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent loads anywhere: no libc symbol newer than glibc 2.28, little static TLS, few exports.
. "$(dirname "$0")/lib.sh"

"$here/../../scripts/lint-glibc.sh" "$BUILD/libjisagent.so"
# The lint itself finds what it must find.
printf 'void *dlsym(void *, const char *);\nvoid *f(void);\nvoid *f(void) { return dlsym(0, "x"); }\n' >"$TESTDIR/new.c"
gcc -shared -fPIC -o "$TESTDIR/new.so" "$TESTDIR/new.c"
if objdump -T "$TESTDIR/new.so" | grep -q 'GLIBC_2.34.*dlsym'; then
	"$here/../../scripts/lint-glibc.sh" "$TESTDIR/new.so" 2>"$TESTDIR/err" && fail "the lint passed dlsym@GLIBC_2.34"
	grep -q 'dlsym needs glibc 2.34' "$TESTDIR/err" || fail "the lint does not say why"
fi
true
