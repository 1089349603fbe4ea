#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh SUITE [TARGET | VARIABLE=VALUE]...: builds the project with the compiler,
# libraries and kernel headers of SUITE, in the chroot image.sh made, and puts a
# copy of its build folder to build/lab/SUITE. Targets: `all guest-tests kmod kmod-lab` unless given.
# SUITE kasan or kcsan: with trixie's, but the module for that kernel, which debug-kernel.sh makes.
#
# The source (what git tracks or would track) is copied into the chroot, a file only
# when its content changed, so make there builds what is needed and no more. Each
# source tree has its own copy, always seen as /src/jis. All mounts are made in a
# namespace of this script and end with it. JIS_SRC names another source tree.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"

lab_suite "${1:-}"
lab_need git=git flock=util-linux chroot=coreutils cmp=diffutils
lab_as_root "$0" "$@"
shift
for arg; do
	case $arg in
	*=*) ;;
	*) have_target=1 ;;
	esac
done
[ -n "${have_target:-}" ] || set -- all guest-tests kmod kmod-lab "$@"

"$lab_dir/image.sh" "$lab_image"
[ -z "$lab_debug" ] || "$lab_dir/debug-kernel.sh" "$suite"
src=$(cd "${JIS_SRC:-$lab_top}" && pwd)
root=$lab_cache/buildroot
id=$(sha256sum <<<"$src")
tree=$root/src/${id::12}${lab_debug:+-$suite}

# shared: image.sh waits before it changes the buildroot; then one build a source tree
exec 8<"$lab_cache/lock"
flock -s 8
release=$(cat "$lab_cache/kernel-release")
kdir=/usr/lib/modules/$release/build
if [ -n "$lab_debug" ]; then
	exec 7<"$lab_debug/$suite.lock"
	flock -s 7
	kdir=/debug/$suite
fi
exec 9>"$lab_cache/build.${tree##*/}.lock"
flock -n 9 || { say "$suite: waiting for another build of $src"; flock 9; }

same_file()	# A B
{
	if [ -L "$1" ] || [ -L "$2" ]; then
		[ "$(readlink "$1")" = "$(readlink "$2")" ]
	elif [ -x "$1" ]; then
		[ -x "$2" ] && cmp -s "$1" "$2"
	else
		[ ! -x "$2" ] && cmp -s "$1" "$2"
	fi
}

# A changed file gets the time of the copy, not its own: an older one must be rebuilt from as well.
copy_source()
{
	local f

	mkdir -p "$tree"
	git -C "$src" ls-files -z --cached --others --exclude-standard --exclude=/build/ |
		sort -zu >"$tree.files.new" ||
		die "git cannot list the files of $src (see above): it must be a git work tree"
	while IFS= read -r -d '' f; do
		if [ ! -f "$src/$f" ] && [ ! -L "$src/$f" ]; then
			rm -f "$tree/$f"
		elif ! same_file "$src/$f" "$tree/$f"; then
			mkdir -p "$tree/$(dirname "$f")"
			cp -P --remove-destination "$src/$f" "$tree/$f"
		fi
	done <"$tree.files.new"
	[ ! -e "$tree.files" ] ||
		(cd "$tree" && comm -z -23 "$tree.files" "$tree.files.new" | xargs -0 -r rm -f --)
	mv "$tree.files.new" "$tree.files"
}

run_make()
{
	mkdir -p "$root/src/jis"
	trap 'lab_unmount "$root/src/jis" "$root/proc" "$root/dev" ${lab_debug:+"$root/debug"}' EXIT
	mount --bind "$tree" "$root/src/jis"
	if [ -n "$lab_debug" ]; then
		mkdir -p "$root/debug"
		mount --bind "$lab_debug/root/debug" "$root/debug"
	fi
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 \
		JAVA_HOME=/usr/lib/jvm/default-java \
		make -C /src/jis -j"$(nproc)" KDIR="$kdir" "$@" 9>&- 8>&- 7>&-
}

publish()
{
	local dest=$src/build/lab

	[ -d "$tree/build" ] || die "make left no build/ folder in $tree: nothing to take to $dest/$suite"
	mkdir -p "$dest"
	rm -rf "$dest/.$suite".*
	cp -a --reflink=auto "$tree/build" "$dest/.$suite.new"
	chown -R --reference="$src" "$src/build/lab/.$suite.new"
	[ ! -e "$dest/$suite" ] || mv "$dest/$suite" "$dest/.$suite.old"
	mv "$dest/.$suite.new" "$dest/$suite"
	rm -rf "$dest/.$suite.old"
}

copy_source
run_make "$@" || die "$suite: 'make $*' failed for $src (see above); its copy is $tree"
publish
