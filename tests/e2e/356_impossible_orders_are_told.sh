#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of each kind of impossible order, and of contradiction between Java and the kernel, a trace that has it and nothing
# else that is wrong: jis report (of calls: jis stats) and its JSON tell that one, how often, when first and of whom.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
cd "$TESTDIR" || exit 1

"$TESTPROG/impossible" >plants || fail "the plants are not listed"
[ "$(wc -l <plants)" -ge 35 ] || fail "$(wc -l <plants) plants"

# doubts FILE: what it says did not fit
doubts() { grep -E '^(impossible order|contradiction|did not fit|switches the kernel|lost|damaged)' "$1"; }

while IFS=$'\t' read -r name times who what; do
	at=$("$TESTPROG/impossible" "$name" "$name") || fail "$name: not made"
	"$JIS" info --strict -q "$name" >info || fail "$name: the trace is damaged: $(tail -n 3 info)"
	verb=report
	[[ $name = method-* ]] && verb=stats
	"$JIS" $verb -q "$name" >said || fail "$name: jis $verb fails"
	doubts said >found
	cat found
	label='impossible order'
	line="$times times: $what; first at $at s, $who"
	case $what in
	"thread leaves a CPU"* | "thread gets a CPU"* | "thread wakes another"* | "thread is woken"*)
		grep -q "^did not fit: $times contradictions, 0 unbalanced spans, 0 backward steps, 0 records" found ||
			fail "$name: the sum does not have it"
		sed -i '/^did not fit/d' found
		label=contradiction
		;;
	"Java waits"* | "Java and"* | "blocked in "* | "record of "* | "another system call at"*) label=contradiction ;;
	esac
	[ "$(cat found)" = "$label: $line" ] || fail "$name: not \"$line\" alone"
	[ $verb = report ] || continue
	"$JIS" report -q --json "$name" >json || fail "$name: no JSON"
	python3 - "$times" "$what" "$at" "$who" <<'PY' || fail "$name: JSON tells another thing"
import json, sys
times, what, at, who = sys.argv[1:]
c = json.load(open("json"))["counts"]
told = {k: n for k, n in {**c["errors"], **c["contradiction_kinds"], **c["conflicts"]}.items() if n}
assert told == {what: int(times)}, told
assert list(c["first"]) == [what], c["first"]
first = c["first"][what]
assert f"{first['time'] / 1e9:.6f}" == at, first
assert who.split(" [")[0] == first["thread"]["name"], first
PY
done <plants

# No kind without a plant.
"$JIS" report -q --json park-end >json
python3 - <<'PY' || fail "kinds that no trace here has"
import json
c = json.load(open("json"))["counts"]
planted = {line.rstrip("\n").split("\t")[3] for line in open("plants")}
kinds = set(c["errors"]) | set(c["contradiction_kinds"]) | set(c["conflicts"])
print(len(kinds), "kinds")
assert kinds == planted, kinds ^ planted
PY
