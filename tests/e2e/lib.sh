# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the end-to-end tests. The runner gives BUILD, JIS, JAVA and TESTDIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CHECKERS=$here/checkers
TESTPROG=$BUILD/tests/prog
CLASSES=$BUILD/tests/classes
MARKERS=$BUILD/jis-markers.jar
# shellcheck source=tests/e2e/lib_check_jni.sh
. "$here/lib_check_jni.sh"
# The file the JVM is in, and the command to run it by.
REAL_JAVA=${JAVA:-}
JAVA=$(check_jni "$REAL_JAVA")
export PYTHONDONTWRITEBYTECODE=1

fail() {
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# expect_status STATUS COMMAND...: runs it, keeps its output in $TESTDIR/out and err, checks the status.
expect_status() {
	local want=$1 got=0
	shift
	"$@" >"$TESTDIR/out" 2>"$TESTDIR/err" || got=$?
	[ "$got" = "$want" ] || { cat "$TESTDIR/out" "$TESTDIR/err"; fail "$* ended with $got, expected $want"; }
}

# expect_says TEXT: the last expect_status printed TEXT on either output.
expect_says() {
	grep -qF -- "$1" "$TESTDIR/out" "$TESTDIR/err" || { cat "$TESTDIR/out" "$TESTDIR/err"; fail "it does not say: $1"; }
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || fail "waited in vain for: $*"
		sleep 0.05
	done
}

# threads_dumped LOG FILE: is all of the thread dump that SIGQUIT asks a JVM for in its output? Then it is in FILE.
threads_dumped() {
	sed -n '/^Full thread dump/,$p' "$1" >"$2" && grep -q '^"VM Thread"' "$2"
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# The backend this run uses: BACKEND=kmod or ftrace; auto by default.
BACKEND=${BACKEND:-auto}
# An array and no function: in the background a function is a shell of its own between test and jis.
RECORD=("$JIS" record --backend "$BACKEND")

# steal_ns: what the hypervisor and interrupts have taken from all CPUs until now: a thread that is on the
# CPU then runs by the trace, and does not by schedstat (CONFIG_PARAVIRT_TIME_ACCOUNTING,
# CONFIG_IRQ_TIME_ACCOUNTING).
steal_ns() {
	awk -v hz="$(getconf CLK_TCK)" '/^cpu /{printf "%.0f\n", ($7 + $8 + $9) * 1e9 / hz}' /proc/stat
}

# stale_instances: tracefs instances whose recorder no longer lives.
stale_instances() {
	local i pid
	for i in /sys/kernel/tracing/instances/jis-*; do
		[ -d "$i" ] || continue
		pid=${i##*/jis-}
		kill -0 "${pid%%-*}" 2>/dev/null || echo "$i"
	done
}

# switches_follow FILE: in a text of tracefs, does each switch of a CPU go from the thread that the one before went to?
switches_follow() {
	sed -nE 's/^.{16}-[0-9]+ +\[([0-9]+)\].* prev_pid=([0-9]+) prev_prio=.* next_pid=([0-9]+) next_prio=[-0-9]+$/\1 \2 \3/p' "$1" |
		awk '$1 in on && on[$1] != $2 {n++} {on[$1] = $3}
			END {if (n) print n " switches of " NR " do not follow the one before"; exit n > 0 || !NR}'
}

# tracepoint_sees_all: does the kernel's sched_switch tracepoint count as many switches as /proc/stat, and are they whole?
# Asked of an own tracefs instance for a second, over all CPUs, and with some load; three times, as the
# tracepoint is heard a little longer, which hides what it misses when the machine is busy.
tracepoint_sees_all() {
	local t=/sys/kernel/tracing/instances/sees-all-$$ before after seen i round missed=0
	mkdir "$t" || return 0
	echo 0 >"$t/tracing_on"
	echo 16384 >"$t/buffer_size_kb"
	echo 1 >"$t/events/sched/sched_switch/enable"
	for ((round = 0; round < 3 && missed == 0; round++)); do
		echo >"$t/trace"
		echo 1 >"$t/tracing_on"
		before=$(awk '/^ctxt/{print $2}' /proc/stat)
		for ((i = 0; i < 100; i++)); do sleep 0.01; done
		after=$(awk '/^ctxt/{print $2}' /proc/stat)
		echo 0 >"$t/tracing_on"
		seen=$(awk '/^(entries|overrun|dropped events):/{n += $NF} END {print n + 0}' "$t"/per_cpu/cpu*/stats)
		echo "switches in a second: $((after - before)) by /proc/stat, at least $seen by the tracepoint"
		[ "$seen" -ge $((after - before)) ] && switches_follow "$t/trace" || missed=1
	done
	rmdir "$t"
	return $missed
}
