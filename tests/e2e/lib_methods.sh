# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests of traced methods that run MethodsLive.
. "$(dirname "${BASH_SOURCE[0]}")/lib_attach.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib_jdks.sh"
cd "$TESTDIR" || exit 1
P='MethodsLive$'

# counts TRACE: lines "class.method N" of the enters.
counts() {
	"$JIS" dump "$1" | sed -n 's/.* method_enter { method = [0-9]* (\(.*\)) }/\1/p' | sort | uniq -c | awk '{print $2, $1}'
}
# expect TRACE LINE...: those are the counts of MethodsLive's methods.
expect() {
	local trace=$1
	shift
	counts "$trace" >got
	printf '%s\n' "$@" | sed '/^$/d' | sort >want
	diff want got || fail "$trace: the calls are not those"
}

mapfile -t JDKS < <(jdks)
