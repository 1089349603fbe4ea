# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the host side scripts of the guest lab share: the suites there are, where
# their images are cached, the rights needed, and how an error is told. Sourced
# by scripts/lab/*.sh and tests/lab/run.sh; runs nothing by itself.

# mke2fs and chroot are there; an ordinary user need not have it
PATH=$PATH:/usr/sbin

lab_prog=${0##*/}
lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for those who source this
lab_top=$(cd "$lab_dir/../.." && pwd)

say()
{
	printf '%s: %s\n' "$lab_prog" "$*" >&2
}

die()
{
	say "$@"
	exit 1
}

# lab_suite NAME: check the suite's name, set $suite, $lab_image (the suite whose image it boots) and
# $lab_cache (the image's cache folder); for a kernel of debug-kernel.sh also $lab_debug (its cache folder)
# and $lab_kernel, which are empty else.
# shellcheck disable=SC2034
lab_suite()
{
	local cache=${JIS_CACHE:-${HOME:?HOME is not set: set it, or JIS_CACHE}/.cache/jis}

	suite=${1:-} lab_debug='' lab_kernel=''
	case $suite in
	bookworm|trixie) lab_image=$suite ;;
	kasan|kcsan) lab_image=trixie lab_debug=$cache/debug lab_kernel=$cache/debug/$suite.bzImage ;;
	*) die "unknown suite '$suite': it must be bookworm or trixie, or the debug kernel kasan or kcsan" ;;
	esac
	lab_cache=$cache/lab/$lab_image
	mkdir -p "$lab_cache" || die "cannot make the cache folder $lab_cache: set JIS_CACHE to a writable place"
}

# lab_as_root SCRIPT ARG...: unless we may chroot and mount, start SCRIPT again as root
# of a mount namespace of its own (and of a user namespace, for an ordinary user).
# The mounts made there vanish with the script, however it ends. In a chroot whose root is no
# mount point the namespace cannot be cut off from the one outside: then lab_unmount takes away
# what would be seen there too.
lab_as_root()
{
	local -a userns=()
	local propagation=private

	[ -z "${JIS_LAB_NS:-}" ] || return 0
	[ "$(id -u)" = 0 ] || userns=(--map-root-user)
	unshare "${userns[@]}" --mount true 2>/dev/null || propagation=unchanged
	unshare "${userns[@]}" --mount --propagation $propagation true ||
		die "cannot make a mount namespace (see above): be root with CAP_SYS_ADMIN, or allow unprivileged user namespaces"
	JIS_LAB_NS=$propagation exec unshare "${userns[@]}" --mount --propagation $propagation "$@"
}

# lab_unmount DIR...: ends the mounts on them that lab_as_root could not keep to this script.
lab_unmount()
{
	[ "${JIS_LAB_NS:-}" != unchanged ] || umount -R -l "$@"
}

# lab_need TOOL=PACKAGE...: all tools a script needs, with the Debian package that has each.
lab_need()
{
	local t missing=

	for t; do
		command -v "${t%%=*}" >/dev/null || missing+=" ${t#*=}"
	done
	[ -z "$missing" ] || die "tools are missing; install the Debian packages:$missing"
}
