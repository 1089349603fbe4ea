#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each time a registered thread leaves a CPU its two words are recorded as they were then: a program counts
# in them and sleeps after each step, so the sleeps of the trace have each number, in order. Words withdrawn,
# words of a thread that never had any, and addresses that are none, give 0 and harm nobody.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

pool=$JIS_BUILD/tests/lab/jispool
load_module

record()	# NAME ARGUMENT...
{
	local name=$1

	shift
	"$JIS" record -q -o "$LAB_TMP/$name" --backend kmod "$@" >"$LAB_OUT/$name" 2>&1 ||
		fail "recording $name: $(tail "$LAB_OUT/$name")"
	"$JIS" dump "$LAB_TMP/$name" | tr -d ',' >"$LAB_OUT/$name.dump" || fail "dump of $name"
}

# switches NAME TID: state, both words of each switch away from TID
switches()
{
	sed -n "s/.* sched_switch { prev_tid = $2 .*prev_state = \([^ ]*\) .*prev_vm_state = \([0-9]*\) prev_os_state = \([0-9]*\) }/\1 \2 \3/p" \
		"$LAB_OUT/$1.dump"
}

for how in "" "unshare --pid --fork"; do
	name=words${how:+-namespace}
	# shellcheck disable=SC2086 # words of a command
	record "$name" -- $how "$pool" words 400
	if [ -n "$how" ]; then # the program knows its number inside only
		inside=$(awk '$1 == "sleeper" { print $2 }' "$LAB_OUT/$name")
		tid=$(sed -n "s/.* sched_process_fork { .* tid = \([0-9]*\) .* ns_tid = $inside .*comm = \"jispool\".*/\1/p" \
			"$LAB_OUT/$name.dump")
		[ -n "$tid" ] && [ "$tid" != "$inside" ] || fail "no thread with number $inside in its namespace"
	else
		tid=$(awk '$1 == "sleeper" { print $2 }' "$LAB_OUT/$name")
	fi
	switches "$name" "$tid" >"$LAB_OUT/$name.switches"
	slept=$(awk '$1 == "slept" { print $2 }' "$LAB_OUT/$name")
	awk -v slept="$slept" '
	$1 == "0x1" && $2 > 0 && done { print "words after they were withdrawn: " $0; bad++ }
	$1 == "0x1" && $2 > 0 {
		if ($3 != 4294967295 - $2) { print "os word: " $0; bad++ }
		# a sleep may be over before it begins; and the last words stay a while
		if ($2 < last || ($2 == last && last != 400)) { print last " is followed by " $0; bad++ }
		last = $2
		n++
	}
	$1 == "0x1" && $2 == 0 && n >= 300 { done++ }
	END {
		if (n < slept - 1 || n > slept + 1) { print n " sleeps with words, not " slept; bad++ } # a write to a pipe
		if (done < 10) { print done " sleeps without words"; bad++ }
		exit bad > 0
	}' "$LAB_OUT/$name.switches" >"$LAB_OUT/$name.verdict" || fail "$name: $(head "$LAB_OUT/$name.verdict")"
	[ "$slept" -gt 300 ] || fail "$name: it slept $slept times only"
	ok "$name: $slept sleeps with their own words, then none"
done
without=$(awk '$1 == "without" { print $2 }' "$LAB_OUT/words")
switches words "$without" | awk '{ n++ } $2 || $3 { print; bad++ } END { exit bad > 0 || n < 20 }' ||
	fail "words of a thread that has none"
ok "a thread beside it has none"

record bad -- "$pool" bad
while read -r what tid; do
	switches bad "$tid" >"$LAB_TMP/switches"
	awk '{ n++ } $2 || $3 { print; bad++ } END { exit bad > 0 || n < 20 }' "$LAB_TMP/switches" >"$LAB_OUT/bad.$what" ||
		fail "$what: words from nowhere, or not 20 switches of $(wc -l <"$LAB_TMP/switches"): $(head "$LAB_OUT/bad.$what")"
done <"$LAB_OUT/bad"
[ "$(wc -l <"$LAB_OUT/bad")" = 8 ] || fail "not 8 threads: $(cat "$LAB_OUT/bad")"
ok "8 kinds of addresses that are none"
