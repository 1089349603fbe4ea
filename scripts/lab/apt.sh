# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# An apt of the lab's own: packages of any Debian suite, fetched the way the host's apt fetches its own
# and unpacked into a directory, without touching the host's packages or needing to run maintainer
# scripts. Sourced after lib.sh; runs nothing by itself.

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

# The keys of Debian's archive, as they are called here.
archive_keyring()
{
	local key

	for key in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		[ ! -r "$key" ] || { echo "$key"; return; }
	done
}

# apt_setup DIR SUITE [plain]: the state of that apt goes to DIR; APT_CONFIG is set. The host's way to
# the network (Acquire: proxies, certificates, and the log-ins of /etc/apt/auth.conf), the suite's
# sources with its updates and security (without, when plain), an empty machine.
apt_setup()
{
	local apt_dir=$1 suite=$2 mirror security='' signed

	unset APT_CONFIG # of a suite before
	mirror=$(host_mirror "")
	[ -n "$mirror" ] ||
		die "this host's apt knows no Debian archive to take the guest's packages from: name one in /etc/apt/sources.list and run apt-get update"
	signed=$(archive_keyring)
	signed=${signed:+"[signed-by=$signed] "}
	mkdir -p "$apt_dir"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial,log}
	: >"$apt_dir/state/status"
	printf 'deb %s%s %s main\n' "$signed" "$mirror" "$suite" >"$apt_dir/etc/sources.list"
	if [ "${3:-}" != plain ]; then
		security=$(host_mirror -security)
		printf 'deb %s%s %s main\n' "$signed" "$mirror" "$suite-updates" \
			${security:+"$signed" "$security" "$suite-security"} >>"$apt_dir/etc/sources.list"
	fi
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

# apt_unpack DIR PACKAGE...: exactly the set apt resolves, unpacked. Debs are xz or zstd: one job a CPU.
apt_unpack()
{
	local root=$1 list=$1.debs cache d v

	shift
	apt-get -qq -y --download-only install "$@" || die "apt cannot fetch the packages (see above): $*"
	cache=$(apt-config shell cache Dir::Cache::archives/f | sed "s/^cache='//; s/'$//")
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	apt-get -s install "$@" |
	awk '$1 == "Inst" { v = substr($3, 2); gsub(/:/, "%3a", v); print $2 "_" v }' |
	while read -r v; do
		ls "$cache/$v"_*.deb
	done >"$list"
	[ -s "$list" ] || die "apt resolved no package: run 'apt-get -s install' with APT_CONFIG=$APT_CONFIG"
	# shellcheck disable=SC2016 # the inner shell's variables
	xargs -a "$list" -P "$(nproc)" -n 1 bash -c 'set -o pipefail
		dpkg-deb --fsys-tarfile "$1" |
		tar -x --no-same-owner --keep-directory-symlink --exclude="./usr/share/doc/*" \
			--exclude="./usr/share/man/*" --exclude="./usr/share/locale/*" -C "$0"' "$root" ||
		die "cannot unpack the packages into $root: is the disk full?"
	rm "$list"
}
