#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Time stolen from a CPU and changes of frequency, which an emulated machine does not have: another module plays them,
# the first in the kernel's own books. Each change is told, with what /proc/stat counts; the report has their sum, and of
# each thread what was stolen while it had the CPU: of one that spins there all, of one on another CPU nothing.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason
pretend=/sys/module/jispretend/parameters

insmod "$JIS_BUILD/kmod-lab/jispretend.ko" || fail "the module that pretends does not load"

play() # NAME VALUE
{
	echo "$2" >"$pretend/$1" || fail "$1: $2"
}

switches() { awk '/voluntary_ctxt_switches/ { n += $2 } END { print n }' "/proc/$1/status"; }
has_switched() { [ "$(switches "$1")" -ge "$2" ]; }

# steal PID NS: from CPU 1, where PID is switched then
steal()
{
	play steal "1 $2"
	wait_for 30 "switches of $1" has_switched "$1" $(($(switches "$1") + 3))
}

stolen_ticks() { awk '$1 == "cpu1" { print $9 }' /proc/stat; }

thefts=(30000000 1 250000000 4000000000 70000007)
first=$(stolen_ticks)
# shellcheck disable=SC2016 # for that shell
start_raw steal -C -b $((32 << 20)) -p $$ # who spins there is a child of this shell
"$reason" irq 3600 1 >"$LAB_OUT/irq" &
pid=$!
wait_for 30 "its pinning" test -s "$LAB_OUT/irq"
for ns in "${thefts[@]}"; do
	steal $pid "$ns"
	stolen_ticks
done >"$LAB_OUT/counted"
play steal "0 123456789"
kill $pid
stop_raw steal "$raw_pid"
awk "$awk_fields"'$3 == "cpu_steal" && $1 == 1 { print $2, v("stolen") }' "$records.steal" | sort -n | awk '{ print $2 }' >"$LAB_OUT/told"
expected=$((first * 10000000))
for ns in "${thefts[@]}"; do
	expected=$((expected + ns))
	grep -qx "$expected" "$LAB_OUT/told" || fail "$expected ns in all were stolen of CPU 1; told: $(paste -sd' ' "$LAB_OUT/told")"
done
[ "$(uniq "$LAB_OUT/told" | wc -l)" = "$(wc -l <"$LAB_OUT/told")" ] || fail "told though it did not grow"
last=$(tail -n 1 "$LAB_OUT/told")
[ $((last / 10000000)) = "$(tail -n 1 "$LAB_OUT/counted")" ] || fail "told $last ns, /proc/stat has $(tail -n 1 "$LAB_OUT/counted") hundredths"
ok "${#thefts[@]} thefts, each told once, $last ns in all"

frequencies=("0 1800000" "1 2400000" "1 800000" "0 4294967295")
# shellcheck disable=SC2016 # for that shell
start_raw frequency -e 16 -b $((32 << 20)) -p $$
for f in "${frequencies[@]}"; do
	play frequency "$f"
done
stop_raw frequency "$raw_pid"
awk "$awk_fields"'$3 == "cpu_frequency" { print $2, v("cpu"), v("frequency") }' "$records.frequency" | sort -n | cut -d' ' -f2- >"$LAB_OUT/frequencies"
diff <(printf '%s\n' "${frequencies[@]}") "$LAB_OUT/frequencies" || fail "frequencies played (<) and told (>)"
start_raw unasked -b $((32 << 20)) -p $$
play frequency "1 1000000"
stop_raw unasked "$raw_pid"
! grep ' cpu_frequency ' "$records.unasked" || fail "a frequency nobody asked for"
ok "${#frequencies[@]} frequencies"

# The way of a user. One spins on CPU 1, from where it is stolen, one on CPU 0, with all else that is about.
taskset -cp 0 $$ >/dev/null || fail "this shell cannot be pinned"
# shellcheck disable=SC2016
"$JIS" record -q -o "$LAB_TMP/trace" --backend kmod -- sh -c '"$0" spin 3600 1 & one=$!; "$0" spin 3600 0 &
	until [ -e "$1" ]; do sleep 0.1; done; kill $one $!' "$reason" "$LAB_TMP/enough" >"$LAB_OUT/record" 2>&1 &
recorder=$!
both() { [ "$(grep -c '^tid' "$LAB_OUT/record")" = 2 ]; }
wait_for 60 "the programs, pinned" both
on_cpu() { awk '{ sub(/.*\)/, ""); print $37 }' "/proc/$1/stat"; }
for pid in $(sed -n 's/^tid //p' "$LAB_OUT/record"); do
	[ "$(on_cpu "$pid")" = 1 ] && robbed=$pid || spared=$pid
done
# switched PID N: makes it leave CPU 1 for another that is short
switched() { taskset -c 1 true; has_switched "$1" "$2"; }
for _ in 1 2 3 4 5; do
	play steal "1 2000000"
	wait_for 30 "switches of $robbed" switched "$robbed" $(($(switches "$robbed") + 1))
done
touch "$LAB_TMP/enough"
wait $recorder || fail "jis record: $(cat "$LAB_OUT/record")"
"$JIS" report -q --json "$LAB_TMP/trace" >"$LAB_OUT/report.json" || fail "jis report"
"$JIS" dump -q "$LAB_TMP/trace" >"$LAB_OUT/dump" || fail "jis dump"
# Another may have had CPU 1 when the module looked: the trace has who.
python3 - "$LAB_OUT/report.json" "$LAB_OUT/dump" "$robbed" "$spared" <<'PY' || fail "what was stolen of each thread"
import json, re, sys
report, robbed, spared = json.load(open(sys.argv[1])), int(sys.argv[3]), int(sys.argv[4])
on, stood, stolen = {}, {}, {}
for line in open(sys.argv[2]):
    _, cpu, event, rest = line.split(None, 3)
    f = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (\d+|0x[0-9a-f]+)", rest)}
    if event == "sched_switch":
        on[cpu] = f["next_tid"]
    elif event == "cpu_steal":
        who = on.get(cpu)
        stolen[who] = stolen.get(who, 0) + f["stolen"] - stood.get(cpu, f["stolen"])
        stood[cpu] = f["stolen"]
told = {t["tid"]: t for t in report["threads"]}
print("in all", report["stolen"], "of who spins there", told[robbed]["stolen"], "elsewhere", told[spared]["stolen"], "by the trace", stolen)
assert report["stolen"] == 10000000, "5 times 2 ms were stolen"
assert told[robbed]["stolen"] == stolen.get(robbed, 0) >= 6000000
assert told[spared]["stolen"] == 0 < told[spared]["states"]["running"]
assert not [t for t in told if t != robbed and told[t]["stolen"] != stolen.get(t, 0)]
PY
ok "jis report has what was stolen, and of whom"
rmmod jispretend || fail "it does not unload"
