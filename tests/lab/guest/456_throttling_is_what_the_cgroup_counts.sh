#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A quota that is used up: as often as a probe of tracefs on the scheduler's function counts it, and as long as
# cpu.stat of the cgroup has it; told of no other cgroup.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"
reason=$JIS_BUILD/tests/lab/jisreason

root=/sys/fs/cgroup
echo +cpu >$root/cgroup.subtree_control || skip "no cpu controller"
mkdir -p $root/k456/inner
echo "20000 100000" >$root/k456/cpu.max || skip "no quotas"
number=$(($(stat -c %i $root/k456) & 0xffffffff))
tracing=/sys/kernel/tracing
# shellcheck disable=SC2016 # tracefs's own
echo 'r:jis456 throttle_cfs_rq did=$retval:u8' >>$tracing/kprobe_events || skip "tracefs has no probes"
echo 'did == 1' >$tracing/events/kprobes/jis456/filter
echo 1 >$tracing/events/kprobes/jis456/enable
clean_up()
{
	echo 0 >$tracing/events/kprobes/jis456/enable
	echo '-:jis456' >>$tracing/kprobe_events
	: >$tracing/trace
}
trap clean_up EXIT
stat_of() { sed -n "s/^$1 //p" $root/k456/cpu.stat; }
# shellcheck disable=SC2016
into='echo $$ >/sys/fs/cgroup/k456/inner/cgroup.procs; exec "$0" spin 4 0'
try_raw quota -r -b $((32 << 20)) bash -c "$into" "$reason"
times=$(grep -c jis456: $tracing/trace) us=$(stat_of throttled_usec)
if ! grep -qE '^features 0x[0-9a-f]*[4567cdef][0-9a-f]{2}$' "$LAB_OUT/quota"; then
	rmdir $root/k456/inner $root/k456
	skip "this kernel does not let the module see it: $(grep features "$LAB_OUT/quota")"
fi
sort -s -n -k2,2 "$records.quota" | awk "$awk_fields"'
$3 == "cgroup_throttle" {
	if (v("cgroup") != number) { print "another cgroup: " $0; bad++ }
	cpu = v("cpu")
	if (v("throttled") == 1) { if (cpu in since) { print "twice: " $0; bad++ }; since[cpu] = $2; n++ }
	else if (cpu in since) { time += $2 - since[cpu]; delete since[cpu] }
}
END { printf "%d %d\n", n, time / 1000; exit bad > 0 }' number="$number" >"$LAB_OUT/sums" || fail "$(head -n 3 "$LAB_OUT/sums")"
read -r told told_us <"$LAB_OUT/sums"
echo "recorded $told times, $told_us us; tracefs $times times, cpu.stat $us us"
[ "$times" -ge 10 ] || fail "hardly throttled: $(cat $root/k456/cpu.stat)"
# The module knows whose run queue a CPU's is from the moment a target runs there: one that is throttled and let go
# between a thread's move to that CPU and its first run there is not told, once a CPU.
if [ "$told" -gt "$times" ] || [ "$told" -le $((times - $(nproc))) ]; then
	fail "$told times, tracefs has $times"
fi
if [ "$told_us" -lt $((us * 9 / 10)) ] || [ "$told_us" -gt $((us * 11 / 10)) ]; then
	fail "$told_us us, the cgroup has $us"
fi
ok "as cpu.stat has it"

# another cgroup with a quota, no target in it: nothing is told
bash -c "$into" "$reason" >/dev/null &
try_raw other -b $((16 << 20)) "$reason" spin 2 1
wait
! grep cgroup_throttle "$records.other" || fail "a throttled cgroup without targets is told"
ok "of no other cgroup"
rmdir $root/k456/inner $root/k456
