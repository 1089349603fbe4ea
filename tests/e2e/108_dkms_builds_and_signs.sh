#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install and make uninstall as root where Debian's dkms is: the module is built, signed with the machine's own key and
# found by modprobe; the device's group is there; nothing of it is left afterwards. In a copy of the root file system (an
# overlay in a mount namespace of its own), so the machine is not touched.
# Runs beside others.
# The kernel that runs need not have headers here: those there are stand in for its.
. "$(dirname "$0")/lib.sh"
top=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/lab/lib.sh
. "$top/scripts/lab/lib.sh"
# shellcheck source=scripts/lab/apt.sh
. "$top/scripts/lab/apt.sh"
cd "$TESTDIR" || exit 1
build=$(cd "$BUILD" && pwd)
machine() { find /usr/src /usr/lib/udev /usr/lib/sysusers.d /usr/local /lib/modules /var/lib /etc -name '*jis*' 2>/dev/null | sort || true; }
machine >before
# shellcheck source=/dev/null
. /etc/os-release
apt_setup "$PWD/apt" "${VERSION_CODENAME:?in /etc/os-release}"
(apt-get -qq download dkms && mv dkms_*.deb dkms.deb) 2>fetched || fail "apt cannot fetch dkms: $(cat fetched)"

cat >inside <<'SH'
set -eu
cd "$TOP"
dpkg --force-depends -i "$1" >/dev/null # what it depends on is here or not needed: gcc, make and kmod are
what_is() { find /var/lib/dkms /usr/src /usr/lib/udev /usr/lib/sysusers.d /usr/local /lib/modules -name '*jis*' -o -name '*.ko'; }
kernel=$(uname -r) headers=$(ls -d /usr/src/linux-headers-*-amd64 | sort -V | tail -n 1)
mkdir -p "/lib/modules/$kernel"
[ -d "/lib/modules/$kernel/build" ] || ln -sfn "$headers" "/lib/modules/$kernel/build"
# What a kernel's package brings and depmod asks for.
for list in modules.order modules.builtin modules.builtin.modinfo; do
	[ -e "/lib/modules/$kernel/$list" ] || : >"/lib/modules/$kernel/$list"
done
export PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
what_is | sort >/tmp/there
scripts/install.sh
dkms status
getent group jis
modprobe --dry-run --verbose jis | grep -q updates/dkms/jis.ko || { echo "modprobe does not find it"; exit 1; }
for f in version vermagic signer license; do echo "$f: $(modinfo -F $f jis)"; done
echo "release: $(sed -n "s/.*UTS_RELEASE \"\(.*\)\"/\1/p" "/lib/modules/$kernel/build/include/generated/utsrelease.h")"
echo "owner: $(openssl x509 -inform DER -in /var/lib/dkms/mok.pub -noout -subject -nameopt multiline | sed -n 's/ *commonName *= //p')"
scripts/install.sh --uninstall
[ -z "$(dkms status)" ] || { echo "dkms still has: $(dkms status)"; exit 1; }
what_is | sort | diff /tmp/there - || { echo "make uninstall leaves these"; exit 1; }
echo whole
SH
# shellcheck disable=SC2016 # the inner shell's
TOP=$top BUILD=$build PREFIX=/usr/local DESTDIR='' unshare -m sh -c '
	set -e
	mkdir over root
	mount -t tmpfs tmpfs over
	mkdir over/upper over/work
	mount -t overlay overlay -o lowerdir=/,upperdir=over/upper,workdir=over/work root
	mount --rbind /dev root/dev
	mount -t proc proc root/proc
	# what is mounted on a folder is not in the copy of its root
	mkdir -p "root$TOP" "root$BUILD"
	mount --bind "$TOP" "root$TOP"
	mount --bind "$BUILD" "root$BUILD"
	cp inside dkms.deb root/tmp/
	exec chroot root sh /tmp/inside /tmp/dkms.deb' >said 2>&1 || fail "$(tail -n 40 said)"
[ "$(tail -n 1 said)" = whole ] || fail "$(tail -n 40 said)"
value() { sed -n "s/^$1: //p" said; }
grep -q "^jis/$(cat "$top/VERSION"), $(uname -r), .*: installed" said || fail "dkms status: $(grep ^jis/ said)"
grep -q '^jis:x:[0-9]*:$' said || fail "the group has somebody in it, or is not there: $(grep ^jis: said)"
[ "$(value version)" = "$(cat "$top/VERSION")" ] || fail "version: $(value version)"
[[ "$(value vermagic)" = "$(value release) "* ]] || fail "for '$(value vermagic)', not for $(value release)"
[ -n "$(value owner)" ] && [ "$(value signer)" = "$(value owner)" ] || fail "signed by '$(value signer)', the key is '$(value owner)'"
machine | diff before - || fail "the machine was touched"
echo "built for $(value release), signed by $(value signer)"
