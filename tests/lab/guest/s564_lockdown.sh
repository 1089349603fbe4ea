#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A kernel locked down for confidentiality gives no recording, to root either. By name only: the guest stays so.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
[ -w /sys/kernel/security/lockdown ] || mount -t securityfs none /sys/kernel/security || true
grep -q confidentiality /sys/kernel/security/lockdown || skip "this kernel cannot be locked down"
(: <>/dev/jis) || fail "/dev/jis does not open"
echo integrity >/sys/kernel/security/lockdown
(: <>/dev/jis) || fail "/dev/jis does not open under integrity"
echo confidentiality >/sys/kernel/security/lockdown
(: <>/dev/jis) 2>/dev/null && fail "/dev/jis opens under confidentiality"
ok "$(cat /sys/kernel/security/lockdown)"
