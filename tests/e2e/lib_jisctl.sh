# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests of libjisctl (1*.sh): a recorder without the tool, counts from a manifest, records
# as babeltrace2 reads them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_root
WITNESS=$TESTPROG/witness

minirec() {
	local options=()
	case $BACKEND in
	kmod | ftrace) options=(-b "$BACKEND") ;;
	esac
	"$TESTPROG/minirec" "${options[@]}" "$@"
}

# counts TRACE: lines "path produced stored lost clean"; fails when one does not add up.
counts() {
	python3 - "$1" <<'PY'
import json, sys
m = json.load(open(sys.argv[1] + "/manifest.json"))
bad = not m["complete"]
for s in m["streams"]:
    p, t, l = (sum(s[k].values()) for k in ("produced", "stored", "lost"))
    print(s["path"], p, t, l, s["clean"])
    bad |= p != t + l or not s["clean"]
print("notes", m["notes"])
sys.exit(bad or bool([n for n in m["notes"] if "add up" in n]))
PY
}

# records TRACE NAME [FIELD=VALUE...]: how many of them babeltrace2 finds.
records() {
	local trace=$1 pattern=" $2: " f
	shift 2
	babeltrace2 "$trace" 2>"$TESTDIR/babeltrace.err" >"$TESTDIR/records"
	for f in "$@"; do
		grep -E "$pattern" "$TESTDIR/records" | grep -E "[ ,{]${f%%=*} = ${f#*=}[ ,}]" >"$TESTDIR/some" || true
		mv "$TESTDIR/some" "$TESTDIR/records"
	done
	grep -cE "$pattern" "$TESTDIR/records" || true
}

# manifest TRACE MEMBER: prints it.
manifest() {
	python3 -c 'import json,sys; print(json.load(open(sys.argv[1]+"/manifest.json"))[sys.argv[2]])' "$1" "$2"
}

instances() {
	find /sys/kernel/tracing/instances -mindepth 1 -maxdepth 1 -name 'jis-*' 2>/dev/null
}
