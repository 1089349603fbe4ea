#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An executable as target: whoever executes a program of that name from then on is recorded, from its exec to
# its end; scripts by their own name and by their interpreter's; others, and others' children, are not.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
# shellcheck source=tests/lab/guest/5filter.lib.sh
. "$(dirname "$0")/5filter.lib.sh"

cp "$sleeper" "$LAB_TMP/alpha" && cp "$sleeper" "$LAB_TMP/beta"
printf '#!%s/alpha 1\n' "$LAB_TMP" >"$LAB_TMP/script"
printf '#!/bin/bash\n"%s/beta" 1 100\n' "$LAB_TMP" >"$LAB_TMP/named"
chmod +x "$LAB_TMP/script" "$LAB_TMP/named"

start_raw exe -x executable:alpha -x executable:named
"$LAB_TMP/alpha" 2 120 >"$LAB_OUT/alpha" & alpha=$!
"$LAB_TMP/beta" 2 120 >"$LAB_OUT/beta" & beta=$!
"$LAB_TMP/named" >"$LAB_OUT/named" & named=$!
wait $alpha $beta $named
# "alpha 1 SCRIPT": no number, so it ends at once
"$LAB_TMP/script" >"$LAB_OUT/script" & script=$!
wait $script
stop_raw exe "$raw_pid"
all_there exe alpha
grep -q " thread_state tid=$alpha pid=$alpha " "$records.exe" || fail "alpha is not introduced"
grep -q " sched_process_exec tid=$alpha .*/alpha" "$records.exe" || fail "alpha's exec is missing"
grep -q " sched_process_exec tid=$named .*/named" "$records.exe" || fail "the script named is missing"
grep -q " sched_process_exec tid=$script .*/script" "$records.exe" || fail "a script of alpha's is missing"
# shellcheck disable=SC2046 # numbers
nothing_of exe "$beta" $(threads_of beta) $(threads_of named)
introduced_first exe
ok "alpha, a script by name, a script by its interpreter; nothing of beta"

start_raw children -C -x executable:named
"$LAB_TMP/named" >"$LAB_OUT/named2"
stop_raw children "$raw_pid"
all_there children named2
ok "with children: beta under named"

# One that is another program is so for as long as the rule says.
start_raw until -U -x executable:alpha
bash -c "exec \"$LAB_TMP/alpha\" 1 50" >"$LAB_OUT/first"
"$LAB_TMP/beta" 1 10 >"$LAB_OUT/second"
stop_raw until "$raw_pid"
all_there until first
ok "until exec"

# --executable finds what runs already
"$LAB_TMP/alpha" -g 2 100 >"$LAB_OUT/running" & alpha=$!
wait_for 60 "alpha" grep -q ready "$LAB_OUT/running"
"$JIS" record -o "$LAB_TMP/trace" --executable alpha >"$LAB_OUT/jis" 2>&1 & recorder=$!
wait_for 60 "the recording" grep -q 'recording into' "$LAB_OUT/jis"
kill -USR1 $alpha
wait $alpha
"$LAB_TMP/alpha" 1 10 >"$LAB_OUT/later"
kill -INT $recorder
wait $recorder || fail "jis record: $(cat "$LAB_OUT/jis")"
"$JIS" dump "$LAB_TMP/trace" >"$LAB_OUT/dump"
for t in $(threads_of running) $(threads_of later); do
	[ "$(grep -c "task_rename { tid = $t, .*comm = \"begin\"" "$LAB_OUT/dump")" = 1 ] || fail "$t is not recorded"
done
"$JIS" info "$LAB_TMP/trace" | grep '^recorded of *executable alpha$' >/dev/null || fail "jis info does not say it: $("$JIS" info "$LAB_TMP/trace" | head)"
ok "jis record --executable: running and later"
