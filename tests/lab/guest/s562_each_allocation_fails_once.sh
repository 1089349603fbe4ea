#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each memory allocation, and each copy from and to user space, of each call fails once, in a session of its own: the call says so or does without, can
# be made again, and the session works. By name only: it needs a kernel that can fail them (kasan, kcsan).
# lab-timeout: 900

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/stress.lib.sh
. "$(dirname "$0")/stress.lib.sh"

[ -e /proc/self/fail-nth ] || skip "this kernel cannot fail allocations"
load_module
faults_on 0 1 all
"$stress" nth >"$LAB_OUT/nth" 2>&1 || fail "$(tail -n 5 "$LAB_OUT/nth")"
cat "$LAB_OUT/nth"
[ "$(awk '$2 == "failures" && NF == 2 { print $1 }' "$LAB_OUT/nth")" -ge 100 ] || fail "too few"
rmmod jis || fail "the module does not unload"
ok "$(tail -n 1 "$LAB_OUT/nth")"
