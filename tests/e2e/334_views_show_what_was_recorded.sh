#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each of Paraver's views, evaluated as Paraver does it on one recording that has something for each, shows it, and in all
# as much of it as the records, `jis report`, `jis stats` and `jis rmi` have. Only the messages of `connections` are not
# there: they need addresses, which the module tells (470 in the guests has them).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
top=$(cd "$here/../.." && pwd)
if [ -z "${ONE_JDK:-}" ]; then
	mapfile -t all < <(jdks 21)
	[ ${#all[@]} -gt 0 ] || skip "no JDK with virtual threads"
	for one in "${all[@]}"; do
		mkdir "$TESTDIR/${one%% *}"
		TESTDIR=$TESTDIR/${one%% *} ONE_JDK=$one bash "$0" || fail "JDK ${one%% *}"
	done
	exit
fi
java=${ONE_JDK#* }
cd "$TESTDIR" || exit 1

# Locks, parks, virtual threads, pools, things of the VM, methods, spans, calls of another JVM, connections.
cat >programs <<END
set -e
run() { "$java" --add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED -cp "$CLASSES:$MARKERS" "\$@" >>out 2>>err; }
run Waits 2 10
run WaitsVirtual 2 10
run Tasks 2 5
run LockHandOver 3
run -XX:+UseSerialGC -Xbatch Doings exceptions,classes,compilations,allocations,safepoints,fill 8
run CallsTold 2 2 platform
run AgentMarkers spans
run -Djava="$java" -Djava.rmi.server.hostname=127.0.0.1 -Djdk.lang.Process.launchMechanism=VFORK -Dsockets=. RemoteCalls tcp 1 2 10
"$TESTPROG/handover" 8 5 3 >>out
END
"$JIS" record --backend ftrace -q --pool 128M --all-switches --syscalls net,io,lock --allocations 16384 \
	--java default,queues,classes,compilations,exceptions --methods-budget 0 \
	--methods 'Calls*,!Calls$Own,!CallsTold,CallsTold$Napper,!**.overflow' -o t -- bash programs || { cat err; fail "not recorded"; }
"$JIS" info --strict t >info || { cat info; fail "records were lost"; }
"$JIS" export paraver -q --cpu-rows t -o x.prv
python3 "$CHECKERS/prv_check.py" --contradictions x.prv || fail "the Paraver files break a rule"
"$JIS" report -q --json t >report.json
"$JIS" stats -q --csv t >stats.csv
"$JIS" rmi -q --json --internal t >rmi.json
views() { python3 "$CHECKERS/views.py" "$@"; } # DIRECTORY X.prv [VIEW...]
figures=(report.json stats.csv rmi.json)
views "$top/paraver-export/cfg" t x.prv "${figures[@]}" || fail "see above"

# Stacks hold the same time, of virtual threads and of calls, too; also of a part of the recording.
collapsed() { "$JIS" export collapsed -q "$@" t; }
for kind in wall cpu off-cpu; do
	collapsed --calls $kind >$kind
done
collapsed --off-cpu >off
collapsed --off-cpu --by-reason >by
python3 "$CHECKERS/collapsed.py" report.json off by stats.csv wall cpu off-cpu || fail "collapsed stacks hold another time"
"$JIS" report -q --json --from 2s --to 4s t >part.json
collapsed --off-cpu --from 2s --to 4s >off
collapsed --off-cpu --by-reason --from 2s --to 4s >by
python3 "$CHECKERS/collapsed.py" part.json off by || fail "... of a part of the recording"

# It finds what is wrong: a state, a type, a tag, a bin, and rows of CPUs counted as threads.
cp -r "$top/paraver-export/cfg" cfg
sed -i 's/{ 1, { 1 1.000000 } }/{ 1, { 1 7.000000 } }/' cfg/load_balance.cfg
sed -i 's/77000011/77000012/' cfg/lock_time.cfg
sed -i 's/^window_filter_module tag_msg 1 10/window_filter_module tag_msg 1 15/' cfg/task_handover.cfg
sed -i 's/^Analyzer2D.Minimum: 1.0/Analyzer2D.Minimum: 5000.0/' cfg/ready_time.cfg
sed -i 's/workload, Thread i/workload, Adding/; /^window_semantic_module workload/d' cfg/live_threads.cfg
wrong=(load_balance lock_time task_handover ready_time live_threads)
views cfg t x.prv "${figures[@]}" "${wrong[@]}" >out.wrong && fail "faults are not found"
for name in "${wrong[@]}"; do
	grep -q "^-- the view $name\$" out.wrong || fail "the fault of $name is not found: $(cat out.wrong)"
done
