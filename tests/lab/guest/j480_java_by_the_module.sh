#!/bin/bash
# SPDX-License-Identifier: MIT
# What the end-to-end tests show of Java by ftrace, shown with jis.ko: waits and their reasons, tasks, connections, locks,
# queues, virtual threads, safepoints, method calls, the critical path, a culprit. By name only (make lab-java), under
# -icount with one CPU, else the emulator loses its CPU between what the test and what the trace tell: hours.
# E2E=260,264: those only.
# lab-timeout: 14400
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# On one CPU, emulated, what lies between the program's clock and a hook is long, and others run meanwhile.
export LAB_SLOW=$((25 * ${LAB_SLOW:-1}))
default=260,261,262,264,265,266,268,269,270,271,272,273,274,276,277,278,280,281,282,284,285,286,290,298,299,302,330,335,343
top=$LAB_TMP
bad=()
# What there are only virtual threads for is skipped where there is no JDK from 21 on; nothing else is.
may_skip=" "
[ -n "$(ls -d /usr/lib/jvm/java-2[1-9]-* 2>/dev/null)" ] || may_skip=" 261 276 343 "

load_module
for number in $(echo "${E2E:-$default}" | tr , ' '); do
	for test in /lab/job/tree/tests/e2e/"$number"_*.sh; do
		name=$(basename "$test" .sh)
		LAB_TMP=$top/$number
		mkdir "$LAB_TMP"
		begun=$SECONDS
		(e2e "$name" BACKEND=kmod) >"$LAB_OUT/$name" 2>&1 </dev/null
		status=$?
		if [ $status = 0 ]; then
			echo "passed $name ($((SECONDS - begun)) s)"
		elif [ $status = 77 ] && [[ $may_skip = *" $number "* ]]; then
			echo "skipped $name: $(tail -n 1 "$LAB_OUT/$name")"
		else
			echo "failed $name ($((SECONDS - begun)) s)"
			tail -n 20 "$LAB_OUT/$name"
			bad+=("$name")
		fi
		rm -rf "$LAB_TMP"
	done
done
[ ${#bad[@]} = 0 ] || fail "${bad[*]}"
