#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From the recorder to the report: behind whom a thread waited, how long its cgroup was throttled, by what it was
# woken, and the events asked for, in report, dump, info and the Paraver trace; what the model says is ready time
# is what the kernel itself has as run delay.
# lab-suite: trixie

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason
root=/sys/fs/cgroup
cd "$LAB_TMP" || exit 1

"$JIS" doctor >doctor.out
grep -q 'for --events: fault, block, irq, signal, power' doctor.out || fail "doctor: $(grep events doctor.out)"
ok "$(grep 'for --events' doctor.out)"

# behind whom
"$reason" spin 100 1 >busy.out &
busy=$!
"$JIS" record -q --no-agent --backend kmod -o behind -- "$reason" spin 5 1 >spin.out || fail "record"
kill $busy
tid=$(sed -n 's/^tid //p' spin.out)
"$JIS" report behind | tee behind.out
"$JIS" report --json behind >behind.json
python3 - "$tid" $busy <<'PY' || fail "the report"
import json, sys
r = json.load(open("behind.json"))
t = next(t for t in r["threads"] if t["tid"] == int(sys.argv[1]))
ready = t["states"]["ready"]
behind = t["behind_idle"] + t["behind_target"] + t["behind_foreign"]
print("ready", ready, "behind", behind, "top", t["top_behind"])
assert ready > 0 and behind <= ready
# all but what the state dump and the moves between CPUs leave open
assert behind > 0.9 * ready
assert t["top_behind"]["tid"] == int(sys.argv[2]) and t["top_behind"]["time"] > 0.7 * ready
PY
grep -q "\[$tid\].*behind jisreason \[$busy\]" behind.out || fail "the table does not say behind whom"
ok "waited behind [$busy]"

# throttled
if echo +cpu >$root/cgroup.subtree_control && mkdir $root/k460 && echo "20000 100000" >$root/k460/cpu.max; then
	# shellcheck disable=SC2016
	"$JIS" record -q --no-agent --backend kmod -o quota -- \
		bash -c 'echo $$ >/sys/fs/cgroup/k460/cgroup.procs; exec "$0" spin 4 0' "$reason" >quota.out || fail "record"
	us=$(sed -n 's/^throttled_usec //p' $root/k460/cpu.stat)
	rmdir $root/k460
	"$JIS" report quota
	"$JIS" report --json quota >quota.json
	"$JIS" export paraver quota -q -o quota.prv --wakeups all || fail "export"
	python3 - "$us" <<'PY' || fail "the report"
import json, sys
us = int(sys.argv[1])
r = json.load(open("quota.json"))
told = r["total"]["throttled"] / 1000
states = [l.split(":") for l in open("quota.prv") if l.startswith("1:")]
shown = sum(int(l[6]) - int(l[5]) for l in states if l[7].strip() == "37") / 1000
print("throttled: cpu.stat %d us, report %d us, Paraver %d us" % (us, told, shown))
assert us > 100000 and 0.9 * us <= told <= 1.1 * us and abs(shown - told) <= told / 100
PY
	ok "throttled as cpu.stat has it"
fi

# the events asked for
"$JIS" record -q --no-agent --backend kmod --events signal,irq -o events -- "$reason" signals 20 >events.out || fail "record"
"$JIS" info events | grep 'events *signal\|events *irq' >/dev/null || fail "info: $("$JIS" info events)"
n=$("$JIS" dump events | grep -c ' signal_deliver .*signal=10\| signal_deliver.*signal *= *10')
[ "$n" = 20 ] || fail "$n signals in the dump: $("$JIS" dump events | grep signal | head -n 3)"
for e in thread_attributes cgroup_name cgroup_attach; do
	"$JIS" dump events | grep " $e" | head -n 1 | grep . || fail "no $e in the dump"
done
"$JIS" record -q --backend ftrace --events fault -o no -- true 2>no.err && fail "ftrace takes --events fault"
cat no.err
"$JIS" record --events signal,nonsense -o no2 -- true 2>no2.err && fail "nonsense is taken"
grep -q '"nonsense" is none of' no2.err || fail "$(cat no2.err)"
ok "events asked for"
