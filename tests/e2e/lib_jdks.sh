# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests that run on the JDKs this host has: the one in $JAVA, those of /usr/lib/jvm, and those in
# the lab's roots (scripts/lab/image.sh), which run on their own C library.
# Of three releases each test takes one, which one its number tells, so that each release has a third of the tests;
# with JIS_TEST_JDKS=all (make check-jdks), and in a guest, it takes all.

# jdk_wrapper NAME ROOT JAVA: a command that runs a JDK of another root.
jdk_wrapper() {
	local home
	home=$(dirname "$(dirname "$3")")
	mkdir -p "$TESTDIR/jdks"
	printf '#!/bin/sh\nexec %q --library-path %q %q "$@"\n' "$2/lib64/ld-linux-x86-64.so.2" \
		"$2/usr/lib/x86_64-linux-gnu:$home/lib" "$3" >"$TESTDIR/jdks/$1"
	chmod +x "$TESTDIR/jdks/$1"
	echo "$TESTDIR/jdks/$1"
}

# jdk_release COMMAND: the same as its JDK's file tells it, without a JVM, or nothing.
jdk_release() {
	local home
	home=$(readlink -f "$1")
	sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "${home%/bin/java}/release" 2>/dev/null || true
}

# jdk_version COMMAND: its feature release, or nothing where it does not run.
jdk_version() {
	{ "$1" -XshowSettings:properties -version 2>&1 || true; } | sed -n 's/^ *java.specification.version = //p'
}

# jdks [LEAST]: lines "VERSION COMMAND", one for each of the releases 17, 21 and 25 that this test is to run on. TAKE:
# which of them it takes, where the test knows better.
jdks() {
	local number lines least=${1:-17} take=
	number=$(basename "$0")
	number=${number%%_*}
	mapfile -t lines < <(all_jdks "$@")
	if [ "${JIS_TEST_JDKS:-}" != all ] && [ ! -d /lab/job ]; then
		case $number in *[!0-9]* | '') ;; *) take=${TAKE:-$((least + 4 * (10#$number % ((29 - least) / 4))))} ;; esac
	fi
	# None is no silence either, but where it may be so: of those from a certain one on.
	[ ${#lines[@]} -gt 0 ] || [ "$least" -gt 17 ] || lines=("0 there-is-no-JDK")
	# A host without the one it would take has it run on those there are.
	[ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}" | grep "^$take " || printf '%s\n' "${lines[@]}"
}

# all_jdks [LEAST]: the same, of all that are here.
all_jdks() {
	local least=${1:-17} java version root
	local seen=" "
	for java in "${REAL_JAVA:-$JAVA}" /usr/lib/jvm/*/bin/java "${JIS_CACHE:-$HOME/.cache/jis}"/lab/*/buildroot/usr/lib/jvm/*/bin/java; do
		[ -x "$java" ] || continue
		version=$(jdk_release "$java")
		case $version in '') version=$(jdk_version "$java") ;; esac
		case $version in 17 | 21 | 25) ;; *) continue ;; esac
		case $seen in *" $version "*) continue ;; esac
		case $java in
		*/buildroot/*)
			root=${java%%/buildroot/*}/buildroot
			java=$(jdk_wrapper "$(echo "$java" | tr / _)" "$root" "$java")
			[ "$(jdk_version "$java")" = "$version" ] || continue
			;;
		esac
		seen="$seen$version "
		[ "$version" -lt "$least" ] || echo "$version $(check_jni "$java")"
	done
	# A host has the other release's in its lab. One that is not there is no silence: a test of it fails.
	[ "${JIS_TEST_NO_SKIP:-0}" = 1 ] && [ ! -d /lab/job ] || return 0
	for version in 17 21 25; do
		case $seen in *" $version "*) continue ;; esac
		[ "$version" -lt "$least" ] || echo "$version there-is-no-JDK-$version"
	done
}
