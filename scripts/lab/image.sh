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
# script runs. Each result is made again only when its package list or this file
# changed; remove the suite's folder to get newer packages. Any number of calls
# may run at once; one builds, the others wait.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"

lab_suite "${1:-}"
lab_need apt-get=apt dpkg-deb=dpkg mke2fs=e2fsprogs flock=util-linux chroot=coreutils
[ "$(id -u)" = 0 ] || lab_as_root "$0" "$@"

base_packages=(base-files base-passwd bash coreutils dash diffutils findutils grep gzip
	hostname kmod libc-bin mawk mount procps sed tar util-linux)
guest_packages=("${base_packages[@]}" babeltrace2 curl iproute2 libasan8 libjson-c5
	libzstd1 linux-image-cloud-amd64 python3 wrk zlib1g)
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
	build_packages+=(openjdk-21-jdk-headless)
	java=21 ;;
esac

apt_dir=$lab_cache/apt
init=$lab_dir/guest-init.sh

guest_key()
{
	{ echo "${guest_packages[@]}"; cat "$0" "$init"; } | sha256sum
}

buildroot_key()
{
	{ echo "${build_packages[@]}"; cat "$0"; } | sha256sum
}

# is_current KIND FILE: FILE was made from the present package list and script.
is_current()
{
	[ -e "$lab_cache/$2" ] && [ "$(cat "$lab_cache/$1.key" 2>/dev/null)" = "$("$1_key")" ]
}

# host_mirror: the Debian archive the host's apt uses; $1 is "" or "-security".
# The archive proper is told from other repositories by its -updates suite.
host_mirror()
{
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
	awk -v kind="$1" '
		$3 != "main" { next }
		$2 ~ /-updates$/ { archive[$1] = 1 }
		$2 ~ /-security$/ && !security { security = $1 }
		$2 !~ /[\/-]/ { if (!($1 in seen)) { seen[$1] = 1; order[n++] = $1 } }
		END {
			if (kind == "-security") { print security; exit }
			for (i = 0; i < n; i++) if (order[i] in archive) { print order[i]; exit }
			for (i = 0; i < n; i++) if (order[i] ~ /\/debian\/?$/) { print order[i]; exit }
		}'
}

# An apt of our own: the host's way to the network (Acquire: proxies, certificates,
# and the log-ins of /etc/apt/auth.conf), the suite's sources, an empty machine.
apt_setup()
{
	local mirror security signed='' key

	mirror=$(host_mirror "")
	security=$(host_mirror -security)
	[ -n "$mirror" ] ||
		die "this host's apt knows no Debian archive to take the guest's packages from: name one in /etc/apt/sources.list and run apt-get update"
	for key in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		if [ -r "$key" ]; then
			signed="[signed-by=$key] "
			break
		fi
	done

	mkdir -p "$apt_dir"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial,log}
	: >"$apt_dir/state/status"
	printf 'deb %s%s %s main\n' "$signed" "$mirror" "$suite" \
		"$signed" "$mirror" "$suite-updates" \
		${security:+"$signed" "$security" "$suite-security"} >"$apt_dir/etc/sources.list"
	{
		apt-config dump | grep '^Acquire::' | grep -vE '^Acquire::(IndexTargets|Changelogs)'
		cat <<-CONF
			Acquire::Retries "3";
			APT::Architecture "amd64";
			APT::Architectures { "amd64"; };
			APT::Install-Recommends "false";
			APT::Sandbox::User "root";
			APT::Update::Error-Mode "any";
			Dir::Etc "$apt_dir/etc";
			Dir::Etc::netrc "/etc/apt/auth.conf";
			Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
			Dir::Etc::trusted "/etc/apt/trusted.gpg";
			Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
			Dir::State "$apt_dir/state";
			Dir::State::status "$apt_dir/state/status";
			Dir::Cache "$apt_dir/cache";
			Dir::Log "$apt_dir/log";
		CONF
	} >"$apt_dir/apt.conf"
	export APT_CONFIG=$apt_dir/apt.conf
	say "$suite: packages from $mirror"
	apt-get -qq update || die "apt cannot read the package lists of $suite from $mirror (see above):" \
		"check the network; for a missing key, upgrade debian-archive-keyring;" \
		"if the mirror lacks the suite, add one that has it to the host's apt sources"
}

# unpack DIR PACKAGE...: exactly the set apt resolves, unpacked. Debs are xz or zstd: one job a CPU.
unpack()
{
	local root=$1 list=$1.debs

	shift
	apt-get -qq -y --download-only install "$@" ||
		die "apt cannot fetch the packages of $suite (see above): $*"
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	apt-get -s install "$@" |
	awk '$1 == "Inst" { v = substr($3, 2); gsub(/:/, "%3a", v); print $2 "_" v }' |
	while read -r p; do
		ls "$apt_dir/cache/archives/$p"_*.deb
	done >"$list"
	[ -s "$list" ] || die "apt resolved no package for $suite: run 'apt-get -s install' with APT_CONFIG=$APT_CONFIG"
	# shellcheck disable=SC2016 # the inner shell's variables
	xargs -a "$list" -P "$(nproc)" -n 1 bash -c 'set -o pipefail
		dpkg-deb --fsys-tarfile "$1" |
		tar -x --no-same-owner --keep-directory-symlink --exclude="./usr/share/doc/*" \
			--exclude="./usr/share/man/*" --exclude="./usr/share/locale/*" -C "$0"' "$root" ||
		die "cannot unpack the packages into $root: is the disk full?"
	rm "$list"
	fix_up "$root"
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
apt_setup
is_current guest guest.ext4 || build_guest
is_current buildroot buildroot || build_buildroot
same_release || { build_guest; build_buildroot; }
same_release || die "$suite: the packages linux-image-cloud-amd64 and linux-headers-cloud-amd64 are of" \
	"different versions: the mirror is in the middle of an update; try again later"
apt-get -qq autoclean
say "$suite: ready in $lab_cache ($SECONDS s), kernel $(cat "$lab_cache/kernel-release")"
