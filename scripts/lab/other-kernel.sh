#!/bin/bash
# SPDX-License-Identifier: MIT
#
# other-kernel.sh bullseye|sid [TEST]...: runs guest tests (as tests/lab/run.sh takes them) with a kernel that `make test`
# has not: the oldest the module is for, bullseye's (5.10) in the image of bookworm, or the newest that Debian
# offers, sid's in that of trixie; the cloud flavour of each. Not part of `make lab`: it takes 700 MB of headers
# and compiler (those of `make matrix`) and another 800 MB; of bullseye's tests that need newer kernels fail or skip.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

other=${1:-}
case $other in
bullseye) lab_suite bookworm ;;
sid) lab_suite trixie ;;
*) die "usage: other-kernel.sh bullseye|sid [TEST]..." ;;
esac
lab_need debugfs=e2fsprogs apt-get=apt dpkg-deb=dpkg chroot=coreutils
lab_as_root "$0" "$@"
shift
[ $# != 0 ] || set -- 100 105 110 115 120 130 160 170 180 190 200 210

cache=${lab_cache%/lab/*}
root=$cache/matrix/$other
to=$cache/other-$other
work=$(mktemp -d)
trap 'lab_unmount "$root/proc" "$root/dev"; rm -rf "$work"' EXIT

"$lab_dir/image.sh" "$suite"
"$lab_dir/build.sh" "$suite"
[ -d "$root/usr" ] || "$lab_dir/matrix.sh" -o "$work/kernels.md" "$other"
release=$(cd "$root/usr/src" && echo linux-headers-*-cloud-amd64)
release=${release#linux-headers-}
vmlinuz=$to/vmlinuz-$release

# The packages that hold a kernel and its modules: one, of newer kernels two.
kernel_packages()
{
	case $other in
	bullseye) echo "linux-image-$release-unsigned" ;;
	sid) echo "linux-binary-$release" "linux-modules-$release" ;;
	esac
}

# Kernel and modules, unpacked below $to/kernel.
get_kernel()
{
	local packages deb

	[ ! -f "$vmlinuz" ] || return 0
	apt_setup "$work/apt" "$other" plain
	read -ra packages < <(kernel_packages)
	(cd "$work" && apt-get -qq download "${packages[@]}") || die "apt cannot fetch the kernel $release (see above)"
	rm -rf "$to/kernel"
	mkdir -p "$to/kernel"
	for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$to/kernel"; done
	cp "$(find "$to/kernel" -name "vmlinuz*" -type f | head -n 1)" "$vmlinuz.new"
	mv "$vmlinuz.new" "$vmlinuz"
}

# The suite's image with what its drives and tests need of those modules, below $to/lab as the lab expects it.
make_image()
{
	local lab=$to/lab/$suite mods=$work/modules f

	mkdir -p "$lab" "$mods/lib/modules/$release"
	for f in kernel-release vmlinuz guest.key buildroot.key; do
		cp "$lab_cache/$f" "$lab/"
	done
	touch "$lab/lock"
	ln -sfn "$lab_cache/buildroot" "$lab/buildroot"
	cp --sparse=always "$lab_cache/guest.ext4" "$lab/guest.ext4"
	find "$to/kernel" -name 'virtio*.ko*' -exec cp {} "$mods/lib/modules/$release/" \;
	find "$mods" -name '*.xz' -exec xz -d {} +
	rm -rf "$root/tmp/other"
	mkdir -p "$root/tmp"
	cp -r "$mods" "$root/tmp/other"
	chroot "$root" /sbin/depmod -b /tmp/other "$release" 2>/dev/null
	cp "$root/tmp/other/lib/modules/$release"/modules.* "$mods/lib/modules/$release/"
	rm -rf "$root/tmp/other"
	{
		echo "cd /usr/lib/modules"
		echo "mkdir $release"
		echo "cd $release"
		for f in "$mods/lib/modules/$release"/*; do
			echo "write $f ${f##*/}"
		done
	} >"$work/commands"
	debugfs -w -f "$work/commands" "$lab/guest.ext4" >"$work/debugfs" 2>&1
	! grep -v '^debugfs\|^Allocated' "$work/debugfs" || die "cannot write into $lab/guest.ext4 (see above)"
}

build_modules()
{
	local m src=$root/src/other log=$work/build.log

	rm -rf "$src" "$src-lab"
	mkdir -p "$src" "$src-lab" "$work/extra/build/kmod" "$work/extra/build/kmod-lab"
	cp "$lab_top"/kmod/*.[ch] "$lab_top/kmod/Kbuild" "$lab_top/VERSION" "$src/"
	cp -r "$lab_top/include" "$src/include"
	cp "$lab_top"/tests/lab/kmod/*.c "$lab_top/tests/lab/kmod/Kbuild" "$src-lab/"
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	for m in "$src" "$src-lab"; do
		chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C \
			make -j"$(nproc)" -C "/usr/src/linux-headers-$release" M="/${m#"$root/"}" modules >"$log" 2>&1 ||
			{ tail -n 20 "$log" >&2; die "${m##*/}: does not build for $release"; }
	done
	cp "$src/jis.ko" "$work/extra/build/kmod/"
	cp "$src-lab"/*.ko "$work/extra/build/kmod-lab/"
	rm -rf "$src" "$src-lab"
}

get_kernel
make_image
build_modules
say "guest tests with $release"
JIS_CACHE=$to KERNEL=$vmlinuz LAB_EXTRA=$work/extra "$lab_top/tests/lab/run.sh" "$suite" "$@"
