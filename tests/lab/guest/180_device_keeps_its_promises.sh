#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each call of /dev/jis: its limits, its errors, the states, read-only mappings, poll at the watermark, a
# session that ends with its last descriptor though it is mapped, the table of targets full and empty again.
# lab-suite: bookworm
# lab-timeout: 600
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

"$JIS_BUILD/tests/lab/jisapi" || fail "see above"
ok "jisapi"
