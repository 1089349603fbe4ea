#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each kind of target and the making of pools: their limits, their errors, what a new pool is like.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
"$JIS_BUILD/tests/lab/jisrights" api || fail "see above"
ok "jisrights api"
