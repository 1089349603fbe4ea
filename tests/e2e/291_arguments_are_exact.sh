#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of chosen methods each call tells its receiver and arguments, as the program passed them: numbers to the bit, strings
# by length and hash, and by their first characters only on request; interpreted, compiled by C1 and C2, on virtual
# threads; on each JDK that is here. Statistics by value have the program's counts, and --mark makes a span of each call.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR" || exit 1
P='ArgumentsTold$Target'
L='ArgumentsTold$Launcher.launch'
ALL="$P.numbers(*),$P.reals(*) $P.wide(this,2,3),$P.texts(0,1,2),$P.arrays(*,this),$P.fails(0,this),$P.<init>(*),$P.lasts(*)"

run() { # NAME CUT ROUNDS KIND JAVA [OPTION]...
	local name=$1 cut=$2 rounds=$3 kind=$4
	shift 4
	"${RECORD[@]}" -q --pool 64M --methods-budget 0 --arguments "$ALL" --argument-strings "$cut" \
		--methods "library:arguments:0:$P.library,$L" --mark "$P.fails" --mark "$P.lasts" -o "$name" -- \
		"$@" -Xverify:all -cp "$CLASSES" ArgumentsTold "$rounds" $kind >out 2>err || { cat err; fail "$name: exit status $?"; }
	grep 'refused\|cannot be' err && fail "$name: something is refused"
	"$JIS" dump "$name" >dump
	"$JIS" stats --by argument:0 --json "$name" >argument.json
	"$JIS" stats --by receiver --json "$name" >receiver.json
	echo "== $name"
	"$JIS" dump --calls "$name" >calls
	children $kind
	"$JIS" info "$name" >info
	grep -E '^methods   process [0-9]+: calls recorded by (critical|JNI|patched) natives.*, [0-9]+\.[0-9] ns a call$' info ||
		{ cat info; fail "info does not tell how"; }
	"$JIS" info --json "$name" | python3 -c 'import json, sys
p, = json.load(sys.stdin)["method_probes"]
sys.exit(p["way"] not in ("jni", "barrier", "critical", "patch") or not p["pair_picoseconds"])' || fail "info --json does not tell how"
	python3 "$CHECKERS/arguments.py" out dump "$cut" --spans fails lasts --stats argument.json fails --stats argument.json lasts \
		--stats argument.json library --stats receiver.json fails --stats receiver.json wide || fail "$name"
	[ "$cut" != 0 ] || ! grep -rqa 'secret of' "$name" || fail "$name: a text is in the trace"
	[ "$cut" = 0 ] || grep -rqa 'the sec' "$name" || fail "$name: no text is in the trace"
}

# children [virtual]: each thread's calls are of the call that started it.
children() {
	local n
	grep -F "$L" calls | sed 's/.* #\([0-9]*\) in #0 depth 1 .*/\1/' | sort >starters
	[ "$(wc -l <starters)" = 2 ] || { grep -F "$L" calls; fail "there are not two starters"; }
	grep -F "$P" calls | grep ' depth 1 ' | tee roots | sed 's/.* in #\([0-9]*\) depth 1 .*/\1/' | sort | uniq -c >by
	awk '{print $2}' by | cmp -s - starters || { cat starters by; fail "calls are not the children of who started their thread"; }
	[ "$(awk '{print $1}' by | sort -u | wc -l)" = 1 ] || { cat by; fail "the starters have not as many calls each"; }
	! grep -v ' started' roots | grep . || fail "a call is not told to be of a started thread"
	[ -z "${1:-}" ] || ! grep -v ' virtual' roots | grep . || fail "a call is not told to be of a virtual thread"
}

# wrong OPTION VALUE WHAT: is refused, and said why.
wrong() {
	expect_status 2 "$JIS" record -o none "$1" "$2" -- true
	expect_says "$3"
	[ ! -e none ] || fail "a trace is made"
}
wrong --arguments 'a.B.c' 'which values'
wrong --arguments '' 'the list is empty'
wrong --arguments '(0)' 'there is no method'
wrong --arguments 'a.B.c(x)' 'a value is'
wrong --arguments 'a.B.c(0,)' 'a value is'
wrong --arguments 'a.B.c(255)' 'a value is'
wrong --arguments 'a.B.c(0,1,2,3,4,5,6,7,8)' 'at most 8'
wrong --arguments 'a/B.c(0)' 'with dots'
wrong --arguments '!a.B.c(0)' 'a method is named'
wrong --argument-strings 10 'without --arguments'
expect_status 2 "$JIS" record -o none --arguments 'a.B.c(0)' --argument-strings 1001 -- true

cut=0
while read -r version java; do
	run "jdk$version-c2" $cut 60 "" "$java" -XX:-TieredCompilation -XX:CompileThreshold=50 -Xbatch
	if [ "$version" = 17 ]; then
		run interpreter 10 21 "" "$java" -Xint
		run c1 10 60 "" "$java" -XX:TieredStopAtLevel=1 -XX:Tier3InvocationThreshold=20 -Xbatch
		"$JIS" stats --by argument --method lasts --top 1 c1 >text
		grep -q 'lasts (0 = [29], 1 = "for [29]")' text || { cat text; fail "the text does not show the argument"; }
		grep -q 'the rest: 1 lines' text || { cat text; fail "the text does not show the rest"; }
		"$JIS" stats --by argument --method texts --csv c1 >csv
		grep -q '"0 = ""a"", 1 = ""0123456789""' csv || { head csv; fail "no csv"; }
		"$JIS" dump --calls c1 | grep >/dev/null 'Target.wide .* (this = ArgumentsTold$Target@[0-9a-f]*, 2 = -1, 3 = null)' ||
			fail "dump --calls does not show the values"
		expect_status 0 "$JIS" stats --by receiver --method numbers c1
		expect_says "of $(grep -c 'argument = -1' dump) calls such values are told"
	else
		run "jdk$version-virtual" $cut 30 virtual "$java"
	fi
	rm -rf jdk[0-9]* c1 interpreter
	cut=$((10 - cut))
done < <(TAKE=21 jdks)
