#!/bin/bash
# SPDX-License-Identifier: MIT
#
# image.sh SUITE: makes what the guest lab needs of a Debian suite (bookworm or
# trixie) out of Debian packages, in ${JIS_CACHE:-~/.cache/jis}/lab/SUITE/:
#
#   guest.ext4      root image of the guest (boot.sh never writes to it)
#   vmlinuz         its kernel; kernel-release holds the kernel's name
#   buildroot/      the suite's compiler, kernel headers, libraries and JDK,
#                   unpacked, for chroot (build.sh)
#
# Packages are resolved and fetched by apt with a configuration and state of its
# own, from the mirrors the host's apt uses, and only unpacked: no maintainer
# script runs. Each result is made again only when its package list, this file or
# apt.sh changed; remove the suite's folder to get newer packages. Any number of calls
# may run at once; one builds, the others wait.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

lab_suite "${1:-}"
lab_need apt-get=apt dpkg-deb=dpkg mke2fs=e2fsprogs flock=util-linux chroot=coreutils
[ "$(id -u)" = 0 ] || lab_as_root "$0" "$@"

base_packages=(base-files base-passwd bash coreutils dash diffutils findutils grep gzip
	hostname kmod libc-bin mawk mount procps sed tar util-linux)
guest_packages=("${base_packages[@]}" babeltrace2 curl iproute2 libasan8 libjson-c5
	libzstd1 linux-image-cloud-amd64 linux-perf python3 wrk zlib1g)
build_packages=("${base_packages[@]}" check gcc libc6-dev libelf-dev libjson-c-dev
	libzstd-dev linux-headers-cloud-amd64 make perl-base pkg-config zlib1g-dev)
case $suite in
bookworm)
	guest_packages+=(libelf1 openjdk-17-jre-headless tomcat10 tomcat10-examples)
	build_packages+=(openjdk-17-jdk-headless)
	java=17 ;;
trixie)
	guest_packages+=(libelf1t64 openjdk-21-jre-headless openjdk-25-jre-headless
		tomcat11 tomcat11-examples)
	build_packages+=(openjdk-21-jdk-headless openjdk-25-jdk-headless)
	java=21 ;;
esac

init=$lab_dir/guest-init.sh

guest_key()
{
	{ echo "${guest_packages[@]}"; cat "$0" "$lab_dir/apt.sh" "$init"; } | sha256sum
}

buildroot_key()
{
	{ echo "${build_packages[@]}"; cat "$0" "$lab_dir/apt.sh"; } | sha256sum
}

# is_current KIND FILE: FILE was made from the present package list and script.
is_current()
{
	[ -e "$lab_cache/$2" ] && [ "$(cat "$lab_cache/$1.key" 2>/dev/null)" = "$("$1_key")" ]
}

# unpack DIR PACKAGE...: exactly the set apt resolves, made fit to be used.
unpack()
{
	apt_unpack "$@"
	fix_up "$1"
}

# What the maintainer scripts would have done and the lab needs.
fix_up()
{
	local root=$1 release tool

	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	echo 'tomcat:x:988:988::/var/lib/tomcat:/usr/sbin/nologin' >>"$root/etc/passwd"
	echo 'tomcat:x:988:' >>"$root/etc/group"
	echo '127.0.0.1 localhost lab' >"$root/etc/hosts"
	echo lab >"$root/etc/hostname"
	ln -sf mawk "$root/usr/bin/awk"
	ln -sfn "java-$java-openjdk-amd64" "$root/usr/lib/jvm/default-java"
	for tool in java javac jar jcmd rmiregistry; do
		[ ! -e "$root/usr/lib/jvm/default-java/bin/$tool" ] ||
			ln -sf "../lib/jvm/default-java/bin/$tool" "$root/usr/bin/$tool"
	done
	[ ! -e "$root/usr/bin/gcc" ] || ln -sf gcc "$root/usr/bin/cc"
	mkdir -p "$root"/{proc,sys,dev,run,tmp,root,mnt}
	chmod 1777 "$root/tmp"
	chroot "$root" /usr/sbin/ldconfig
	for release in "$root"/usr/lib/modules/*; do
		[ ! -f "$release/modules.order" ] || chroot "$root" /usr/sbin/depmod "${release##*/}"
	done
}

build_guest()
{
	local tmp=$work/guest root=$work/guest/root release mb

	say "$suite: making guest.ext4"
	mkdir -p "$root"
	unpack "$root" "${guest_packages[@]}"
	release=$(cd "$root/usr/lib/modules" && echo *)
	mv "$root/boot/vmlinuz-$release" "$tmp/vmlinuz"
	rm -rf "${root:?}/boot"
	echo "$release" >"$tmp/kernel-release"
	mkdir -p "$root/lab"
	install -m 755 "$init" "$root/lab/init"

	# room for a job and its results: 4 GiB on top, sparse
	mb=$(($(du -sm "$root" | cut -f1) * 5 / 4 + 4096))
	: >"$tmp/guest.ext4"
	mke2fs -q -F -t ext4 -O '^has_journal,^metadata_csum,^64bit' -N 200000 -m 0 \
		-E lazy_itable_init=0,nodiscard -d "$root" "$tmp/guest.ext4" "${mb}M"

	rm -f "$lab_cache/guest.key"
	mv "$tmp/vmlinuz" "$tmp/kernel-release" "$tmp/guest.ext4" "$lab_cache/"
	guest_key >"$lab_cache/guest.key"
}

build_buildroot()
{
	say "$suite: making buildroot/"
	mkdir -p "$work/buildroot"
	unpack "$work/buildroot" "${build_packages[@]}"
	# tests run its JDKs from outside: their settings must be found there, too
	find "$work/buildroot/usr/lib/jvm" -type l -lname '/*' -printf '%p\0%l\0' |
		xargs -0 -r -n 2 sh -c 'ln -sfnr "$0$2" "$1"' "$work/buildroot"
	rm -f "$lab_cache/buildroot.key"
	[ ! -e "$lab_cache/buildroot" ] || mv "$lab_cache/buildroot" "$work/old"
	mv "$work/buildroot" "$lab_cache/buildroot"
	buildroot_key >"$lab_cache/buildroot.key"
}

# Modules built in the buildroot must load in the guest.
same_release()
{
	# build there is an absolute link, right only inside
	[ -L "$lab_cache/buildroot/usr/lib/modules/$(cat "$lab_cache/kernel-release")/build" ]
}

all_current()
{
	is_current guest guest.ext4 && is_current buildroot buildroot && same_release
}

exec 9>"$lab_cache/lock"
flock -s 9	# those who use the images hold it so too
all_current && exit 0
flock -n 9 || { say "$suite: waiting for those who use or make the images"; flock 9; }
all_current && exit 0

rm -rf "$lab_cache"/tmp.*
work=$(mktemp -d "$lab_cache/tmp.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
apt_setup "$lab_cache/apt" "$suite"
is_current guest guest.ext4 || build_guest
is_current buildroot buildroot || build_buildroot
same_release || { build_guest; build_buildroot; }
same_release || die "$suite: the packages linux-image-cloud-amd64 and linux-headers-cloud-amd64 are of" \
	"different versions: the mirror is in the middle of an update; try again later"
apt-get -qq autoclean
say "$suite: ready in $lab_cache ($SECONDS s), kernel $(cat "$lab_cache/kernel-release")"
