#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make kmod-check: the module under sparse and checkpatch --strict. What either says is an error, and so is a tool
# that is missing. kmod/.checkpatch.conf has the options and what is left out, with the reasons.
# sparse sees the module as Kbuild compiles it for KDIR; checkpatch.pl is taken once from Debian 12's package of the
# kernel's source (140 MB; versions differ in what they say), into ${JIS_CACHE:-~/.cache/jis}/checkpatch.
# Usage: scripts/kmod-check.sh BUILD [KDIR]
set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lab/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

build=$(mkdir -p "${1:?build directory}" && cd "$1" && pwd)
kdir=${2:-}
lab_need sparse=sparse perl=perl make=make gcc=gcc flock=util-linux apt-get=apt dpkg-deb=dpkg

# The headers to compile against: those named, of the running kernel, or else the newest there are.
find_headers()
{
	local d

	[ -z "$kdir" ] || return 0
	for d in "/lib/modules/$(uname -r)/build" $(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -rV); do
		if [ -f "$d/.config" ]; then
			kdir=$d
			return
		fi
	done
	die "there are no headers of a kernel: make setup, or name some with KDIR="
}

# Into $checkpatch.
find_checkpatch()
{
	local cache=${JIS_CACHE:-${HOME:?HOME is not set: set it, or JIS_CACHE}/.cache/jis}/checkpatch package work

	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	checkpatch=$cache/scripts/checkpatch.pl
	[ ! -f "$checkpatch" ] || return 0
	rm -rf "$cache"/new.*
	work=$(mktemp -d "$cache/new.XXXXXX")
	apt_setup "$work/apt" bookworm plain
	package=$(apt-cache depends linux-source | sed -n 's/.*Depends: \(linux-source-[0-9.]*\)$/\1/p')
	say "taking checkpatch.pl from $package"
	(cd "$work" && apt-get -qq download "$package") || die "apt cannot fetch $package (see above)"
	dpkg-deb --fsys-tarfile "$work/$package"_*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$work" --strip-components=1 "$package/scripts/checkpatch.pl" \
			"$package/scripts/spelling.txt" "$package/scripts/const_structs.checkpatch"
	rm -rf "$cache/scripts"
	mv "$work/scripts" "$cache/scripts"
	rm -rf "$work"
}

# Its own lines only: what sparse says of the kernel's headers is not ours to mend.
run_sparse()
{
	local tree=$build/kmod-check log=$build/kmod-check.log

	rm -rf "$tree"
	mkdir -p "$tree"
	cp "$lab_top"/kmod/*.[ch] "$lab_top/kmod/Kbuild" "$lab_top/VERSION" "$tree/"
	cp -r "$lab_top/include" "$tree/include"
	make -j"$(nproc)" -C "$kdir" M="$tree" C=2 CHECK=sparse modules >"$log" 2>&1 ||
		{ tail -n 20 "$log"; die "the module does not compile against $kdir: $log"; }
	checked=$(grep -c '^ *CHECK .*/kmod-check/' "$log") || :
	[ "$checked" = "$(grep -o '[a-z]*\.o' <<<"$(sed -n '/^jis-y/,/[^\\]$/p' "$lab_top/kmod/Kbuild")" | wc -l)" ] ||
		die "sparse has seen $checked files, not all of the module's: $log"
	! grep -E "(^|/)kmod-check/[^:]*:[0-9]+:[0-9]+: (warning|error)|: warning: .*(kmod-check/)" "$log"
}

run_checkpatch()
{
	local log=$build/checkpatch.log bad=0

	cd "$lab_top/kmod" # where its configuration is
	# its status is that of the last file: what it prints counts
	perl "$checkpatch" --terse -f ./*.[ch] >"$log" 2>&1 || bad=1
	grep -v '^total: ' "$log" && bad=1
	[ $bad = 0 ]
}

find_headers
find_checkpatch
bad=0
run_sparse || bad=1
run_checkpatch || bad=1
[ $bad = 0 ] || die "sparse or checkpatch has complaints (see above)"
echo "kmod-check: $checked files clean under sparse ($(basename "$kdir")) and checkpatch --strict"
