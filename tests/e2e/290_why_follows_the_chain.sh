#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a span waited for is what jis why says: a lock of a thread that waits for another, over a pipe, a latch, a
# connection; each nanosecond in one row, and the durations those of the program. From the start and attached, on every
# JDK that is here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_how.sh"
need_root

sees_all=1
if [ "$BACKEND" != kmod ]; then
	tracepoint_sees_all || sees_all=0
fi
# allow_unknown TRACE: into unknown, what why.py may be lenient about. A switch that the tracepoint did not show in
# that very recording is counted there.
allow_unknown() {
	unknown=()
	[ "$BACKEND" != kmod ] || return 0
	"$JIS" report -q --json "$1" >"$1.report"
	if [ $sees_all = 0 ] || ! grep -q '"contradictions":0,' "$1.report" ||
		! grep -q '"unseen_switches":0,' "$1.report"; then
		echo "this kernel's sched_switch tracepoint misses switches: what lies between may be unknown"
		unknown=(--unknown)
	fi
}
read -ra OPTIONS <<<"${JVM_OPTIONS:-} -cp $CLASSES:$MARKERS"
# Spans and milliseconds.
read -r COUNT MS <<<"${WHY:-8 25}"
RECORDING=("${RECORD[@]}" -q --syscalls "io,net,futex")
check() { # NAME JAVA HOW
	local trace=$TESTDIR/$1 line n=0 bad=0 span
	$3 "$1" "$2" "${OPTIONS[@]}" Why "$COUNT" "$MS"
	allow_unknown "$trace"
	while read -r line; do
		span=$(echo "$line" | cut -d' ' -f2)
		"$JIS" why -q --json --span "$span" "$trace" >"$trace.$span.json"
		python3 "$CHECKERS/why.py" "$line" "$trace.$span.json" "${unknown[@]}" || bad=1
		n=$((n + 1))
	done < <(grep '^EXPECT' "$trace.out")
	[ "$bad" = 0 ] || fail "$1"
	[ "$n" = 4 ] || fail "$1: $n chains instead of 4"

	# The same by thread and time. By number: an asker of the chain before may not be quite gone yet.
	read -r tid from to < <(python3 - "$trace.lock-latch.json" <<'PY'
import json, sys
i = json.load(open(sys.argv[1]))["intervals"][0]
print(f"{i['thread']['tid']} {i['begin']}ns {i['end']}ns")
PY
)
	"$JIS" why -q --json --thread "$tid" --from "$from" --to "$to" "$trace" >"$trace.thread.json"
	python3 - "$trace.lock-latch.json" "$trace.thread.json" <<'PY' || fail "$1: --thread tells another story than --span"
import json, sys
span, thread = (json.load(open(f))["intervals"][0] for f in sys.argv[1:])
sys.exit(span["path"] != thread["path"] or span["reasons"] != thread["reasons"])
PY
	expect_status 0 "$JIS" why -q "$trace"
	expect_says 'span (--span NAME)'
	expect_says 'held by holder'
	expect_status 0 "$JIS" why -q --span lock-latch "$trace"
	expect_says "span \"lock-latch\": $COUNT times"
	expect_says 'median: span "lock-latch" of asker'
	expect_status 1 "$JIS" why -q --span nonsense "$trace"
	expect_says 'there are: '
	expect_status 1 "$JIS" why -q --thread asker "$trace"
	expect_says "fits $n threads"
	expect_says "asker [$tid]"
	expect_status 1 "$JIS" why -q --thread nonsense "$trace"
	expect_status 2 "$JIS" why -q --top 0 "$trace"
}
# Virtual threads, which wait for monitors on their carriers (21) or off them (25).
check_virtual() { # NAME JAVA HOW
	local trace=$TESTDIR/$1 span RECORDING=("${RECORD[@]}" -q)
	$3 "$1" "$2" -Djdk.virtualThreadScheduler.parallelism=4 "${OPTIONS[@]}" Why "$COUNT" "$MS" virtual
	allow_unknown "$trace"
	for span in lock-latch monitor-latch; do
		# Who has a monitor is not always known there.
		[ $span = lock-latch ] || unknown=(--unknown)
		"$JIS" why -q --json --span $span "$trace" >"$trace.$span.json"
		python3 "$CHECKERS/why.py" "$(grep "^EXPECT $span " "$trace.out")" "$trace.$span.json" --virtual \
			"${unknown[@]}" || fail "$1"
	done
}
n=0
while read -r version java; do
	for how in $HOWS; do
		check "jdk$version-$how" "$java" "$how"
		[ "$version" = 17 ] || check_virtual "virtual$version-$how" "$java" "$how"
	done
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"

# Without any span there is a word of what can be asked.
"${RECORD[@]}" -q -o "$TESTDIR/none" -- true
expect_status 2 "$JIS" why -q "$TESTDIR/none"
expect_says 'no spans and no markers'
