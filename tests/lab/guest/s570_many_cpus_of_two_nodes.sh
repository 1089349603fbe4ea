#!/bin/bash
# SPDX-License-Identifier: MIT
#
# More CPUs than a word has bits, on two NUMA nodes (SMP=72 NODES=2): each CPU's ring is memory of its own node,
# a thread that goes to each CPU in turn is seen there, and each change of its affinity is told, those beyond the
# first word's CPUs, too.
# lab-timeout: 900

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/1kmod.lib.sh
. "$(dirname "$0")/1kmod.lib.sh"

cpus=$(nproc)
mapfile -t nodes < <(cd /sys/devices/system/node && ls -d node[0-9]*)
if [ "$cpus" -le 64 ] || [ ${#nodes[@]} -lt 2 ]; then
	skip "$cpus CPUs, ${#nodes[@]} nodes: SMP=72 NODES=2 gives more"
fi

# CPU, a node its ring has memory of, and pages, as the kernel says of the mapping
rings()
{
	local range offset name start words word

	while read -r range _ offset _ _ name; do
		[[ $name = /jis-ring* ]] || continue
		start=${range%-*}
		read -r -a words < <(grep "^$start " "/proc/$1/numa_maps")
		for word in "${words[@]}"; do
			[[ $word != N[0-9]* ]] || echo "$((0x$offset >> 40)) ${word/=/ }"
		done
	done <"/proc/$1/maps"
}

pages=16
# shellcheck disable=SC2016 # for that shell
start_raw wide -b $((cpus * pages * 4096)) -p $$
for ((cpu = 0; cpu < cpus; cpu++)); do
	taskset -pc "$cpu" $$ >"$LAB_TMP/taskset" || fail "$(cat "$LAB_TMP/taskset")"
	/bin/true # waits for its end, there
done
all_mapped()
{
	rings "$raw_pid" >"$LAB_OUT/rings"
	[ "$(wc -l <"$LAB_OUT/rings")" = "$cpus" ]
}
kill -USR1 "$raw_pid" # it pauses: the last packets of all CPUs are handed out
wait_for 60 "a ring of each CPU in the reader's memory" all_mapped
while read -r cpu node n; do
	[ -d "/sys/devices/system/cpu/cpu$cpu/node${node#N}" ] || fail "the ring of CPU $cpu is memory of node ${node#N}"
	[ "$n" = "$pages" ] || fail "the ring of CPU $cpu has $n pages of node ${node#N}, not $pages"
done <"$LAB_OUT/rings"
ok "rings: $(cut -d' ' -f2 "$LAB_OUT/rings" | sort | uniq -c | tr -s ' \n' ' ')"

stop_raw wide "$raw_pid"
[ "$(lost_of wide)" = 0 ] || fail "records were lost: $(cat "$LAB_OUT/wide")"
sort -s -n -k2,2 "$records.wide" | awk -v tid=$$ -v cpus="$cpus" "$awk_fields"'
$3 == "thread_attributes" && v("tid") == tid { told++; single += v("nr_cpus") == 1 }
$3 == "sched_migrate_task" && v("tid") == tid && v("dest_cpu") == at + 1 { at++; moved++ }
END { print told + 0, single + 0, moved + 0; exit single != cpus || moved < cpus - 1 }' >"$LAB_OUT/told" ||
	fail "$cpus changes of affinity and $((cpus - 1)) moves; told, of them to one CPU, moves: $(cat "$LAB_OUT/told")"
ok "$cpus CPUs in turn: $(cat "$LAB_OUT/told")"

# The way of a user: the tool gets and writes what each CPU has.
for ((cpu = 0; cpu < cpus; cpu++)); do
	echo "taskset -c $cpu sh -c 'kill -$((cpu % 30 + 34)) \$\$'"
done >"$LAB_TMP/each"
echo 'exit 0' >>"$LAB_TMP/each"
taskset -pc "0-$((cpus - 1))" $$ >"$LAB_TMP/taskset" || fail "$(cat "$LAB_TMP/taskset")"
"$JIS" record -o "$LAB_TMP/trace" --backend kmod -- sh "$LAB_TMP/each" >"$LAB_OUT/record" 2>&1 || fail "jis record: $(cat "$LAB_OUT/record")"
"$JIS" dump "$LAB_TMP/trace" --event sched_process_exit >"$LAB_OUT/exits" || fail "jis dump"
"$JIS" info "$LAB_TMP/trace" >"$LAB_OUT/info" 2>&1 || fail "jis info: $(tail "$LAB_OUT/info")"
for ((cpu = 0; cpu < cpus; cpu++)); do
	grep -q " kernel/cpu-$cpu .* exit_code = $((cpu % 30 + 34)) }" "$LAB_OUT/exits" || fail "nobody ended so on CPU $cpu: $(head -n 3 "$LAB_OUT/exits")"
done
ok "jis record: ends on each CPU"
