#!/bin/bash
# SPDX-License-Identifier: MIT
#
# matrix.sh [-o FILE] [SUITE]...: builds the module for every kernel the suites of Debian offer
# (bullseye, bookworm, trixie and sid unless named; flavours amd64, cloud and rt), each with the suite's
# own compiler, and writes the table of results to FILE (docs/kernels.md). Fails when a build fails or
# warns. Headers and compilers are unpacked below the cache, about 700 MB a suite, never installed.

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$lab_dir/apt.sh"

out=$lab_top/docs/kernels.md
if [ "${1:-}" = -o ]; then
	out=$(realpath "$2")
	shift 2
fi
[ $# != 0 ] || set -- bullseye bookworm trixie sid
lab_need apt-get=apt dpkg-deb=dpkg chroot=coreutils flock=util-linux
lab_as_root "$0" -o "$out" "$@"

cache=${JIS_CACHE:-${HOME:?HOME is not set: set it, or JIS_CACHE}/.cache/jis}/matrix
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
packages=(base-files base-passwd bash coreutils dash findutils gawk gcc grep kmod libc-bin make
	perl-base sed linux-headers-amd64 linux-headers-cloud-amd64 linux-headers-rt-amd64)

# The root of a suite with all its headers; made once, and again when its folder is removed.
make_root()	# SUITE
{
	local root=$cache/$1 new=$cache/$1.new plain=

	[ ! -e "$root/usr" ] || return 0
	# these have no updates suite: the one is closed, the other is where updates come from
	case $1 in bullseye|sid) plain=plain ;; esac
	rm -rf "$new"
	mkdir -p "$new"
	apt_setup "$cache/apt-$1" "$1" $plain
	apt_unpack "$new" "${packages[@]}"
	mkdir -p "$new"/{proc,dev,tmp,src}
	ln -sf gawk "$new/usr/bin/awk"
	chroot "$new" /sbin/ldconfig
	mv "$new" "$root"
	apt-get -qq clean
}

# The kernel releases a root has headers for.
releases()	# ROOT
{
	local d

	for d in "$1"/usr/src/linux-headers-*; do
		[ ! -f "$d/.config" ] || echo "${d##*/linux-headers-}"
	done
}

# One build: prints "compiler|warnings|result" and leaves the log in the cache.
build()	# SUITE RELEASE
{
	local root=$cache/$1 log=$cache/$1-$2.log result=builds warnings

	rm -rf "$root/src/kmod"
	mkdir -p "$root/src"
	cp -r "$lab_top/kmod" "$root/src/kmod"
	cp -r "$lab_top/include" "$root/src/kmod/include"
	cp "$lab_top/VERSION" "$root/src/kmod/"
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C \
		make -j"$(nproc)" -C "/usr/src/linux-headers-$2" M=/src/kmod modules >"$log" 2>&1 || result=FAILS
	warnings=$(grep -c 'warning:\|WARNING:' "$log" || true)
	printf '%s|%s|%s|%s\n' \
		"$(sed -n 's/^CONFIG_CC_VERSION_TEXT=".*\(gcc-[0-9]*\) (Debian \([^-)]*\).*/\1 (\2)/p' \
			"$root/usr/src/linux-headers-$2/.config")" \
		"$(grep -o 'HAVE_[A-Z_0-9]*' "$root/src/kmod/jis_config.h" 2>/dev/null | sed 's/HAVE_//' |
			tr '\n' ' ')" "$warnings" "$result"
}

source_sum()
{
	cat "$lab_top"/kmod/*.[ch] "$lab_top"/include/jis/{abi,events}.h | sha256sum | cut -c1-12
}

table()
{
	local suite release compiler features warnings result

	cat <<-HEAD
		# Kernels

		What \`make matrix\` printed on $(date -u +%F) for the module of source $(source_sum)
		(\`cat kmod/*.[ch] include/jis/{abi,events}.h | sha256sum\`), built for each kernel of the suites of
		Debian with the suite's own compiler. The features are what \`kmod/configure.c\` finds in a
		kernel's headers; none is asked for by version. The module is loaded and tested with the cloud
		kernels of bookworm and trixie (\`make test\`), and of bullseye and sid (\`scripts/lab/other-kernel.sh\`).

		| suite | kernel | compiler | result | warnings | found |
		|---|---|---|---|---|---|
	HEAD
	for suite; do
		for release in $(releases "$cache/$suite"); do
			IFS='|' read -r compiler features warnings result < <(build "$suite" "$release")
			say "$suite $release: $result, $warnings warnings"
			[ "$result $warnings" = "builds 0" ] || echo "$suite-$release.log" >>"$cache/failed"
			printf '| %s | %s | %s | %s | %s | %s |\n' "$suite" "$release" "$compiler" "$result" \
				"$warnings" "$(tr '[:upper:]' '[:lower:]' <<<"${features% }" | sed 's/ /, /g')"
		done
	done
}

rm -f "$cache/failed"
for suite; do
	make_root "$suite"
	mount --rbind /proc "$cache/$suite/proc"
	mount --rbind /dev "$cache/$suite/dev"
done
trap 'for s in '"$*"'; do lab_unmount "$cache/$s/proc" "$cache/$s/dev"; done' EXIT
table "$@" >"$cache/table"
[ ! -e "$cache/failed" ] ||
	die "the module does not build, or warns, for some kernels; logs: $(sed "s|^|$cache/|" "$cache/failed" | tr '\n' ' ')"
mv "$cache/table" "$out"
say "wrote $out"
