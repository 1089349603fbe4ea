#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# make lab-debug: the guest tests of the module, each allocation failing once, and the stress test, on kernels that
# check themselves: all of it with KASAN; the stress test on 2 and on 4 CPUs, with KASAN and with KCSAN. Hours under emulation.
# With KASAN also how much of the control path the fuzzer reaches, and whether it finds a bug that is planted. On 72 CPUs of
# two NUMA nodes what may depend on their number, and where the kernel is locked down, with trixie's own kernel; and
# the module's tests with the newest kernel that Debian has.
# Usage: scripts/lab/debug.sh [kasan] [kcsan] [wide] [newest]
# STRESS_SECONDS (1200) and STRESS_EVENTS (100 million) are the least the stress test does. Its seconds are the guest's,
# 1,000 million instructions each (with KCSAN 500): a slow kernel under the host's clock spends it on its ticks. More
# than an hour on a core each, with KCSAN two and three. KCSAN watches fewer accesses than it would, each for a shorter while: a CPU that
# only waits for another to race with it is emulated too, and took half of the time.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ $# -gt 0 ] || set -- wide newest kasan kcsan
failed=0

run()	# CPUS SUITE TEST...
{
	echo "== $2, $1 CPUs: ${*:3}"
	SMP=$1 JIS_TEST_NO_SKIP=1 tests/lab/run.sh "${@:2}" || failed=1
}

stress()	# CPUS SUITE SHIFT
{
	(
		export ICOUNT=1 ICOUNT_SHIFT=$3 STRESS_ROUND=60 STRESS_SECONDS=${STRESS_SECONDS:-1200}
		export APPEND="nvme_core.io_timeout=1000000 sysctl.kernel.hung_task_timeout_secs=0"
		[ "$2" != kcsan ] || APPEND+=" kcsan.skip_watch=32000 kcsan.udelay_task=20 kcsan.udelay_interrupt=10"
		run "$1" "$2" s560
		exit "$failed"
	) || failed=1
}

for suite; do
	case $suite in
	wide)
		scripts/lab/build.sh trixie
		MEM=4096 NODES=2 LAB_SLOW=5 run 72 trixie 120 130 150 210 450 454 s570
		run 2 trixie s564
		continue ;;
	newest)
		JIS_TEST_NO_SKIP=1 LAB_SLOW=2 scripts/lab/other-kernel.sh sid '1[0-9][0-9]' '2[0-2][0-9]' '4[0-6][0-9]' \
			'5[0-5][0-9]' || failed=1
		continue ;;
	esac
	scripts/lab/debug-kernel.sh "$suite"
	scripts/lab/build.sh "$suite"
	case $suite in
	kasan)
		# those with a JVM show nothing here that they do not elsewhere
		run 2 kasan '1[02-9][0-9]' 110 '2[0-9][0-9]' '4[0-6][0-9]' '5[2-9][0-9]' # not 115: it has no /proc/kcore
		run 2 kasan s562
		tests/lab/coverage.sh || failed=1
		tests/lab/planted.sh || failed=1
		stress 2 kasan 0
		stress 4 kasan 0 ;;
	kcsan)
		stress 2 kcsan 1
		stress 4 kcsan 1 ;;
	esac
done
exit "$failed"
