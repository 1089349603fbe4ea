#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install: what is there works from where it is installed and nowhere else; the module's source is whole by itself,
# as DKMS needs it; make uninstall leaves no file behind. Into a folder (DESTDIR), so the machine is not touched.
. "$(dirname "$0")/lib.sh"
top=$(cd "$here/../.." && pwd)
cd "$TESTDIR" || exit 1
version=$(cat "$top/VERSION")

ours() { find /usr/src /usr/lib/udev /usr/lib/sysusers.d /usr/local -name '*jis*' -printf '%p %T@ %s\n' 2>/dev/null | sort || true; }
before=$(ours)
umask 002 # whatever who installs has
BUILD=$BUILD DESTDIR=$PWD/root PREFIX=/opt/jis "$top/scripts/install.sh" >said || fail "make install: $(cat said)"
find root -type f -o -type l | sort >installed
[ "$(root/opt/jis/bin/jis --version)" = "$("$JIS" --version)" ] || fail "the installed tool does not run"
find root -type f \( -perm /022 -o -perm /6000 \) -print | grep . && fail "too many may write these"

# A program of somebody else's, with the library; the tool's own agent.
cat >own.c <<-'C'
	#include <stdio.h>
	#include "jisctl.h"
	int main(void) { printf("%s\n", jisctl_version()); return 0; }
C
cc -I root/opt/jis/include/jis own.c -o own -L root/opt/jis/lib -ljisctl || fail "the installed header and library do not do"
LD_LIBRARY_PATH=$PWD/root/opt/jis/lib ./own || fail "what uses the library does not run"
root/opt/jis/bin/jis doctor >doctor || true
agent=$(sed -n 's/^agent  *ok  *//p' doctor)
[ "$(realpath "$agent")" = "$PWD/root/opt/jis/lib/jis/libjisagent.so" ] || fail "it does not find its own agent: $(grep ^agent doctor)"

# The module's source: each object has a source, each header of ours is there, DKMS knows the version.
src=root/usr/src/jis-$version
for o in $(sed -n '/^jis-y/,/[^\\]$/p' "$src/Kbuild" | grep -o '[a-z_]*\.o'); do
	[ -f "$src/${o%.o}.c" ] || fail "no source of $o in $src"
	objects=$((${objects:-0} + 1))
done
[ "${objects:-0}" -gt 10 ] || fail "Kbuild has ${objects:-0} objects"
grep -ho '^#include "[^"]*"' "$src"/*.[ch] | sort -u | sed 's/.*"\(.*\)"/\1/' | while read -r h; do
	[ "$h" = jis_config.h ] || [ -f "$src/$h" ] || [ -f "$src/include/$h" ] || { echo "$h"; exit 1; }
done || fail "a header is missing in $src"
grep -qx "PACKAGE_VERSION=\"$version\"" "$src/dkms.conf" || fail "dkms.conf: $(cat "$src/dkms.conf")"
grep -q 'GROUP="jis", MODE="0660"' root/usr/lib/udev/rules.d/60-jis.rules || fail "the rule of the device"
grep -qx 'g jis -' root/usr/lib/sysusers.d/jis.conf || fail "the group of the device"

BUILD=$BUILD DESTDIR=$PWD/root PREFIX=/opt/jis "$top/scripts/install.sh" --uninstall >said || fail "make uninstall: $(cat said)"
find root -type f -o -type l | grep . && fail "make uninstall leaves these"
[ "$before" = "$(ours)" ] || fail "the machine was touched: $(ours)"
echo "$(wc -l <installed) files"
