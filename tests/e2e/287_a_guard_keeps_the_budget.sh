#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A method whose calls cost more than the budget is switched off, once, and said so; others stay on and are exact. The
# next recording, given what was written down, begins without it. Of methods of three classes at known rates exactly those
# go that cost too much: after two seconds at least, those of a decision at once, each class once; by the JVM's own log,
# too, which has one stop for each decision, as long as the trace says or shorter.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

calls() { "$JIS" stats -q --json "$1" | python3 -c '
import json, sys
print(sum(l["calls"] for l in json.load(sys.stdin)["lines"] if l["method"].split("(")[0] == sys.argv[1]))' "$2"; }

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
hot=$(calls t MethodsHot.hot)
all=$(sed -n 's/^CALLS MethodsHot hot.* //p' out)
echo "$hot of $all calls of the hot method are recorded"
[ "$hot" -gt 0 ] && [ "$hot" -lt "$all" ] || fail "it was not switched off"

"${RECORD[@]}" --methods 'MethodsHot.hot,MethodsHot.warm,@t/methods.off' -o u -- "$JAVA" -cp "$CLASSES" MethodsHot 3 >out 2>err ||
	{ cat err; fail "exit status $?"; }
! grep 'switched off' err || fail "the guard does something"
want=$(sed -n 's/^CALLS MethodsHot warm.* //p' out)
got=$(calls u MethodsHot.warm)
[ "$got" = "$want" ] || fail "$got calls of warm are recorded, $want were made"
[ "$(calls u MethodsHot.hot)" = 0 ] || fail "the hot one is on"
[ ! -e u/methods.off ] || fail "there is a list of nothing"

# A flight recorder's guard does the same.
"${RECORD[@]}" --flight-recorder --methods 'MethodsHot.hot,MethodsHot.warm' -o f -- "$JAVA" -cp "$CLASSES" MethodsHot 6 >out 2>err ||
	{ cat err; fail "exit status $?"; }
grep 'switched off' err || { cat err; fail "a flight recorder has no guard"; }
[ "$(sed 's/ #.*//' f/methods.off)" = '!MethodsHot.hot(I)V' ] || fail "a flight recorder's methods.off is not that"
"$JIS" dump --event method_off f | grep -F '(MethodsHot.hot)' || fail "a flight recorder does not tell it"

# JIS_TEST_LATER=5: one more than there are decisions becomes hot; before a release, too.
later=${JIS_TEST_LATER:-1}
"${RECORD[@]}" --pool 64M --methods 'MethodsRates$*.*,!**.<init>' -o r -- "$JAVA" -Xbatch -XX:TieredStopAtLevel=1 \
	-Xlog:safepoint=info:file=r.safepoints:timenanos -Xlog:redefine+class+load=info:file=r.redefined:timenanos \
	-cp "$CLASSES" MethodsRates $((4 + 3 * later)) "$later" >out 2>err || { cat err; fail "exit status $?"; }
grep 'switched off' err || { cat err; fail "it does not say so"; }
! grep 'records were lost' err || fail "records were lost"
"$JIS" dump -q --stream "$(cd r && echo jvm-*/dict)" r >r.dump
{ "$JIS" dump -q --stream kernel/recorder r && "$JIS" dump -q --event string_def r && "$JIS" dump -q --event safepoint_begin r; } >>r.dump
last=$(awk '$3 == "methods_changed" {at = $1} END {print at}' r.dump)
"$JIS" dump -q --event method_enter --from "${last}s" r >r.enters
"$JIS" info -q --json r >r.info
"$JIS" stats -q --csv r >r.csv
cat r/methods.off
python3 "$CHECKERS/guard.py" r out || fail "not exactly those that cost too much, or not as the JVM's log has it"
# Read again: without the three, one of which has a class among its parameters, and with all others.
"${RECORD[@]}" --pool 64M --methods 'MethodsRates$*.*,!**.<init>,@r/methods.off' -o s -- "$JAVA" -cp "$CLASSES" MethodsRates 2 >out 2>err ||
	{ cat err; fail "what it wrote down cannot be used: exit status $?"; }
"$JIS" stats -q --csv s | python3 -c '
import csv, re, sys
seen = {re.sub(r"\(.*", "", r["method"])[-3:]: int(r["calls"]) for r in csv.DictReader(sys.stdin)}
made = {w[1][-3:]: int(w[2]) for w in map(str.split, open("out")) if w and w[0] == "CALLS"}
print(seen, made)
assert seen == {n: made[n] for n in ("C.d", "B.e", "C.f", "C.g")}' || fail "it does not leave out what it says"
