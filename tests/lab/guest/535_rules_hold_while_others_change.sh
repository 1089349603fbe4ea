#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An executable that is a target is one at each moment, while rules for other names are added and removed:
# every exec of it is told. And none any more when its own rule is gone.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
cp /bin/true "$LAB_TMP/alpha"
"$JIS_BUILD/tests/lab/jisrules" 400 "$LAB_TMP/alpha" >"$LAB_OUT/rules" 2>&1 || fail "$(cat "$LAB_OUT/rules")"
ok "$(cat "$LAB_OUT/rules")"
