#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gen-syscalls.sh CC: prints C tables of the names of system calls by number, from the kernel's headers
# (linux-libc-dev): x86-64, i386, and aarch64, whose numbers are the generic ones. A machine whose header
# is not there gets an empty table. Run by make; nothing of it is kept in the tree.

set -euo pipefail
cc=${1:?usage: gen-syscalls.sh CC}

# table NAME HEADER [OPTION]...: a line for each __NR_ macro; those that name another one are followed
table()
{
	local name=$1 header=$2

	shift 2
	printf '\nstatic const char *const %s[JIS_MAX_SYSCALL] = {\n' "$name"
	echo "#include <$header>" | $cc -E -dM "$@" -x c - 2>/dev/null |
		awk '
		$1 == "#define" && $2 ~ /^__NR/ { value[$2] = $3 }
		END {
			for (macro in value) {
				number = value[macro]
				for (i = 0; i < 4 && number in value; i++)
					number = value[number]
				if (macro ~ /^__NR_/ && number ~ /^[0-9]+$/ && number < 512 &&
				    macro !~ /^__NR_(syscalls|arch_specific_syscall|Linux)$/)
					printf "\t[%d] = \"%s\",\n", number, substr(macro, 6)
			}
		}' | sort | sort -s -u -t'[' -k2n || :
	echo '};'
}

cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* Made by scripts/gen-syscalls.sh. */
HEAD
table names_x86_64 asm/unistd_64.h
table names_i386 asm/unistd_32.h
# what arch/arm64 asks of the generic header
table names_aarch64 asm-generic/unistd.h -D__ARCH_WANT_RENAMEAT -D__ARCH_WANT_NEW_STAT \
	-D__ARCH_WANT_SET_GET_RLIMIT -D__ARCH_WANT_TIME32_SYSCALLS -D__ARCH_WANT_SYS_CLONE3 \
	-D__ARCH_WANT_MEMFD_SECRET
