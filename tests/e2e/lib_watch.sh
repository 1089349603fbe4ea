# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests that record, after lib.sh: a witness of the kernel's switches beside the recording.

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
	echo 32768 >$watch/buffer_size_kb
	for event in sched_switch sched_waking sched_migrate_task; do
		echo 1 >"$watch/events/sched/$event/enable"
	done
	switches_before=$(awk '/^ctxt/{print $2}' /proc/stat)
}

# watch_end: puts what was seen into $TESTDIR/watched; fails when the tracepoint did not show each switch: fewer than
# /proc/stat counts, or one from a thread that the CPU's switch before did not go to.
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
	[ "$seen" -ge "$switches" ] && switches_follow "$TESTDIR/watched"
}
