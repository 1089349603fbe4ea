#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install / make uninstall: tool, agent, library, headers, man pages, views.
# Environment: BUILD, DESTDIR, PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."
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
		"include/jis/agent.h include/jis/agent.h 644"
	for m in paraver-export/cfg/*.cfg; do
		printf '%s share/jis/cfg/%s 644\n' "$m" "${m##*/}"
	done
	for m in man/*.[1-8]; do
		printf '%s share/man/man%s/%s 644\n' "$m" "${m##*.}" "${m##*/}"
	done
}

if [ "${1:-}" = --uninstall ]; then
	BUILD=${BUILD:-build}
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
