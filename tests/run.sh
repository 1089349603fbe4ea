#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests and says what passed: unit (Check programs), e2e (scripts on this host), lab (guest
# kernels). Ends with "N passed, N failed" alone on a line; exit status 1 when any failed.
# check-jni runs the end-to-end tests that start JVMs with -Xcheck:jni in each (tests/e2e/lib_check_jni.sh).
# A test exits 0 (pass), 77 (skip) or anything else (fail); with JIS_TEST_NO_SKIP=1 a skip is a failure.
# An e2e test that fails is tried again, alone, after the others, if no more than six of them failed: a host's own load
# delays what a test waits for, and its kernel may hide events. So is a guest test, in a boot of its own, unless the kernel
# complained or something was left behind. JIS_TEST_ONCE=1: no e2e test is. Both are told: TWICE, and at the end which
# tests and what they said at first.
# e2e-beside, lab-beside: those that may run beside the tests on the host, which e2e and all start themselves.
# Usage: tests/run.sh unit|e2e|e2e-beside|check-jni|check|lab|all BUILD [PATTERN]; tests/run.sh lab-beside BUILD SUITE
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/e2e/lib_check_jni.sh
. tests/e2e/lib_check_jni.sh

mode=${1:?unit, e2e, check-jni, check, lab or all} BUILD=$(mkdir -p "${2:?build directory}" && cd "$2" && pwd)
pattern=${3:-}
NO_SKIP=${JIS_TEST_NO_SKIP:-0}
export BUILD JIS=$BUILD/jis
JAVA=${JAVA:-$(command -v java || true)}
export JAVA
passed=0 failed=0 skipped=0
failures=() twice=()
declare -A how=()
guests=() # that run beside the tests on the host
spare="" later=() # of e2e tests: those which failed are tried again
logs=$BUILD/test-logs
mkdir -p "$logs"

count() { # NAME STATUS LOG SECONDS [CPU-SECONDS]
	local name=$1 status=$2 log=$3 seconds=$4
	if [ "$status" = 77 ] && [ "$NO_SKIP" != 1 ]; then
		skipped=$((skipped + 1))
		printf 'SKIP %s: %s\n' "$name" "$(tail -n 1 "$log")"
	elif [ "$status" = 0 ]; then
		passed=$((passed + 1))
		printf 'PASS %s (%s s%s)\n' "$name" "$seconds" "${5:+, $5 s of CPU}"
	else
		failed=$((failed + 1))
		failures+=("$name")
		printf 'FAIL %s (exit status %s, %s s; log %s)\n' "$name" "$status" "$seconds" "$log"
		tail -n 40 "$log" | sed 's/^/    /'
	fi
}

# Sets cpu_ticks: what the processes this one has waited for took, in ticks of 10 ms (proc(5), cutime and cstime).
read_cpu_ticks() {
	local stat
	read -ra stat </proc/$$/stat
	cpu_ticks=$((stat[15] + stat[16]))
}

run_one() { # NAME TIMEOUT COMMAND...
	local name=$1 limit=$2 log start status cpu_ticks before
	shift 2
	took=0
	case $name in *"$pattern"*) ;; *) return ;; esac
	log=$logs/${name//\//_}.log
	start=$SECONDS
	read_cpu_ticks
	before=$cpu_ticks
	TESTDIR=$(mktemp -d "${TMPDIR:-/tmp}/jis-test.XXXXXX")
	export TESTDIR
	timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null
	status=$?
	[ "$status" != 124 ] || echo "timed out after $limit s" >>"$log"
	if [ "${JIS_TEST_CHECK_JNI:-0}" = 1 ]; then
		jni_verdict "$status" "$log"
		status=$?
	fi
	rm -rf "$TESTDIR"
	took=$((SECONDS - start))
	if [ "$status" != 0 ] && [ "$status" != 77 ] && [ -n "$spare" ]; then
		later+=("$name")
		how["$name"]="$status $took"
		cp "$log" "$log.1"
		printf 'TWICE %s (exit status %s, %s s; log %s)\n' "$name" "$status" "$took" "$log.1"
		return
	fi
	read_cpu_ticks
	count "$name" "$status" "$log" "$took" $(((cpu_ticks - before + 50) / 100))
}

run_unit() {
	local t
	export CK_DEFAULT_TIMEOUT=60 # seconds: Check's own 4 are not enough beside others
	for t in "$BUILD"/tests/unit/test_*; do
		[ -x "$t" ] || continue
		run_one "unit/${t##*/}" 300 "$t"
	done
}

