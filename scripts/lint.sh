#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make lint: the house rules a program can check. Each check prints what is wrong and how to mend it.
# Usage: scripts/lint.sh BUILD, or --format (make fmt) or --format-check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=${1:-build}
bad=0

complain() {
	echo "lint: $*" >&2
	bad=1
}

tracked() { git ls-files --cached --others --exclude-standard "$@" 2>/dev/null | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

# Which folder may include what (CONTRIBUTING.md); "." is the folder itself.
declare -A may=(
	[kmod]="jis" [trace]="jis trace" [libjisctl]="jis trace libjisctl" [agent]="jis agent libjisctl/writer.h"
	[merger]="jis trace merger" [analysis]="jis analysis merger/model.h trace/manifest.h trace/grow.h"
	[paraver-export]="jis paraver-export merger/model.h trace/manifest.h trace/grow.h"
	[calltree]="jis calltree merger/model.h trace/manifest.h trace/grow.h"
	[hosts]="jis hosts trace merger/model.h calltree/map64.h"
	[cli]="jis trace libjisctl merger analysis paraver-export calltree hosts cli"
)

check_includes() {
	local folder file inc top ok a
	for folder in "${!may[@]}"; do
		while read -r file; do
			while read -r inc; do
				case $inc in */*) ;; *) continue ;; esac
				top=${inc%%/*} ok=0
				for a in ${may[$folder]}; do
					[ "$a" = "$top" ] || [ "$a" = "$inc" ] && ok=1
				done
				[ $ok = 1 ] || complain "$file includes \"$inc\": $folder may include only: ${may[$folder]}"
			done < <(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file")
		done < <(tracked "$folder/*.c" "$folder/*.h")
	done
}

# without PATTERN FILE...: those of them that do not have it in their first three lines.
without() {
	[ $# -gt 1 ] || { echo "(no file: is this a git tree?)"; return; }
	awk -v pattern="$1" 'FNR <= 3 && $0 ~ pattern { has[FILENAME] = 1 } FNR == 3 { nextfile }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "${@:2}" ||
		echo "(awk has failed: not all files)"
}

check_spdx() {
	local file files
	mapfile -t files < <(tracked '*.c' '*.h' '*.sh' '*.py' '*.java' Makefile 'kmod/Kbuild' '*.mk')
	while read -r file; do
		complain "$file has no SPDX line in its first three lines"
	done < <(without SPDX-License-Identifier: "${files[@]}")
	mapfile -t files < <(printf '%s\n' "${files[@]}" | grep '^kmod/')
	while read -r file; do
		complain "$file: kmod/ is GPL-2.0-only"
	done < <(without GPL-2.0-only "${files[@]}")
}

check_size() {
	local file n
	while read -r file; do
		n=$(wc -l <"$file")
		[ "$n" -le 800 ] || complain "$file has $n lines: 800 is the limit, split it"
	done < <(tracked '*.c' '*.h')
	command -v ctags >/dev/null || return 0
	while read -r n file name; do
		[ "$n" -le 100 ] || complain "$file: $name has $n lines: 100 is the limit, split it"
	done < <(tracked '*.c' | ctags -L - --languages=C --kinds-C=f --fields=+ne -f - 2>/dev/null |
		awk -F'\t' '{l=0;e=0; for(i=4;i<=NF;i++){if($i~/^line:/)l=substr($i,6); if($i~/^end:/)e=substr($i,5)} print e-l+1, $2, $1}')
}

# Versions of clang-format differ in a few places; only the one the tree was formatted with can judge it.
format_version=14

# formatted_files: the module has the kernel's style, and what it shares with us too.
formatted_files() { tracked '*.c' '*.h' | grep -v -e '^kmod/' -e '^include/jis/'; }

# find_clang_format: into clang_format; fails when the right version is not there.
find_clang_format() {
	for clang_format in clang-format-$format_version clang-format; do
		case $("$clang_format" --version 2>/dev/null) in
		*"version $format_version."*) return 0 ;;
		esac
	done
	return 1
}

check_format() {
	local file files out
	find_clang_format || {
		echo "lint: formatting not checked: the tree is formatted with clang-format $format_version (Debian 12)"
		return
	}
	out=$(formatted_files | xargs -r "$clang_format" --dry-run --Werror 2>&1) && return
	mapfile -t files < <(sed -n 's/^\([^: ]*\):[0-9].*/\1/p' <<<"$out" | sort -u)
	[ ${#files[@]} -gt 0 ] || complain "clang-format has failed: $out"
	for file in "${files[@]}"; do
		complain "$file is not formatted: make fmt"
	done
}

# format_all OPTION...: make fmt and make fmt-check.
format_all() {
	find_clang_format || {
		echo "make fmt: needs clang-format $format_version, which is in Debian 12; other versions format otherwise" >&2
		return 1
	}
	formatted_files | xargs "$clang_format" "$@"
}

check_shell() {
	command -v shellcheck >/dev/null || { complain "shellcheck is missing: make setup"; return; }
	tracked '*.sh' .ci/run | xargs -r -n 40 -P "$(nproc)" shellcheck -x -S warning || complain "shellcheck has complaints"
}

# Every function of the public header is in a man page.
check_man() {
	local f page
	while read -r f; do
		grep -qs "$f" man/*.3 || complain "$f() of jisctl.h is in no man page of section 3"
	done < <(sed -n 's/^[a-z].*[ *]\(jisctl_[a-z_]*\)(.*/\1/p' libjisctl/jisctl.h)
	while read -r page; do
		mandoc -T lint -W error "$page" >/dev/null || complain "$page: mandoc finds errors"
	done < <(tracked 'man/*.[1-8]')
	for f in record pause resume info dump report stats export merge recover doctor; do
		[ -e "man/jis-$f.1" ] || complain "jis $f has no man page"
	done
}

check_agent() {
	[ ! -e "$BUILD/libjisagent.so" ] || scripts/lint-glibc.sh "$BUILD/libjisagent.so" ||
		complain "the agent needs too new a C library"
}

case ${1:-} in
--format) format_all -i; exit ;;
--format-check) format_all --dry-run --Werror; exit ;;
esac
check_includes
check_spdx
check_size
check_format
check_shell
check_man
check_agent
[ $bad = 0 ] && echo "lint: clean"
exit $bad
