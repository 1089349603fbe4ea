#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coverage.sh [SECONDS]: which lines of the module's control path the fuzzer reaches. Builds the module with
# counters for the lab's kasan kernel, runs 190_nonsense_is_refused (300 s unless given) there, where it can also
# make the kernel's allocations fail, and prints the lines hit, file by file. Fails below 90 %. What was
# not reached is in build/lab-out/kasan/190_*/gcov/*.gcov (lines that begin with #####).

set -euo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/../../scripts/lab/lib.sh"

lab_suite kasan
lab_as_root "$0" "$@"
bar=90
# What runs when the device is opened, called, mapped and closed; the probes are tested by what they record. FILE:FUNCTION:
# of files that have probes too, from that function on.
control=(main ioctl session reader targets filter pool rights ring dump cgroups threads singles
	syscalls:desc_valid families:family_known sources:jis_sources_find throttle:throttle_register probes:jis_probes_look)

extra=$(mktemp -d)
trap 'rm -rf "$extra"' EXIT
# Memory that cannot be had is told with a stack, and no more; a bug has a line of its own as well.
printf '%s\n' 'Call Trace:$' 'leak detector disabled' 'RCU lockdep checking is enabled' '[?] lockdep_[a-z_]+[+]0x' >"$extra/dmesg.allow"
"$lab_dir/build.sh" kasan tests kmod JIS_GCOV=1
APPEND="kmemleak=off jisfuzz.seconds=${1:-300} jisfuzz.args=-m,0 ${APPEND:-}" LAB_EXTRA=$extra JIS_TEST_NO_SKIP=1 \
	"$lab_top/tests/lab/run.sh" kasan 190

root=$lab_cache/buildroot
counts=$lab_top/build/lab-out/kasan/190_nonsense_is_refused/gcov
[ -n "$(ls "$counts"/*.gcda 2>/dev/null)" ] || die "the guest left no counts in $counts"
# gcov looks for the sources where they were compiled, and is the compiler's own.
mkdir -p "$root/src/jis"
id=$(sha256sum <<<"$lab_top")
tree=$root/src/${id::12}-kasan
trap 'rm -rf "$extra"; lab_unmount "$root/src/jis"' EXIT
mount --bind "$tree" "$root/src/jis"
work=$tree/build/gcov
rm -rf "$work"
mkdir -p "$work"
cp "$tree"/build/kmod/*.gcno "$counts"/*.gcda "$work/"
chroot "$root" /bin/bash -c 'cd /src/jis/build/gcov && gcov -m ./*.gcda' >"$work/said" 2>&1 ||
	die "gcov: $(tail -n 5 "$work/said")"
cp "$work"/*.c.gcov "$counts/"

# lines FILE[:FUNCTION]: hit, and all there are
lines()
{
	awk -F: -v from="${1#*:}" -v whole="$([[ $1 = *:* ]] || echo 1)" '
		BEGIN { on = whole }
		# the function itself: its name at the left, before its parameters
		!on && $3 ~ "^[a-z].*[ *]" from "\\(" && $0 !~ /;$/ { on = 1 }
		{ gsub(/ /, "", $1) }
		on && $2 + 0 > 0 && $1 != "-" { all++; hit += $1 !~ /^[#=]/ }
		END { print hit + 0, all + 0 }' "$work/${1%%:*}.c.gcov"
}

hits=0 all=0
for file in "${control[@]}"; do
	read -r hit n < <(lines "$file")
	[ "$n" -gt 0 ] || die "no lines of $file.c were counted"
	name=${file%%:*}.c
	[[ $file != *:* ]] || name+=" from ${file#*:}()"
	printf '%-36s %4d of %4d lines, %5.1f %%\n' "$name" "$hit" "$n" "$(awk -v a="$hit" -v b="$n" 'BEGIN { print 100 * a / b }')"
	hits=$((hits + hit)) all=$((all + n))
done
printf '%-36s %4d of %4d lines, %5.1f %%\n' "together" $hits $all "$(awk -v a=$hits -v b=$all 'BEGIN { print 100 * a / b }')"
[ $((hits * 100)) -ge $((all * bar)) ] || die "less than $bar % of the control path's lines were reached: see #### in $counts"
