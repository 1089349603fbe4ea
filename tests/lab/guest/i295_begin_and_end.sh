#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How long a session takes to begin and to end: ms of each call, the least and the mean of ten. Asserts nothing.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
for families in 0 0x1f; do
	echo "families $families"
	"$JIS_BUILD/tests/lab/jistime" 10 $families || fail "no session"
done
