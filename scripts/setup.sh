#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what building, testing and the demo need: Debian packages and nothing else. Does nothing
# when all are there. Also mounts tracefs, which the ftrace backend reads. Usage: setup.sh [languages]
set -euo pipefail

fail() {
	echo "setup: $*" >&2
	exit 1
}

[ -r /etc/os-release ] || fail "no /etc/os-release: this needs Debian 12 or 13"
. /etc/os-release
case ${ID:-}:${VERSION_ID:-} in
debian:12) packages="openjdk-17-jdk-headless tomcat10 tomcat10-examples" ;;
debian:13) packages="openjdk-21-jdk-headless openjdk-25-jdk-headless tomcat10 tomcat10-examples" ;;
*) fail "this is ${PRETTY_NAME:-an unknown system}: only Debian 12 and 13 are supported" ;;
esac
# Servers that tests record.
packages="$packages libderby-java libderbyclient-java libh2-java libactivemq-java"
# Agents and languages whose classes are rewritten; the argument `languages` adds the large ones.
optional="libjacoco-java libbyte-buddy-java clojure groovy"
[ "${1:-}" != languages ] || optional="$optional jruby kotlin scala"
packages="$packages gcc clang make libc6-dev pkg-config git check libjson-c-dev zlib1g-dev libelf-dev
	clang-format shellcheck sparse mandoc binutils babeltrace2 python3-minimal procps iproute2 util-linux
	curl wrk time kmod openssl linux-headers-cloud-amd64 perl bc xz-utils zstd cpio e2fsprogs debian-archive-keyring qemu-system-x86"

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed$'; }

missing=() absent=()
for p in $packages; do installed "$p" || missing+=("$p"); done
for p in $optional; do installed "$p" || absent+=("$p"); done
if [ $((${#missing[@]} + ${#absent[@]})) -gt 0 ]; then
	[ "$(id -u)" = 0 ] || fail "as root: apt-get install ${missing[*]} ${absent[*]}"
	echo "setup: installing ${missing[*]} ${absent[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update || fail "apt-get update failed: check the network and /etc/apt/sources.list"
	# What a release of Debian does not have is done without: its tests are skipped.
	for p in "${absent[@]}"; do
		[ -z "$(apt-cache search --names-only "^$p\$")" ] || missing+=("$p")
	done
	# No service may start on its own here: the demo runs its own Tomcat.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod +x $policy
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	fi
	apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null ||
		fail "apt-get install failed: run it by hand to see why: apt-get install ${missing[*]}"
fi

if [ ! -e /sys/kernel/tracing/trace_clock ] && [ "$(id -u)" = 0 ]; then
	mount -t tracefs tracefs /sys/kernel/tracing || echo "setup: cannot mount tracefs (see above;" \
		"a container must be privileged): without it or jis.ko nothing can be recorded here" >&2
fi
