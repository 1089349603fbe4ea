#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A method whose calls cost more than the budget is switched off, once, and said so; others stay on and are exact. The
# next recording, given what was written down, begins without it.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

enters() { "$JIS" dump "$1" | grep -cF "method_enter { method = $2 }" || true; }

"${RECORD[@]}" --methods 'MethodsHot.hot,MethodsHot.warm' -o t -- "$JAVA" -cp "$CLASSES" MethodsHot 6 >out 2>err ||
	{ cat err; fail "exit status $?"; }
grep 'switched off' err || { cat err; fail "it does not say so"; }
"$JIS" dump --event method_off t | tee off
[ "$(grep -c 'asked = 3' off)" = 1 ] || fail "not one method is off"
grep -qF '(MethodsHot.hot)' off || fail "it is the wrong one"
"$JIS" dump --event methods_changed t | grep >/dev/null 'asked = 3, enabled = 0, disabled = 1, classes = 1' || fail "no step is told"
"$JIS" methods --list t | tee list
grep -q '^# by the guard: 0 on, 1 off, in 1 loaded classes' list || fail "the list does not tell it"
cat t/methods.off
[ "$(sed 's/ #.*//' t/methods.off)" = '!MethodsHot.hot(I)V' ] || fail "methods.off is not that"
hot=$(enters t '1 (MethodsHot.hot)')
all=$(sed -n 's/^CALLS MethodsHot hot.* //p' out)
echo "$hot of $all calls of the hot method are recorded"
[ "$hot" -lt "$all" ] || fail "it was not switched off"

"${RECORD[@]}" --methods 'MethodsHot.hot,MethodsHot.warm,@t/methods.off' -o u -- "$JAVA" -cp "$CLASSES" MethodsHot 3 >out 2>err ||
	{ cat err; fail "exit status $?"; }
! grep 'switched off' err || fail "the guard does something"
want=$(sed -n 's/^CALLS MethodsHot warm.* //p' out)
got=$("$JIS" dump --event method_enter u | grep -cF '(MethodsHot.warm)')
[ "$got" = "$want" ] || fail "$got calls of warm are recorded, $want were made"
! "$JIS" dump --event method_enter u | grep -F >/dev/null '(MethodsHot.hot)' || fail "the hot one is on"
[ ! -e u/methods.off ] || fail "there is a list of nothing"