# Those that only rewrite classes, or say so, compare what was counted, not how long it took, record no more than their own
# processes, and kill no recorder: they run beside the others, in a lane of their own, which leaves those the CPU they ask for.
is_beside() { grep -qE '/lib_classes\.sh"|^# Runs beside others\.' "$1"; }
run_e2e() { # [beside]: those
	local t name out=$logs/e2e-beside.log lane=""
	[ "${JIS_TEST_ONCE:-0}" = 1 ] || spare=1
	for t in tests/e2e/[0-9]*.sh; do
		name=e2e/$(basename "$t" .sh)
		if is_beside "$t" && [ "${1:-}" != beside ]; then
			case $name in *"$pattern"*) ;; *) continue ;; esac
			[ -n "$lane" ] || { nice -n 5 tests/run.sh e2e-beside "$BUILD" "$pattern" >"$out" 2>&1 & lane=$!; }
		elif is_beside "$t" || [ "${1:-}" != beside ]; then
			run_one "$name" "${JIS_TEST_LIMIT:-300}" bash "$t"
		fi
	done
	[ "${1:-}" = beside ] || touch "$logs/one-lane"
	[ -z "$lane" ] || { wait "$lane"; lane_count "$out"; }
	spare=
	[ ${#later[@]} = 0 ] || [ ${#guests[@]} = 0 ] || wait "${guests[@]}"
	for t in "${later[@]}"; do
		if [ ${#later[@]} -gt 6 ]; then
			count "$t" "${how[$t]% *}" "$logs/${t//\//_}.log" "${how[$t]#* }"
			continue
		fi
		twice+=("$t")
		NO_SKIP=1 run_one "$t" "${JIS_TEST_LIMIT:-300}" bash "tests/$t.sh"
	done
	later=()
}

# The results of the lane are added to ours.
lane_count() { # LOG
	local line
	grep -vE '^(failed: |tried twice: |[0-9]+ skipped |[0-9]+ passed, )' "$1"
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1)
	[ -n "$line" ] || { count e2e-beside 1 "$1" 0; return; }
	passed=$((passed + $(cut -d' ' -f1 <<<"$line")))
	failed=$((failed + $(cut -d' ' -f3 <<<"$line")))
	skipped=$((skipped + $(sed -n 's/^\([0-9]*\) skipped .*/\1/p' "$1" | grep . || echo 0)))
	mapfile -t -O ${#failures[@]} failures < <(sed -n 's/^failed: //p' "$1")
	mapfile -t -O ${#twice[@]} twice < <(sed -n 's/^tried twice: //p' "$1")
}

# Those of them that name a JVM, slower than else; all, or the tests numbered so.
run_check_jni() { # [NUMBER...]
	local t name
	export JIS_TEST_CHECK_JNI=1
	for t in tests/e2e/[0-9]*.sh; do
		name=$(basename "$t" .sh)
		case " ${*:-${name%%_*}} " in *" ${name%%_*} "*) ;; *) continue ;; esac
		! grep -qE 'JAVA|jdks|tomcat_command|server_start|rounds_under_load' "$t" ||
			run_one "check-jni/$name" 900 bash "$t"
	done
	unset JIS_TEST_CHECK_JNI
	rm -rf "$BUILD/tests/check-jni"
}

run_lint() { run_one lint 900 scripts/lint.sh "$BUILD"; }

# The first time it fetches checkpatch.pl.
run_kmod_check() { run_one kmod-check 1200 make --no-print-directory kmod-check BUILD="$BUILD"; }

# One boot of a guest, its lines marked with the suite. The label is what is run in it, and how:
# icount: with instructions for time, where times are compared. Minutes pass there while the guest waits for a slow disk of
#   the host, or for a CPU of it: no reason to reset its drive, to call a waiting task hung, or to stop the guest.
# beside: what may run beside others, so that its CPUs may stand still for seconds: no reason to call them locked up.
# alone: what may not. all: both.
# Beside and alone, in make test, processes have their libraries at the same addresses: an emulated CPU needs a sixth less time for
# them. With all, in make lab, addresses are random as elsewhere.
lab_boot() { # SUITE LABEL [TEST...]
	local suite=$1 label=$2 out=$logs/lab-$1-$2.log waiting="sysctl.kernel.hung_task_timeout_secs=0"
	shift 2
	(
		case $label in
		icount) export ICOUNT=1 SMP=1 TIMEOUT=5400 SILENCE=5400 APPEND="jis.icount nvme_core.io_timeout=1000000 $waiting" ;;
		beside) export LAB_PART=beside LAB_SLOW=2 \
			APPEND="norandmaps sysctl.kernel.watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 $waiting" ;;
		alone) export LAB_PART=alone APPEND=norandmaps ;;
		esac
		JIS_TEST_NO_SKIP=$NO_SKIP exec tests/lab/run.sh "$suite" "$@"
	) 2>&1 | tee "$out" | sed -u "s/^/$suite: /"
}

# Of that boot the tests to try again: those which failed, if they are few and it was not for what the kernel said or
# what they left.
lab_again() { # SUITE LABEL
	local out=$logs/lab-$1-$2.log
	[ "$(grep -c '^FAIL ' "$out")" -le 3 ] || return
	! grep -E '^FAIL .*\((the kernel complained|left something behind|the guest ended)' "$out" >/dev/null || return
	sed -n 's/^FAIL \([is]\?[0-9][^ ]*\) (.*/\1/p' "$out"
}

