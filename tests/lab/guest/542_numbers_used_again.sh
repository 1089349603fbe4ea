#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A process number that is another process's before its last owner is freed: one of nobody's is not recorded for
# having the number, and a target's child is recorded to its end.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

n=40
mkfifo "$LAB_TMP/there" "$LAB_TMP/back"
"$JIS_BUILD/tests/lab/jisreuse" stranger "$LAB_TMP/there" "$LAB_TMP/back" >"$LAB_OUT/strangers" & strangers=$!
try_raw reuse -C "$JIS_BUILD/tests/lab/jisreuse" "$LAB_TMP/back" "$LAB_TMP/there" $n
kill $strangers
cat "$LAB_OUT/reuse"
was=$(sed -n 's/^heirs //p' "$LAB_OUT/reuse")
[ "$was" -gt $((n / 2)) ] && [ "$(sed -n 's/^strangers //p' "$LAB_OUT/reuse")" -gt $((n / 2)) ] ||
	fail "hardly any number could be used again"
[ "$(lost_of reuse)" = 0 ] || fail "records were lost"
grep ' comm=stranger' "$records.reuse" | grep -v ' task_name ' | head -n 3 | grep . && fail "a stranger is recorded"
for name in heir oldheir; do
	seen=$(grep -c " task_rename .* comm=$name\$" "$records.reuse")
	[ "$seen" = "$was" ] || fail "$seen of $was children called $name are recorded"
done
ok "$was children, and as many strangers, with numbers of the dead"
