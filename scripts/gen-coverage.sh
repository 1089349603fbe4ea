#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gen-coverage.sh DOC: the table "What each backend records" of DOC (docs/recording.md) as lines of C, for `jis doctor`:
# COVERAGE(what, kmod, ftrace), the texts without their Markdown. A cell begins with yes, no or "in part".
set -euo pipefail
awk -F ' *[|] *' '
function text(s) { gsub(/`/, "", s); gsub(/[\\"]/, "\\\\&", s); return "\"" s "\"" }
/^#/ { inside = /^### What each backend records$/; next }
!inside || !/^[|]/ || /^[|][-|]*$/ || $3 == "kmod" { next }
NF != 5 || $2 == "" || $3 !~ /^(yes|no|in part)([^a-z]|$)/ || $4 !~ /^(yes|no|in part)([^a-z]|$)/ {
	print FILENAME ": a row of the table is not WHAT | yes, no, in part... | yes, no, in part...: " $0 >"/dev/stderr"
	exit bad = 1
}
{ print "COVERAGE(" text($2) ", " text($3) ", " text($4) ")"; n++ }
END {
	if (!bad && !n) print FILENAME ": no table of what each backend records" >"/dev/stderr"
	exit bad || !n
}' "${1:?usage: gen-coverage.sh DOC}"
