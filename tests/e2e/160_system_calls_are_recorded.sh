#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The calls a program makes, as it says itself, are in the trace with their arguments and results, and only
# those that were asked for; names are checked before anything runs. The ftrace backend tells nothing of what
# arguments point to, and so does the program's list here.
. "$(dirname "$0")/lib.sh"
need_root

calls=$BUILD/tests/lab/jiscalls
mkdir -p "$TESTDIR/files"

# canonical: dump's "EVENT { a = b, c = d }" as "event a=b c=d" in small letters, between the names "begin" and "end"
canonical() {
	awk '
	$3 == "task_rename" { on = /"begin"/ }
	on && $3 ~ /^(syscall|fd)_/ {
		sub(/^[^ ]+ [^ ]+ /, ""); sub(/ \{/, ""); sub(/ \}$/, "")
		gsub(/ = /, "="); gsub(/,/, ""); gsub(/"/, "")
		print
	}' | comparable
}

# The operation of a futex is in words in the one and a number in the other.
comparable() {
	sed 's/ op=[^ ]*//; s/ *$//' | tr '[:upper:]' '[:lower:]'
}

# In Paraver (77000007) each call's name from its enter on, and 0 at its exit, in order; between the same names of the thread.
in_paraver() { # BASE SAID
	PYTHONPATH=$CHECKERS python3 - "$1" "$2" <<-'PY'
		import re, sys
		import prv_rows
		base, said = sys.argv[1:]
		labels = prv_rows.labels(base)
		want = ["" if m[1] == "exit" else m[2] for m in map(re.compile(r"syscall_(\w+) tid=\d+ nr=(\w+)").match, open(said)) if m]
		got = [labels[77000007][v] if v else "" for row in prv_rows.read(base, lambda name: True).values()
		       for t, v in row.events[77000007] if labels[77000004].get(row.value(77000004, t)) == "begin"]
		assert got == want and len(want) >= 12, (got, want)
	PY
}

for preset in io net lock time mem file; do
	"$JIS" record -q --backend ftrace --syscalls $preset -o "$TESTDIR/$preset" -- \
		"$calls" -f -n "$TESTDIR/files" $preset >"$TESTDIR/$preset.said"
	"$JIS" info --strict "$TESTDIR/$preset" >"$TESTDIR/$preset.info" || fail "$preset: records were lost"
	grep -q "^system calls  *$preset\$" "$TESTDIR/$preset.info" || fail "info does not tell the set"
	comparable <"$TESTDIR/$preset.said" >"$TESTDIR/$preset.expected"
	"$JIS" dump "$TESTDIR/$preset" | canonical >"$TESTDIR/$preset.recorded"
	diff "$TESTDIR/$preset.expected" "$TESTDIR/$preset.recorded" >"$TESTDIR/$preset.diff" ||
		fail "$preset: expected (<), recorded (>): $(head -n 20 "$TESTDIR/$preset.diff")"
	[ "$(wc -l <"$TESTDIR/$preset.recorded")" -ge 12 ] || fail "$preset: hardly anything was called"
	"$JIS" export paraver -q "$TESTDIR/$preset" -o "$TESTDIR/$preset.prv"
	in_paraver "$TESTDIR/$preset" "$TESTDIR/$preset.said" || fail "$preset: Paraver has other calls"
done

# In words
"$JIS" dump "$TESTDIR/lock" >"$TESTDIR/words"
grep -q 'nr = futex, op = WAIT|PRIVATE, value = 4' "$TESTDIR/words" || fail "no futex in words"
grep -q 'nr = futex, result = -EAGAIN' "$TESTDIR/words" || fail "no error in words"
if grep -q 'nr=futex_wait ' "$TESTDIR/lock.said"; then # not known to the headers of Debian 12
	grep -q 'nr = futex_wait, op = U32|PRIVATE, value = 5' "$TESTDIR/words" || fail "no futex_wait in words"
fi
grep -q 'prev_syscall = unknown' "$TESTDIR/words" || fail "ftrace does not tell the call of a switch"

# Only what was asked for; nothing when nothing was
"$JIS" record -q --backend ftrace --syscalls io,-read -o "$TESTDIR/some" -- \
	"$calls" -f -n "$TESTDIR/files" io >"$TESTDIR/said"
"$JIS" dump "$TESTDIR/some" >"$TESTDIR/words"
grep -q 'nr = write,' "$TESTDIR/words" || fail "no write"
! grep -E 'nr = (read|openat|mmap),' "$TESTDIR/words" || fail "a call nobody asked for"
"$JIS" record -q --backend ftrace -o "$TESTDIR/none" -- "$calls" -f -n "$TESTDIR/files" io >"$TESTDIR/said"
"$JIS" dump "$TESTDIR/none" >"$TESTDIR/words"
! grep 'syscall_' "$TESTDIR/words" || fail "calls are recorded though none was asked for"

# Wrong lists
expect_status 2 "$JIS" record --syscalls futx -o "$TESTDIR/wrong" -- true
expect_says 'did you mean "futex"?'
expect_status 2 "$JIS" record --syscalls io,-io -o "$TESTDIR/wrong" -- true
expect_says 'no system call is left'
[ ! -e "$TESTDIR/wrong" ] || fail "a wrong list leaves a directory"
[ -z "$(stale_instances)" ] || fail "an instance is left"

# jis dump of chosen events
"$JIS" dump -q "$TESTDIR/some" | grep -E ' (sched_switch|syscall_exit) ' >"$TESTDIR/words"
"$JIS" dump -q --event syscall_exit,sched_switch "$TESTDIR/some" | cmp - "$TESTDIR/words" || fail "other events than the chosen ones"
[ "$(grep -c syscall_exit "$TESTDIR/words")" -gt 0 ] && [ "$(grep -c sched_switch "$TESTDIR/words")" -gt 0 ] || fail "no events"
expect_status 2 "$JIS" dump --event sched_switch,sched_swich "$TESTDIR/some"
expect_says 'sched_swich: there is no such event'
expect_status 2 "$JIS" dump --event , "$TESTDIR/some"
expect_says 'no event is named'
