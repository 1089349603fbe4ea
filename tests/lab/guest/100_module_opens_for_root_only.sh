#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The module makes /dev/jis for root; even where the file's mode lets others in, they need CAP_PERFMON.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

[ "$(stat -c '%a %u' /dev/jis)" = "600 0" ] || fail "/dev/jis is $(stat -c '%a %U' /dev/jis)"
ok "mode 0600, root"

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${nobody[@]}" "$raw" true >"$LAB_OUT/closed" 2>&1 && fail "nobody can record"
grep -q 'Permission denied' "$LAB_OUT/closed" || fail "not refused by the mode: $(cat "$LAB_OUT/closed")"
chmod 666 /dev/jis
"${nobody[@]}" "$raw" true >"$LAB_OUT/opened" 2>&1 && fail "nobody can record when the mode allows it"
grep -q 'Operation not permitted' "$LAB_OUT/opened" || fail "not refused by capability: $(cat "$LAB_OUT/opened")"
ok "no capability, no session"

"${nobody[@]}" --inh-caps +perfmon --ambient-caps +perfmon "$raw" true >"$LAB_OUT/perfmon" 2>&1 ||
	fail "CAP_PERFMON does not suffice: $(cat "$LAB_OUT/perfmon")"
ok "CAP_PERFMON suffices"

rmmod jis || fail "the module does not unload"
[ ! -e /dev/jis ] || fail "/dev/jis is left"
ok "unloads"