# The results of that boot are added to ours.
lab_count() { # SUITE LABEL
	local out=$logs/lab-$1-$2.log line again t good
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$out" | tail -n 1)
	if [ -z "$line" ]; then
		count "lab-$1-$2" 1 "$out" 0
		return
	fi
	passed=$((passed + $(cut -d' ' -f1 <<<"$line")))
	[ "$(cut -d' ' -f3 <<<"$line")" != 0 ] || return
	mapfile -t again < <(lab_again "$1" "$2")
	if [ ${#again[@]} != "$(cut -d' ' -f3 <<<"$line")" ]; then
		failed=$((failed + $(cut -d' ' -f3 <<<"$line")))
		failures+=("lab-$1-$2")
		return
	fi
	for t in "${again[@]}"; do
		echo "TWICE lab-$1-$2/$t (see above; log $out.1)"
		twice+=("lab-$1-$2/$t")
	done
	cp "$out" "$out.1"
	lab_boot "$1" "$2" "${again[@]}"
	good=$(sed -n 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p' "$out" | tail -n 1)
	passed=$((passed + ${good:-0}))
	failed=$((failed + ${#again[@]} - ${good:-0}))
	[ "${good:-0}" = ${#again[@]} ] || failures+=("lab-$1-$2")
}

# The guests of all suites at the same time: emulated with a thread each, one guest leaves a CPU idle.
lab_boots() { # LABEL TESTS
	local label=$1 tests=$2 suite
	for suite in $lab_ready; do
		# shellcheck disable=SC2086 # names of tests
		lab_boot "$suite" "$label" $tests &
	done
	wait
	for suite in $lab_ready; do lab_count "$suite" "$label"; done
}

# Those with the label icount; in make test a Tomcat's in one suite.
icount_tests=(i300 i305 320)

# The guests' tests that need nothing but a CPU, however slow: they take what the tests on the host leave.
guests_begin() {
	local suite
	rm -f "$logs/one-lane"
	for suite in $lab_ready; do
		chrt --idle 0 tests/run.sh lab-beside "$BUILD" "$suite" &
		guests+=($!)
	done
}

guests_end() {
	local suite
	wait "${guests[@]}"
	for suite in $lab_ready; do
		lab_count "$suite" icount
		lab_count "$suite" beside
	done
}

# The roots, whose JDKs tests on the host use too, and the builds in them.
lab_prepare() { # SUITE
	local out=$logs/lab-$1.log
	echo "lab $1: its packages and a build with them, this takes some minutes"
	scripts/lab/image.sh "$1" >"$out" 2>&1 && scripts/lab/build.sh "$1" >>"$out" 2>&1
}

# In the background: lab_prepared waits.
lab_prepare_all() {
	lab_prepare bookworm &
	preparing_bookworm=$!
	lab_prepare trixie &
	preparing_trixie=$!
}

# Sets lab_ready: the suites which have guests.
lab_prepared() {
	local suite
	lab_ready=
	for suite in bookworm trixie; do
		local job=preparing_$suite
		if wait "${!job}"; then
			lab_ready="$lab_ready $suite"
		else
			count "lab-$suite/prepare" 1 "$logs/lab-$suite.log" 0
		fi
	done
}

case $mode in
unit) run_unit ;;
e2e) run_e2e ;;
e2e-beside) run_e2e beside ;;
check-jni) run_check_jni ;;
lab-beside) # lab_count finds the results in the logs
	[ "${3:?suite}" = trixie ] || icount_tests=(i300 320)
	lab_boot "$3" icount "${icount_tests[@]}"
	# Beside one lane of the host's: two leave them too little to keep their kernels' own times.
	while [ ! -e "$logs/one-lane" ]; do
		kill -0 $PPID 2>/dev/null || exit 1
		sleep 1
	done
	lab_boot "$3" beside
	exit 0
	;;
lab) lab_prepare_all; lab_prepared; lab_boots all ""; lab_boots icount "${icount_tests[*]}" ;;
check) run_lint; run_kmod_check; run_unit; run_e2e ;;
all)
	lab_prepare_all
	make --no-print-directory all tests demo-classes || { echo "the build failed" >&2; wait; echo "0 passed, 1 failed"; exit 1; }
	run_lint; run_kmod_check
	# The roots of the guests are ready now, or not for minutes.
	if [ -n "$(jobs -r)" ]; then
		run_unit; lab_prepared; guests_begin
	else
		lab_prepared; guests_begin; run_unit
	fi
	run_e2e
	# All of them: make check-jni. Beside those that have the option themselves (240, 254, 263, 266, 280 to 282):
	# attached waits, and a server.
	run_check_jni 264 267
	guests_end
	lab_boots alone ""
	;;
*) echo "tests/run.sh: unknown mode $mode" >&2; exit 2 ;;
esac

if [ ${#failures[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failures[*]}"
fi
if [ ${#twice[@]} -gt 0 ]; then
	for t in "${twice[@]}"; do
		[ ! -e "$logs/${t//\//_}.log.1" ] || tail -n 12 "$logs/${t//\//_}.log.1" | sed "s,^,    $t at first: ,"
	done
	printf 'tried twice: %s\n' "${twice[*]}"
fi
[ "$skipped" = 0 ] || echo "$skipped skipped (JIS_TEST_NO_SKIP=1 makes them failures)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
