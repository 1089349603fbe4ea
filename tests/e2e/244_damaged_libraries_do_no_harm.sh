#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The reader of libraries, which finds the probes of a JVM, fed with damaged and hostile ones, under ASan.
. "$(dirname "$0")/lib.sh"

cc=${CC:-gcc}
# shellcheck disable=SC2046 # words
(cd "$here/../.." && "$cc" -std=gnu11 -D_GNU_SOURCE -I. -Iinclude -g -O1 -fsanitize=address,undefined -fno-sanitize-recover \
	-o "$TESTDIR/elf" tests/unit/test_elf_image.c libjisctl/elf_image.c $(pkg-config --libs check libelf)) || fail "it does not build"
"$TESTDIR/elf" >"$TESTDIR/elf.out" 2>&1 || { cat "$TESTDIR/elf.out"; fail "the reader of libraries"; }
