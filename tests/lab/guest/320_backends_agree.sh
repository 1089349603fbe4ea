#!/bin/bash
# SPDX-License-Identifier: MIT
# Both backends at once tell the same story of the same run, thread by thread: the same switches and wake-ups
# in the same order; under -icount, where instructions are time, their times differ by at most 20 us.
# lab-timeout: 600
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
export PYTHONDONTWRITEBYTECODE=1

cd "$LAB_TMP" || exit 1
mkfifo gate
bash -c 'read -r <gate; exec "$0" 1 400 100' "$JIS_BUILD/tests/prog/witness" >witness.out 2>&1 &
pid=$!
"$JIS" record -o kmod --backend kmod -p $pid 2>kmod.err &
kmod=$!
"$JIS" record -o ftrace --backend ftrace -p $pid 2>ftrace.err &
ftrace=$!
recording() { grep -q 'recording into' kmod.err && grep -q 'recording into' ftrace.err; }
wait_for 60 "both recordings" recording
echo go >gate
wait $kmod || fail "kmod: $(cat kmod.err)"
wait $ftrace || fail "ftrace: $(cat ftrace.err)"
cat witness.out
within=()
! grep -q jis.icount /proc/cmdline || within=(--within 20000)
python3 /lab/job/tree/tests/e2e/checkers/backends_agree.py kmod ftrace "${within[@]}" || fail "the backends differ"
