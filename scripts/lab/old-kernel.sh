#!/bin/bash
# SPDX-License-Identifier: MIT
#
# old-kernel.sh [TEST]...: runs guest tests (as tests/lab/run.sh takes them) with the oldest kernel the module is for,
# the cloud flavour of Debian bullseye (5.10), in the image of bookworm. Not part of `make lab`: it takes 700 MB of
# headers and compiler (those of `make matrix`) and another 800 MB, and tests that need newer kernels fail or skip.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

lab_suite bookworm
lab_need debugfs=e2fsprogs apt-get=apt dpkg-deb=dpkg chroot=coreutils
lab_as_root "$0" "$@"
[ $# != 0 ] || set -- 100 105 110 115 120 130 160 170 180 190 200 210

cache=${lab_cache%/lab/*}
root=$cache/matrix/bullseye
old=$cache/old
work=$(mktemp -d)
trap 'lab_unmount "$root/proc" "$root/dev"; rm -rf "$work"' EXIT

"$lab_dir/image.sh" bookworm
"$lab_dir/build.sh" bookworm
[ -d "$root/usr" ] || "$lab_dir/matrix.sh" -o "$work/kernels.md" bullseye
release=$(cd "$root/usr/src" && echo linux-headers-*-cloud-amd64)
release=${release#linux-headers-}

# The kernel, and the modules its drives need, unpacked below $old/kernel.
get_kernel()
{
	[ ! -f "$old/kernel/boot/vmlinuz-$release" ] || return 0
	apt_setup "$work/apt" bullseye plain
	(cd "$work" && apt-get -qq download "linux-image-$release-unsigned") ||
		die "apt cannot fetch the kernel $release (see above)"
	rm -rf "$old/kernel"
	mkdir -p "$old/kernel"
	dpkg-deb -x "$work"/linux-image-*.deb "$old/kernel"
}

# The image of bookworm with those modules, below $old/lab as the lab expects it.
make_image()
{
	local to=$old/lab/bookworm from=$lab_cache mods=$work/modules f

	mkdir -p "$to" "$mods/lib/modules/$release"
	for f in kernel-release vmlinuz guest.key buildroot.key; do
		cp "$from/$f" "$to/"
	done
	touch "$to/lock"
	ln -sfn "$from/buildroot" "$to/buildroot"
	cp --sparse=always "$from/guest.ext4" "$to/guest.ext4"
	find "$old/kernel/lib/modules/$release" -name 'virtio*.ko' -exec cp {} "$mods/lib/modules/$release/" \;
	rm -rf "$root/tmp/old"
	mkdir -p "$root/tmp"
	cp -r "$mods" "$root/tmp/old"
	chroot "$root" /sbin/depmod -b /tmp/old "$release" 2>/dev/null
	cp "$root/tmp/old/lib/modules/$release"/modules.* "$mods/lib/modules/$release/"
	rm -rf "$root/tmp/old"
	{
		echo "cd /usr/lib/modules"
		echo "mkdir $release"
		echo "cd $release"
		for f in "$mods/lib/modules/$release"/*; do
			echo "write $f ${f##*/}"
		done
	} >"$work/commands"
	debugfs -w -f "$work/commands" "$to/guest.ext4" >"$work/debugfs" 2>&1
	! grep -v '^debugfs\|^Allocated' "$work/debugfs" || die "cannot write into $to/guest.ext4 (see above)"
}

build_module()
{
	local src=$root/src/old log=$work/build.log

	rm -rf "$src"
	mkdir -p "$src" "$work/extra/build/kmod"
	cp "$lab_top"/kmod/*.[ch] "$lab_top/kmod/Kbuild" "$lab_top/VERSION" "$src/"
	cp -r "$lab_top/include" "$src/include"
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C \
		make -j"$(nproc)" -C "/usr/src/linux-headers-$release" M=/src/old modules >"$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; die "the module does not build for $release"; }
	cp "$src/jis.ko" "$work/extra/build/kmod/"
	rm -rf "$src"
}

get_kernel
make_image
build_module
say "guest tests with $release"
JIS_CACHE=$old KERNEL=$old/kernel/boot/vmlinuz-$release LAB_EXTRA=$work/extra \
	"$lab_top/tests/lab/run.sh" bookworm "$@"
