#!/bin/bash
# SPDX-License-Identifier: MIT
#
# debug-kernel.sh kasan|kcsan: builds a kernel that checks itself, of Debian trixie's source and with
# its compiler, for the guest lab, in ${JIS_CACHE:-~/.cache/jis}/debug/:
#
#   kasan.bzImage, kcsan.bzImage    what boots (boot.sh kasan)
#   root/debug/linux                the source, unpacked
#   root/debug/kasan, .../kcsan     what modules are built against (build.sh kasan)
#   root/                           the compiler and tools, for chroot
#
# The options are tests/lab/kernel/debug.config and that of the variant, over tinyconfig; one that the kernel
# does not take is an error. A kernel is made again when they change, and all of it when debug/ is removed.
# Takes 10 to 30 minutes on two CPUs, 5 GB, and 300 MB of packages.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

lab_suite "${1:-}"
[ -n "$lab_debug" ] || die "usage: debug-kernel.sh kasan|kcsan"
lab_need apt-get=apt dpkg-deb=dpkg chroot=coreutils flock=util-linux

version=6.12
packages=(base-files base-passwd bash bc binutils bison coreutils cpio dash diffutils findutils flex gcc grep
	gzip kmod libc-bin libc6-dev libelf-dev libssl-dev "linux-source-$version" make mawk perl sed tar xz-utils)
root=$lab_debug/root
configs=("$lab_top/tests/lab/kernel/debug.config" "$lab_top/tests/lab/kernel/$suite.config")

kernel_key()
{
	{ echo "$version"; cat "${configs[@]}"; } | sha256sum
}

is_current()
{
	[ -f "$lab_kernel" ] && [ "$(cat "$lab_debug/$suite.key" 2>/dev/null)" = "$(kernel_key)" ]
}

! is_current || exit 0
lab_as_root "$0" "$@"

# one builds a kernel, the others wait; builds of modules for it hold its lock shared
mkdir -p "$lab_debug"
exec 9>"$lab_debug/$suite.lock"
flock -n 9 || { say "$suite: waiting for another build of the kernel"; flock 9; }
! is_current || exit 0

in_root()
{
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 "$@" 9>&-
}

# Compiler, tools and the kernel's source.
make_root()
{
	local new=$lab_debug/root.new

	[ ! -e "$root/debug/linux/Makefile" ] || return 0
	rm -rf "$new" "$root"
	mkdir -p "$new"
	apt_setup "$lab_debug/apt" trixie
	apt_unpack "$new" "${packages[@]}"
	mkdir -p "$new"/{proc,dev,tmp,debug/linux}
	ln -sf mawk "$new/usr/bin/awk"
	ln -sf bash "$new/usr/bin/sh"
	chroot "$new" /usr/sbin/ldconfig
	tar -xJf "$new/usr/src/linux-source-$version.tar.xz" --no-same-owner --strip-components=1 -C "$new/debug/linux"
	rm "$new/usr/src/linux-source-$version.tar.xz"
	mv "$new" "$root"
	apt-get -qq clean
}

# Prints the options asked for that the kernel has otherwise.
refused_options()
{
	awk -F = '
		!/^CONFIG_/ { next }
		{ value = substr($0, length($1) + 2) }
		NR == FNR { has[$1] = value; next }
		{ want[$1] = value } # that of the variant comes last
		END {
			for (option in want) {
				is = option in has ? has[option] : "n"
				if (is != want[option]) print option " is " is ", not " want[option]
			}
		}' "$root/debug/$suite/.config" "${configs[@]}"
}

configure()
{
	local refused

	rm -rf "$root/debug/$suite"
	mkdir -p "$root/debug/$suite"
	in_root make -s -C /debug/linux O="/debug/$suite" tinyconfig
	cat "${configs[@]}" >>"$root/debug/$suite/.config"
	in_root make -s -C /debug/linux O="/debug/$suite" olddefconfig 2>/dev/null
	refused=$(refused_options)
	[ -z "$refused" ] || die "$suite: options that linux $version does not take: ${refused//$'\n'/, }"
}

# Objects are no longer needed once it is linked; what modules are built with stays.
build()
{
	local log=$lab_debug/$suite.log

	say "$suite: building Linux $version (log: $log)"
	in_root make -C /debug/linux O="/debug/$suite" -j"$(nproc)" bzImage modules >"$log" 2>&1 ||
		die "$suite: the kernel does not build: $(grep -m 3 -B 2 -A 5 'rror' "$log" || tail -n 5 "$log")"
	[ -s "$root/debug/$suite/Module.symvers" ] || die "$suite: the build left no Module.symvers"
	find "$root/debug/$suite" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name 'vmlinux.unstripped' \) \
		-not -path '*/scripts/*' -not -path '*/tools/*' -delete
	cp "$root/debug/$suite/arch/x86/boot/bzImage" "$lab_kernel.new"
	mv "$lab_kernel.new" "$lab_kernel"
	kernel_key >"$lab_debug/$suite.key"
}

(flock 6; make_root) 6>"$lab_debug/root.lock"
trap 'lab_unmount "$root/proc" "$root/dev"' EXIT
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
rm -f "$lab_debug/$suite.key"
configure
build
say "$suite: ready in $lab_debug ($SECONDS s), kernel $(cat "$root/debug/$suite/include/config/kernel.release")"
