#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# As 200, on the other JDKs that are here.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
homes=$(other_jdks)
[ -n "$homes" ] || skip "there is no other JDK"
verify_prepare
for home in $homes; do
	verify_modules "$home" entry,exit,monitors,intrinsics java.base java.rmi
done
