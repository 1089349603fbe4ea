#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install / make uninstall: tool, agent, library, headers, man pages, views; the module's source for
# DKMS, its udev rule and group. As root on the machine itself (no DESTDIR), and where dkms is installed,
# the module is built and installed for the running kernel too.
# Environment: BUILD, DESTDIR, PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
prefix=${DESTDIR:-}${PREFIX:-/usr/local}
version=$(cat VERSION)

files() { # SOURCE TARGET-BELOW-PREFIX MODE, one a line
	local m
	printf '%s\n' "$BUILD/jis bin/jis 755" \
		"$BUILD/libjisagent.so lib/jis/libjisagent.so 755" \
		"$BUILD/jis-markers.jar share/jis/jis-markers.jar 644" \
		"$BUILD/libjisctl.so.0 lib/libjisctl.so.0 755" \
		"libjisctl/jisctl.h include/jis/jisctl.h 644" \
		"libjisctl/writer.h include/jis/writer.h 644" \
		"include/jis/abi.h include/jis/abi.h 644" \
		"include/jis/events.h include/jis/events.h 644" \
		"include/jis/agent.h include/jis/agent.h 644" \
		"$BUILD/libjista.a lib/libjista.a 644" \
		"include/jis/jta.h include/jis/jta.h 644" \
		"calltree/jta_read.h include/jis/jta_read.h 644" \
		"calltree/jta_names.h include/jis/jta_names.h 644"
	for m in paraver-export/cfg/*.cfg; do
		printf '%s share/jis/cfg/%s 644\n' "$m" "${m##*/}"
	done
	for m in man/*.[1-8]; do
		printf '%s share/man/man%s/%s 644\n' "$m" "${m##*.}" "${m##*/}"
	done
}

# Where the system looks for these, whatever the prefix is.
kmod_source=${DESTDIR:-}/usr/src/jis-$version
udev_rule=${DESTDIR:-}/usr/lib/udev/rules.d/60-jis.rules
sysusers=${DESTDIR:-}/usr/lib/sysusers.d/jis.conf

on_this_machine() { [ -n "${DESTDIR:-}" ] || [ "$(id -u)" != 0 ] || "$@"; }

# Both in force now, not at the next start. In a container there may be no udev.
group_and_rule() {
	if ! command -v systemd-sysusers >/dev/null; then
		echo "install: there is no systemd-sysusers: the device's group is made by: groupadd --system jis"
	elif ! systemd-sysusers "$sysusers"; then
		echo "install: the device's group could not be made (see above): groupadd --system jis"
	fi
	[ -S /run/udev/control ] || return 0
	udevadm control --reload && udevadm trigger --action=change --sysname-match=jis ||
		echo "install: udev did not take its rule (see above): it holds from the next start on"
}

have_dkms() { [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] && command -v dkms >/dev/null; }

install_module() {
	local kernel

	rm -rf "$kmod_source"
	install -d "$kmod_source/include/jis"
	install -m 644 kmod/*.[ch] kmod/Kbuild VERSION LICENSES/GPL-2.0-only.txt "$kmod_source"
	install -m 644 include/jis/*.h "$kmod_source/include/jis"
	sed "s/@VERSION@/$version/" kmod/dkms.conf >"$kmod_source/dkms.conf"
	install -D -m 644 kmod/60-jis.rules "$udev_rule"
	install -D -m 644 kmod/sysusers.conf "$sysusers"
	on_this_machine group_and_rule
	if ! have_dkms; then
		echo "install: the module's source is in $kmod_source; with Debian's package dkms: dkms install jis/$version"
		return
	fi
	kernel=$(uname -r)
	if [ ! -d "/lib/modules/$kernel/build" ]; then
		dkms add "jis/$version"
		echo "install: no headers of the running kernel $kernel: install them, then: dkms autoinstall"
		return
	fi
	dkms install --force "jis/$version"
	echo "install: load the module with: modprobe jis"
}

uninstall_module() {
	! have_dkms || dkms remove "jis/$version" --all || true
	rm -rf "$kmod_source"
	rm -f "$udev_rule" "$sysusers"
	[ -n "${DESTDIR:-}" ] || [ ! -S /run/udev/control ] || udevadm control --reload || true
}

if [ "${1:-}" = --uninstall ]; then
	BUILD=${BUILD:-build}
	uninstall_module
	files | while read -r _ target _; do rm -f "$prefix/$target"; done
	rm -f "$prefix/lib/libjisctl.so" "$prefix/lib/pkgconfig/libjisctl.pc"
	for d in share/jis/cfg share/jis lib/jis include/jis; do
		[ ! -d "$prefix/$d" ] || rmdir --ignore-fail-on-non-empty "$prefix/$d"
	done
	exit
fi

[ -x "$BUILD/jis" ] || { echo "install: $BUILD/jis is not there: run make first" >&2; exit 1; }
files | while read -r source target mode; do install -D -m "$mode" "$source" "$prefix/$target"; done
ln -sf libjisctl.so.0 "$prefix/lib/libjisctl.so"
mkdir -p "$prefix/lib/pkgconfig"
cat >"$prefix/lib/pkgconfig/libjisctl.pc" <<PC
prefix=${PREFIX:-/usr/local}
Name: libjisctl
Description: Records what the kernel does with the threads of chosen processes
Version: $version
Libs: -L\${prefix}/lib -ljisctl
Cflags: -I\${prefix}/include/jis
PC
install_module
