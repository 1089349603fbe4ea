#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flight recorder that sees thousands of processes end keeps neither memory, nor descriptors, nor directories of
# all of them; none is refused a pool, and what the last ones wrote is in a snapshot.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
brood=$TESTPROG/brood
# The recorder keeps 1024 that have ended (ENDED_MAX): the first stage has more, so that what grows after it does not stop.
first=${FIRST:-1200} n=${BROOD:-1200}
all=$((first + 2 * n))

# shellcheck disable=SC2016 # for the shell that is recorded
"${RECORD[@]}" -q -o trace --flight-recorder --pool 256K --buffer "$((256 * $(getconf _NPROCESSORS_CONF)))K" -- \
	bash -c 'from=0 stage=0
	for n; do
		"$0" "$n" $from || exit 1
		from=$((from + n))
		touch done.$stage
		until [ -e go.$stage ]; do sleep 0.05; done
		stage=$((stage + 1))
	done' "$brood" "$first" "$n" "$n" 2>record.err &
recorder=$!
jis=$recorder
look() { # STAGE
	wait_for $((280 * ${LAB_SLOW:-1})) stage_done "$1"
	sleep 0.3 # for connections of those that have just ended
	# not of status, whose counts are late by up to 64 pages a thread; nor rings, which fill up
	echo "$(awk '/^Anonymous/{print $2}' /proc/$jis/smaps_rollup) $(ls /proc/$jis/fd | wc -l) $(find trace -maxdepth 1 -name 'process-*' | wc -l)"
}
stage_done() {
	kill -0 $recorder 2>/dev/null || fail "the recording ended: $(cat record.err)"
	[ -e "done.$1" ]
}
for stage in 0 1 2; do
	look $stage >look.$stage || { cat look.$stage; exit 1; }
	cat look.$stage
	if [ $stage = 2 ]; then
		"$JIS" snapshot -q -o snapshot trace || fail "no snapshot"
	fi
	touch go.$stage
done
wait $recorder || fail "the recording failed: $(cat record.err)"
read -r begin fds _ <look.0
read -r middle _ <look.1
read -r end fds_end directories <look.2
[ "$fds_end" -le $((fds + 8)) ] || fail "descriptors grew from $fds to $fds_end"
# Packets that wait to be taken are some 100 KiB now and then; what the kernel tells of a process is more than 350 bytes.
# What is kept of each grows in both stages.
[ $((middle - begin)) -le $((n / 4)) ] || [ $((end - middle)) -le $((n / 4)) ] ||
	fail "memory grew from $begin to $middle and $end KiB"
[ "$directories" -le 1032 ] || fail "$directories directories are left of $all processes"
for t in snapshot trace; do
	"$JIS" info --strict -q $t >$t.info || fail "$t is no whole trace: $(tail -n 5 $t.info)"
	"$JIS" dump -q --event marker $t | sed -n 's/.*value = \([0-9]*\).*/\1/p' | sort -n >$t.values
	[ "$(tail -n 1 $t.values)" = $((all - 1)) ] || fail "the last process's marker is not in $t"
	# without a gap from the first that is there on
	[ "$(wc -l <$t.values)" = $((all - $(head -n 1 $t.values))) ] || fail "$t: markers of processes are missing"
	[ "$(wc -l <$t.values)" -ge 20 ] || fail "$t has only $(wc -l <$t.values) processes"
done
wc -l snapshot.values trace.values
grep -q 'refused' trace.info && fail "processes were refused: $(grep refused trace.info)"
exit 0
