#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh SUITE [TEST]...: runs the guest tests (tests/lab/guest/NNN_name.sh; all, or
# those named by name or number) in one boot of the lab guest of SUITE, with the
# build in build/lab/SUITE (scripts/lab/build.sh). Prints PASS, SKIP or FAIL for each
# and `N passed, N failed`; logs and results are in build/lab-out/SUITE (SUITE-icount
# with ICOUNT=1, SUITE-beside). Exit status: 0, 1 when a test failed, else boot.sh's, whose environment holds here too.
#
# SUITE kasan or kcsan boots a kernel that checks itself (scripts/lab/debug-kernel.sh): tests get LAB_SLOW=5
# times the time there, and what leaked at the end fails the run (a test called kmemleak).
#
# LAB_PART=beside: of all tests those that say "Runs beside others."; alone: the others.
#
# JIS_TEST_NO_SKIP=1 makes a skipped test a failed one. LAB_EXTRA names a folder
# whose content is added to the job (/lab/job). JIS_SRC names another source tree
# whose build is tested.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/../../scripts/lab/lib.sh"

lab_suite "${1:-}"
shift
guest=$lab_top/tests/lab/guest
src=$(cd "${JIS_SRC:-$lab_top}" && pwd)
out=$src/build/lab-out/$suite${ICOUNT:+-icount}
part=${LAB_PART:-}
case $part in
'' | alone) ;;
beside) out=$out-beside ;;
*) die "LAB_PART=$part: it is beside or alone" ;;
esac
slow=${LAB_SLOW:-1}
[ -z "$lab_debug" ] || slow=${LAB_SLOW:-5}

# of_suite TEST: is it to be run in this suite? Those by whose answer kernels do not differ name one suite, the release
# with it: each is run once then, and both on kernels that check themselves.
of_suite()
{
	local only

	only=$(sed -n 's/^# lab-suite: *//p' "$1")
	[ -z "$only" ] || [ -n "$lab_debug" ] || [ "$only" = "$suite" ]
}

# of_part TEST: is it of LAB_PART? Those that count what must be exact, however slow the guest is, run beside others.
of_part()
{
	case $part in
	beside) grep -q '^# Runs beside others\.' "$1" ;;
	alone) ! grep -q '^# Runs beside others\.' "$1" ;;
	esac
}

# find_tests [NAME | NUMBER]...: the names of the tests meant, in order
find_tests()
{
	local t f found all=

	[ $# -gt 0 ] || { all=1; set -- '[0-9][0-9][0-9]'; }
	for t; do
		found=
		# shellcheck disable=SC2231 # a pattern
		for f in "$guest/${t%.sh}.sh" "$guest"/${t}_*.sh; do
			[ -e "$f" ] || continue
			found=1
			[ -n "$all" ] && ! { of_suite "$f" && of_part "$f"; } || echo "$f"
		done
		[ -n "$found" ] || die "there is no test '$t' in $guest"
	done | sort -u | sed 's,.*/,,; s,\.sh$,,'
}

make_job()	# TEST...
{
	[ -d "$src/build/lab/$suite" ] ||
		die "$src/build/lab/$suite is missing: run scripts/lab/build.sh $suite first"
	mkdir "$job/build"
	tar -c -C "$src/build/lab/$suite" --exclude='*.o' --exclude='*.d' --exclude='*.cmd' . |
		tar -x -C "$job/build"
	cp -a "$guest" "$job/tests"
	# The end-to-end tests run in the guest too; classes are the host's, where the servlet API is.
	mkdir -p "$job/tree/tests" "$job/tree/scripts"
	cp -a "$lab_top/tests/e2e" "$job/tree/tests/"
	cp -a "$lab_top/scripts/demo" "$lab_top/scripts/demo.sh" "$job/tree/scripts/"
	mkdir "$job/tree/docs" && cp "$lab_top/docs/recording.md" "$job/tree/docs/"
	mkdir "$job/tree/tests/bench" && cp -a "$lab_top"/tests/bench/{agent_cost.sh,tomcat_load.sh,differences.py} "$job/tree/tests/bench/"
	mkdir "$job/tree/paraver-export" && cp -a "$lab_top/paraver-export/cfg" "$job/tree/paraver-export/"
	[ ! -d "$src/build/demo-classes" ] || cp -a "$src/build/demo-classes" "$job/build/"
	cp "$lab_dir/complaints.sh" "$job/"
	[ -z "${LAB_EXTRA:-}" ] || cp -a "$LAB_EXTRA/." "$job/"
	printf '%s ' "JIS_TEST_NO_SKIP=${JIS_TEST_NO_SKIP:-0}" "LAB_SLOW=$slow" \
		${STRESS_SECONDS:+"STRESS_SECONDS=$STRESS_SECONDS"} ${STRESS_EVENTS:+"STRESS_EVENTS=$STRESS_EVENTS"} \
		${STRESS_ROUND:+"STRESS_ROUND=$STRESS_ROUND"} ${E2E:+"E2E=$E2E"} \
		${ALL_JDKS:+"ALL_JDKS=$ALL_JDKS"} ${AGENT_ROUNDS:+"AGENT_ROUNDS=$AGENT_ROUNDS"} ${PAGES:+"PAGES=${PAGES@Q}"} \
		exec tests/driver.sh "$@" >"$job/run.sh"
}

names=$(find_tests "$@")
mapfile -t tests <<<"$names"
limits=$(for t in "${tests[@]}"; do
	limit=$(sed -n 's/^# lab-timeout: *//p' "$guest/$t.sh")
	echo $((${limit:-300} * slow))
done)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
job=$work/job
mkdir "$job"
make_job "${tests[@]}"

# a driver that says nothing for longer than its slowest test may take hangs with its kernel
export SILENCE=${SILENCE:-$((120 + $(sort -n <<<"$limits" | tail -n 1)))}
export TIMEOUT=${TIMEOUT:-$((120 + ${limits//$'\n'/+}))}
rc=0
"$lab_dir/boot.sh" "$suite" "$job" "$out" || rc=$?
[ "$rc" != 127 ] || exit 127

passed=$(grep -c '^PASS ' "$out/log") || :
failed=$(grep -c '^FAIL ' "$out/log") || :
for t in "${tests[@]}"; do
	grep -qE "^(PASS|FAIL|SKIP) $t " "$out/log" && continue
	echo "FAIL $t (the guest ended $(grep -q "^RUN  $t\$" "$out/log" && echo during || echo before) it: $out/console)"
	failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] || exit 1
exit "$rc"
