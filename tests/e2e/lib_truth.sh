# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests that hold a trace against the kernel's own books: what they check, and what they allow for.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib_watch.sh"
need_root

# states_are_true TRACE PROGRAM STEAL: TRACE says the same as the books in PROGRAM (checkers/truth.py), nothing
# is lost, the Paraver files keep all rules. STEAL: by how much steal_ns grew during the recording, which began
# after watch_begin.
states_are_true() {
	local unknown=0 missed=0
	watch_end || missed=1
	"$JIS" info --json "$1" >"$TESTDIR/info.json"
	python3 - "$TESTDIR/info.json" <<'PY' || fail "records were lost"
import json, sys
t = json.load(open(sys.argv[1]))["totals"]
print(t)
sys.exit(t["lost"] != 0 or t["produced"] != t["stored"])
PY
	"$JIS" export paraver -q "$1" -o "$TESTDIR/truth.prv"
	python3 "$CHECKERS/prv_check.py" "$TESTDIR/truth.prv"
	# Does this kernel's tracepoint see each switch? Where it does, nothing may be unknown.
	if [ "$BACKEND" != kmod ] && [ $missed = 1 ]; then
		echo "this kernel's sched_switch tracepoint misses switches: what lies between may be unknown"
		# On an idle machine these are most of the switches that end idling.
		unknown=70
		PER_SWITCH=${PER_SWITCH:-2000}
	fi
	python3 "$CHECKERS/truth.py" "$1" "$TESTDIR/truth.prv" "$2" --steal "$3" --unknown $unknown \
		--per-switch "${PER_SWITCH:-200}" --watched "$TESTDIR/watched"
}
