#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# As 200, on the other JDKs that are here.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
homes=$(other_jdks)
[ -n "$homes" ] || skip "there is no other JDK"
verify_prepare
modules=(java.base java.rmi)
[ "${JIS_TEST_LANGUAGES:-}" != all ] || modules+=(java.desktop java.xml jdk.compiler)
for home in $homes; do
	verify_modules "$home" entry,exit,monitors,intrinsics "${modules[@]}"
done
