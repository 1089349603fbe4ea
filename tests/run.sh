#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests and says what passed: unit (Check programs), e2e (scripts on this host), lab (guest
# kernels). Ends with "N passed, N failed" alone on a line; exit status 1 when any failed.
# A test exits 0 (pass), 77 (skip) or anything else (fail); with JIS_TEST_NO_SKIP=1 a skip is a failure.
# Usage: tests/run.sh unit|e2e|check|lab|all BUILD [PATTERN]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

mode=${1:?unit, e2e, check, lab or all} BUILD=$(mkdir -p "${2:?build directory}" && cd "$2" && pwd)
pattern=${3:-}
NO_SKIP=${JIS_TEST_NO_SKIP:-0}
export BUILD JIS=$BUILD/jis
JAVA=${JAVA:-$(command -v java || true)}
export JAVA
passed=0 failed=0 skipped=0
failures=()
logs=$BUILD/test-logs
mkdir -p "$logs"

count() { # NAME STATUS LOG SECONDS
	local name=$1 status=$2 log=$3 seconds=$4
	if [ "$status" = 77 ] && [ "$NO_SKIP" != 1 ]; then
		skipped=$((skipped + 1))
		printf 'SKIP %s: %s\n' "$name" "$(tail -n 1 "$log")"
	elif [ "$status" = 0 ]; then
		passed=$((passed + 1))
		printf 'PASS %s (%s s)\n' "$name" "$seconds"
	else
		failed=$((failed + 1))
		failures+=("$name")
		printf 'FAIL %s (exit status %s, %s s; log %s)\n' "$name" "$status" "$seconds" "$log"
		tail -n 40 "$log" | sed 's/^/    /'
	fi
}

run_one() { # NAME TIMEOUT COMMAND...
	local name=$1 limit=$2 log start status
	shift 2
	case $name in *"$pattern"*) ;; *) return ;; esac
	log=$logs/${name//\//_}.log
	start=$SECONDS
	TESTDIR=$(mktemp -d "${TMPDIR:-/tmp}/jis-test.XXXXXX")
	export TESTDIR
	timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null
	status=$?
	[ "$status" != 124 ] || echo "timed out after $limit s" >>"$log"
	rm -rf "$TESTDIR"
	count "$name" "$status" "$log" $((SECONDS - start))
}

run_unit() {
	local t
	for t in "$BUILD"/tests/unit/test_*; do
		[ -x "$t" ] || continue
		run_one "unit/${t##*/}" 300 "$t"
	done
}

run_e2e() {
	local t
	for t in tests/e2e/[0-9]*.sh; do
		run_one "e2e/$(basename "$t" .sh)" 300 bash "$t"
	done
}

run_lint() { run_one lint 300 scripts/lint.sh "$BUILD"; }

# One boot of a guest: its tests' results are added to ours.
lab_boot() { # SUITE LABEL [TEST...]
	local suite=$1 label=$2 out=$logs/lab-$1-$2.log line
	shift 2
	JIS_TEST_NO_SKIP=$NO_SKIP tests/lab/run.sh "$suite" "$@" 2>&1 | tee "$out"
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$out" | tail -n 1)
	if [ -z "$line" ]; then
		count "lab-$suite-$label" 1 "$out" 0
		return
	fi
	passed=$((passed + $(cut -d' ' -f1 <<<"$line")))
	failed=$((failed + $(cut -d' ' -f3 <<<"$line")))
	[ "$(cut -d' ' -f3 <<<"$line")" = 0 ] || failures+=("lab-$suite-$label")
}

run_lab() {
	local suite out
	for suite in bookworm trixie; do
		out=$logs/lab-$suite.log
		echo "lab $suite: guest kernel under emulation, this takes some minutes"
		if ! scripts/lab/image.sh "$suite" >"$out" 2>&1 || ! scripts/lab/build.sh "$suite" >>"$out" 2>&1; then
			count "lab-$suite/prepare" 1 "$out" 0
			continue
		fi
		lab_boot "$suite" all
		# Once more with instructions for time, where times can be compared. There minutes pass while the guest
		# waits for a slow disk of the host: no reason to reset its drive, or to call a waiting task hung.
		ICOUNT=1 SMP=1 APPEND="jis.icount nvme_core.io_timeout=1000000 sysctl.kernel.hung_task_timeout_secs=0" \
			lab_boot "$suite" icount i300 i305 320
	done
}

case $mode in
unit) run_unit ;;
e2e) run_e2e ;;
lab) run_lab ;;
check) run_lint; run_unit; run_e2e ;;
all)
	make --no-print-directory all tests demo-classes || { echo "the build failed" >&2; echo "0 passed, 1 failed"; exit 1; }
	run_lint; run_unit; run_e2e; run_lab
	;;
*) echo "tests/run.sh: unknown mode $mode" >&2; exit 2 ;;
esac

if [ ${#failures[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failures[*]}"
fi
[ "$skipped" = 0 ] || echo "$skipped skipped (JIS_TEST_NO_SKIP=1 makes them failures)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
