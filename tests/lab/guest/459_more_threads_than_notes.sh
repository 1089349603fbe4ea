#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Where there is no more room to keep notes of threads, that is counted; all else of them is recorded.
# lab-timeout: 600
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

room=$(awk '/^MemTotal/ { s = $2 / 128; b = 4096; while (b * 2 <= s && b < 65536) b *= 2; print b / 2 }' /proc/meminfo)
try_raw few "$reason" threads 100
grep -q '^threads_refused 0$' "$LAB_OUT/few" || fail "refused: $(grep refused "$LAB_OUT/few")"
n=$((room + 500))
try_raw many -b $((256 << 20)) "$reason" threads $n
refused=$(sed -n 's/^threads_refused //p' "$LAB_OUT/many")
# the process's first thread has notes too
[ "$refused" = $((n + 1 - room)) ] || fail "$refused threads refused of $n and 1, with room for $room"
[ "$(lost_of many)" = 0 ] || fail "records were lost"
[ "$(grep -c ' sched_process_exit ' "$records.many")" = $((n + 1)) ] || fail "not each thread's end is there"
ok "$refused of $((n + 1)) threads refused, room for $room"
try_raw again "$reason" threads 100
