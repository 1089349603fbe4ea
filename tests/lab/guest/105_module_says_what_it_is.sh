#!/bin/bash
# SPDX-License-Identifier: MIT
#
# modinfo has all an administrator asks for, of the file and of what is loaded.
# Runs beside others.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

ko=$JIS_BUILD/kmod/jis.ko
for field in description author license version vermagic srcversion jis_abi jis_schema; do
	value=$(modinfo -F $field "$ko") || fail "modinfo cannot read $ko"
	[ -n "$value" ] || fail "modinfo has no $field"
	echo "$field: $value"
done
[ "$(modinfo -F license "$ko")" = GPL ] || fail "license is $(modinfo -F license "$ko")"
version=$("$JIS" --version | awk '{ print $2 }')
[ "$(modinfo -F version "$ko")" = "$version" ] ||
	fail "the module is version $(modinfo -F version "$ko"), the tool $version"
while read -r name text; do
	[ -n "$text" ] || fail "parameter $name has no description"
done < <(modinfo -F parm "$ko" | sed 's/:/ /')
case $(modinfo -F vermagic "$ko") in
"$(uname -r) "*) ok "modinfo is whole, and of this kernel" ;;
*) fail "built for $(modinfo -F vermagic "$ko"), this is $(uname -r)" ;;
esac

insmod "$ko" || fail "the module does not load"
[ "$(cat /sys/module/jis/version)" = "$version" ] || fail "/sys/module/jis/version is $(cat /sys/module/jis/version)"
[ "$(cat /sys/module/jis/srcversion)" = "$(modinfo -F srcversion "$ko")" ] || fail "another module is loaded"
rmmod jis || fail "the module does not unload"
ok "what is loaded is what was built"
