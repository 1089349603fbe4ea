#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Says whether a shared object can live in any process we want to trace: no libc symbol newer than
# glibc 2.28, no library needed besides libc's own, at most 64 bytes of static TLS, nothing exported
# but what the version script names, and no executable stack.
# Usage: scripts/lint-glibc.sh FILE [NEWEST]
set -euo pipefail

file=${1:?shared object} newest=${2:-2.28}
status=0

complain() {
	echo "$file: $*" >&2
	status=1
}

[ -r "$file" ] || { echo "$file: cannot be read" >&2; exit 2; }

# Undefined symbols with a glibc version above the limit.
while read -r symbol version; do
	if [ "$(printf '%s\n%s\n' "$version" "$newest" | sort -V | tail -n 1)" != "$newest" ]; then
		complain "$symbol needs glibc $version (at most $newest): bind it in agent/compat.h"
	fi
done < <(objdump -T "$file" | awk '/\*UND\*/ && match($0, /GLIBC_[0-9.]+/) {
	print $NF, substr($0, RSTART + 6, RLENGTH - 6) }')

while read -r library; do
	case $library in
	libc.so.6 | libpthread.so.0 | libdl.so.2 | ld-linux-*) ;;
	*) complain "needs $library" ;;
	esac
done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')

tls=$(readelf -lW "$file" | awk '$1 == "TLS" { print $6 }')
if [ -n "$tls" ] && [ $((tls)) -gt 64 ]; then
	complain "$((tls)) bytes of static TLS (at most 64)"
fi

while read -r symbol; do
	case $symbol in
	Agent_OnLoad | Agent_OnAttach | Agent_OnUnload | jis_agent_at_work | Java_java_lang_JProbe_00024* | JavaCritical_java_lang_JProbe_00024*) ;;
	*) complain "exports $symbol" ;;
	esac
done < <(nm -D --defined-only "$file" | awk '{ print $3 }')

if readelf -lW "$file" | grep -q 'GNU_STACK.*RWE'; then
	complain "has an executable stack"
fi
exit $status
