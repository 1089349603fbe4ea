#!/bin/bash
# SPDX-License-Identifier: MIT
#
# planted.sh: is the fuzzer able to find a bug? Builds the module with one (JIS_PLANT_BUG in kmod/), runs
# 190_nonsense_is_refused for two minutes in the lab's kasan guest, and fails unless the kernel found what it does: that
# memory is used after it was freed. Puts the sound module back into build/lab/kasan.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/../../scripts/lab/lib.sh"

lab_suite kasan
log=$lab_top/build/lab-out/kasan/console

"$lab_dir/build.sh" kasan tests kmod JIS_PLANT_BUG=1
trap '"$lab_dir/build.sh" kasan tests kmod >/dev/null' EXIT
begin=$EPOCHSECONDS
! APPEND="jisfuzz.args=-m,0 ${APPEND:-}" "$lab_top/tests/lab/run.sh" kasan 190 || die "the bug that was planted was not found"
report=$(grep -aom 1 -E 'KASAN: (slab-)?use-after-free.*|refcount_t: .*' "$log") ||
	die "the run failed, but not by the planted bug: see $log"
say "the planted bug was found in $((EPOCHSECONDS - begin)) s, boot included: $report"
