#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Safepoints by probes in the JVM: the same ones, with the same names and times within 100 us, as a log that the JVM
# writes by itself; started and attached, in another root, of two JVMs at once, and around a pause; on every JDK that
# is here. The probes are in the JVM's code while it is recorded and not a moment longer, also after kill -9 of the
# recorder, whose trace has them.
. "$(dirname "$0")/lib_jdks.sh"
. "$(dirname "$0")/lib_attach.sh"
cd "$TESTDIR" || exit 1
"$JIS" doctor | grep >/dev/null '^uprobes  *ok' || skip "no uprobes here"

N=8
check() { # TRACE LOG OPTION...
	local trace=$1 log=$2
	shift 2
	[ -e "$trace.dump" ] || "$JIS" dump -q "$trace" >"$trace.dump"
	"$JIS" info --json "$trace" >"$trace.info"
	python3 "$CHECKERS/safepoints.py" "$log" "$trace.dump" "$trace.info" --source 2 "$@" || fail "$trace"
	"$JIS" report --json "$trace" >"$trace.json"
	python3 - "$trace.json" <<'EOP' || fail "$trace: the report"
import json, sys
r = json.load(open(sys.argv[1]))
sums = {s["name"]: s["count"] for s in r["safepoints"]}
assert sums.get("ThreadDump", 0) >= 8 and "" not in sums, sums
assert not {k: v for k, v in r["counts"]["errors"].items() if "safepoint" in k and v}, r["counts"]["errors"]
EOP
}
started() { # NAME JAVA...
	local name=$1 clock=auto
	shift
	[ "${name%-raw}" = "$name" ] || clock=raw
	"${RECORD[@]}" -q --clock $clock -o "$name" -- "$@" -Xlog:safepoint=info:file="$TESTDIR/$name.log":timenanos \
		-cp "$CLASSES" Doings spin,safepoints $N >out 2>err || { cat err; fail "$name: exit status $?"; }
	check "$name" "$name.log" --at-least $((2 * N)) --from-start --to-end
}
# jvm_begin NAME WHAT JAVA...: one that waits to be told; its log is in jvm_log.
jvm_begin() {
	local name=$1 what=$2
	shift 2
	rm -f in
	mkfifo in
	: >out
	"$@" -Xlog:safepoint=info:file=/tmp/jis-"$name-$$".log:timenanos -cp "$CLASSES" Doings "$what" $N <in >out 2>err &
	server=$!
	exec 9>in
	wait_for 60 grep -q READY out
	jvm=$(jvm_below $server)
	jvm_log=/proc/$jvm/root/tmp/jis-$name-$$.log
}
jvm_go() { # how often it is READY then
	said() { [ "$(grep -c READY out)" = "$1" ]; }
	echo >&9
	wait_for 60 said "$1"
}
jvm_end() {
	cp "$jvm_log" "$1.log"
	rm -f "$jvm_log"
	echo >&9
	exec 9>&-
	wait $server || { cat err; fail "$1: the program ended with $?"; }
}
code() { python3 "$CHECKERS/probes.py" "$jvm"; }
# No process has an event any more but those that had one before, and those of tests that run beside this one.
perf_events() {
	local pid
	for pid in $({ find /proc/[0-9]*/fd -lname 'anon_inode:*perf_event*' 2>/dev/null || true; } | cut -d/ -f3 | sort -u); do
		tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep '^TESTDIR=' | grep -qvFx "TESTDIR=$TESTDIR" || echo "$pid"
	done
}
perf_events >others
clean() { perf_events | comm -13 others - >left && [ ! -s left ]; }
attached() { "$JIS" attach -q -o "$1" "$jvm" 2>/dev/null; }
running() { # NAME JAVA...
	local name=$1
	shift
	jvm_begin "$name" spin,wait,safepoints,wait,safepoints,wait,safepoints,wait,safepoints,wait "$@"
	[ "$(code)" = nop ] || fail "$name: $(code) before the recording"
	record_start "$name" -p "$jvm"
	wait_for 60 attached "$name"
	[ "$(code)" = trap ] || fail "$name: $(code) in the recording"
	! grep -q "process $jvm: safepoints from" rec.err || fail "$name: $(grep safepoints rec.err)"
	jvm_go 2
	"$JIS" pause -q "$name"
	jvm_go 3
	"$JIS" resume -q "$name"
	jvm_go 4
	record_end
	clean || fail "$name: events outlive the recording"
	[ "$(code)" = nop ] || fail "$name: $(code) after the recording"
	jvm_go 5
	jvm_end "$name"
	"$JIS" dump -q "$name" >"$name.dump"
	[ "$(grep -c ' safepoint_end ' "$name.dump")" -ge $((4 * N)) ] || fail "$name: too few"
	# What came while it was paused is in the log only: the two parts are held against it one by one.
	awk '/session_mark \{ mark = 3 /{exit} {print}' "$name.dump" >"$name-a.dump"
	awk '/session_mark \{ mark = 3 /{on = 1} on || !/ safepoint_/' "$name.dump" >"$name-b.dump"
	for part in a b; do
		ln -s "$name" "$name-$part"
		grep ' clock_sync ' "$name.dump" >>"$name-$part.dump"
		check "$name-$part" "$name.log" --at-least $((2 * N))
	done
}
killed() { # NAME JAVA...
	local name=$1
	shift
	jvm_begin "$name" wait,safepoints,wait,safepoints,wait,safepoints "$@"
	record_start "$name" -p "$jvm" --flush 50
	wait_for 60 attached "$name"
	jvm_go 2
	sleep 0.5
	[ "$(code)" = trap ] || fail "$name: $(code) in the recording"
	kill -9 "$recorder"
	wait "$recorder" 2>/dev/null || true
	wait_for 60 clean
	jvm_go 3
	echo "after kill -9 of the recorder: $(code)"
	jvm_end "$name"
	"$JIS" recover "$name" >/dev/null || fail "jis recover"
	check "$name" "$name.log" --at-least $((2 * N))
}

n=0
while read -r version java; do
	started "jdk$version" "$java" -XX:+UseSerialGC
	[ "$version" != 17 ] || started "jdk$version-raw" "$java" -XX:-UsePerfData
	n=$((n + 1))
done < <(jdks)
[ "$n" -gt 0 ] || fail "no JDK"
for java in "${JAVAS[@]}"; do
	running "attached-$(java_version "$java")" "$java"
done
killed killed "$JAVA"

# Two JVMs in one recording, each with its own probes.
"${RECORD[@]}" -q -o two -- sh -c 'for i in 1 2; do "$@" -Xlog:safepoint=info:file="$PWD/two$i.log":timenanos \
	-cp "$0" Doings safepoints '$N' >out$i & echo $! >pid$i; done; wait' "$CLASSES" "$JAVA" 2>err || { cat err; fail "two: $?"; }
for i in 1 2; do
	check two two$i.log --pid "$(cat pid$i)" --at-least $((2 * N)) --from-start --to-end
done
