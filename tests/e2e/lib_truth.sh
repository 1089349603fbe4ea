# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests that hold a trace against the kernel's own books: what they check, and what they allow for.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_root

# An own tracefs instance beside the recording, by a name that no recorder takes for one of a dead recorder: it
# tells how many switches the tracepoint showed meanwhile, and which sleeping threads were moved to another CPU
# (truth.py, --watched). With one CPU and jis.ko it has nothing to tell, and is not there.
watch=/sys/kernel/tracing/instances/truth-$$
trap 'rmdir $watch 2>/dev/null || true' EXIT

watch_begin() {
	local event
	[ "$BACKEND" != kmod ] || [ "$(nproc)" -gt 1 ] || return 0
	mkdir $watch || fail "no tracefs instance can be made"
	echo mono_raw >$watch/trace_clock
	echo 16384 >$watch/buffer_size_kb
	for event in sched_switch sched_waking sched_migrate_task; do
		echo 1 >"$watch/events/sched/$event/enable"
	done
	switches_before=$(awk '/^ctxt/{print $2}' /proc/stat)
}

# watch_end: puts what was seen into $TESTDIR/watched; fails when the tracepoint showed fewer switches than
# /proc/stat counts.
watch_end() {
	: >"$TESTDIR/watched"
	[ -d $watch ] || return 0
	local switches=$(($(awk '/^ctxt/{print $2}' /proc/stat) - switches_before)) seen
	echo 0 >$watch/tracing_on
	cat $watch/trace >"$TESTDIR/watched"
	awk '/^overrun:/{n += $NF} END {exit n > 0}' $watch/per_cpu/cpu*/stats || fail "the watch overran its buffer"
	rmdir $watch
	seen=$(grep -c ' sched_switch: ' "$TESTDIR/watched")
	echo "switches during the recording: $switches by /proc/stat, $seen by the tracepoint"
	[ "$seen" -ge "$switches" ]
}

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
	if [ "$BACKEND" != kmod ] && { [ $missed = 1 ] || ! tracepoint_sees_all; }; then
		echo "this kernel's sched_switch tracepoint misses switches: what lies between may be unknown"
		# On an idle machine these are most of the switches that end idling.
		unknown=70
		PER_SWITCH=${PER_SWITCH:-2000}
	fi
	python3 "$CHECKERS/truth.py" "$1" "$TESTDIR/truth.prv" "$2" --steal "$3" --unknown $unknown \
		--per-switch "${PER_SWITCH:-200}" --watched "$TESTDIR/watched"
}
