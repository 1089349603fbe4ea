# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What guest tests share: verdicts, waiting for a condition, and a Tomcat with the
# distribution's examples. A test is a bash script NNN_name.sh that sources this
# file and ends with status 0 (pass), 77 (skip, by `skip`) or anything else (fail).
#
# Given by the driver: JIS (the tool), JIS_BUILD (the build folder, with agent, jars
# and kmod/jis.ko), LAB_OUT (folder of the test; what is left there comes out) and
# LAB_TMP (a scratch folder), LAB_SLOW (how many times slower than others the kernel is). All processes a test leaves are killed after it.

set -u

# The least a JVM needs to start under emulation; not for tests of the compilers.
# shellcheck disable=SC2034
jvm_fast=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

ok()
{
	echo "ok: $*"
}

fail()
{
	echo "failed: $*"
	exit 1
}

skip()
{
	echo "skipped: $*"
	exit 77
}

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds; fails the test when it does not in time.
wait_for()
{
	local end=$((SECONDS + $1 * ${LAB_SLOW:-1})) what=$2

	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "$what did not happen in time ($*)"
		sleep 0.05
	done
}

# load_module [PARAMETER...]: puts jis.ko in.
load_module()
{
	insmod "$JIS_BUILD/kmod/jis.ko" "$@" || fail "jis.ko cannot be loaded: $(dmesg | tail -n 5)"
	[ -c /dev/jis ] || fail "jis.ko is loaded, but there is no /dev/jis"
}

# e2e NAME [VARIABLE=VALUE...]: runs tests/e2e/NAME.sh here; its status is this test's. What a failed one recorded comes out.
e2e()
{
	local name=$1 status=0 trace

	shift
	env BUILD="$JIS_BUILD" TESTDIR="$LAB_TMP" JAVA="$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java")" "$@" \
		bash /lab/job/tree/tests/e2e/"$name.sh" || status=$?
	[ $status = 0 ] || [ $status = 77 ] || for trace in "$LAB_TMP"/*/manifest.json; do
		trace=${trace%/*}
		[ ! -d "$trace" ] || [ "$(du -sm "$trace" | cut -f1)" -gt 100 ] || cp -r "$trace" "$LAB_OUT/$name-${trace##*/}"
	done
	return $status
}
