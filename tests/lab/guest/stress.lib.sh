# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The stress test's rounds (jisstress, jiswitness, jisstorm, jisfuzz in tests/lab/prog), the module's reloads
# between them, and the failing allocations. Sourced, after lib.sh, by a short and a long one.

stress=$JIS_BUILD/tests/lab/jisstress
export STRESS_STATS=$LAB_TMP/stats
# shellcheck disable=SC2034 # for those who source this
reloads=0
faults=(/sys/kernel/debug/{failslab,fail_page_alloc,fail_usercopy})
times=1000000000
injected=0 # before the last faults_begin
own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)

declare -A ranges # what range_of() has found: an emulated CPU takes seconds for it

# range_of FUNCTION: finds where the kernel has it
range_of()
{
	[ -z "${ranges[$1]:-}" ] || return 0
	ranges[$1]=$(sort /proc/kallsyms | awk -v name="$1" '
		from { if ($1 != from) { print "0x" from, "0x" $1; exit } next }
		$3 == name { from = $1 }')
}

# faults_on PROBABILITY INTERVAL [module | load | all]: memory allocations, and copies from and to user space, fail of
# processes that asked for it: in calls of the module, in its start, or in whatever they do. Only where the kernel
# can do that.
faults_on()
{
	local f from=0 to=0xffffffffffffffff not=(0 0)

	[ -d "${faults[0]}" ] || return 0
	case ${3:-module} in
	module)
		from=$(cat /sys/module/jis/sections/.text)
		printf -v to '0x%x' $((from + $(awk '$1 == "jis" { print $2 }' /proc/modules))) ;;
	load)
		range_of do_init_module
		read -r from to <<<"${ranges[do_init_module]}"
		range_of objpool_init
		read -ra not <<<"${ranges[objpool_init]}" ;; # the kernel itself complains when that fails
	esac
	for f in "${faults[@]}"; do
		echo 0 >"$f/probability"
		echo Y >"$f/task-filter"
		echo "$2" >"$f/interval"
		echo 0 >"$f/verbose"
		[ ! -e "$f/ignore-gfp-wait" ] || echo N >"$f/ignore-gfp-wait"
		echo 32 >"$f/stacktrace-depth"
		echo "$from" >"$f/require-start"
		echo "$to" >"$f/require-end"
		echo "${not[0]}" >"$f/reject-start"
		echo "${not[1]}" >"$f/reject-end"
		echo "$1" >"$f/probability"
	done
	echo 0 >"${faults[1]}/min-order"
}

faults_off()
{
	local f

	for f in "${faults[@]}"; do
		[ ! -d "$f" ] || echo 0 >"$f/probability"
	done
}

faults_begin()
{
	local f

	for f in "${faults[@]}"; do
		[ ! -d "$f" ] || echo $times >"$f/times"
	done
}

# How many of them have failed.
faults_hit()
{
	local f n=$injected

	for f in "${faults[@]}"; do
		[ ! -d "$f" ] || n=$((n + times - $(cat "$f/times")))
	done
	echo $n
}

sum()	# FIELD
{
	"$stress" sums | awk -v name="$1" '{ for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }'
}

module_out()
{
	wait_for 60 "the module's removal" rmmod jis 2>/dev/null
}

# reload N: in and out, with a session in between; where allocations can fail, they do in every other one.
reload()
{
	local i

	for ((i = 0; i < $1; i++)); do
		if [ $((i % 2)) = 1 ] && [ -e /proc/self/make-it-fail ]; then
			faults_on 50 20 load
			(echo 1 >/proc/self/make-it-fail; exec insmod "$JIS_BUILD/kmod/jis.ko" 2>/dev/null)
			faults_off
			grep -q '^jis ' /proc/modules || load_module
		else
			load_module
		fi
		(: <>/dev/jis) || fail "/dev/jis does not open"
		module_out
		reloads=$((reloads + 1))
	done
}

# stress_round SECONDS HOW: a round; HOW storm has jisstorm in it, fuzz jisfuzz, plain neither
stress_round()
{
	local round other='' status=0

	load_module
	faults_on 50 10
	mkdir -p "$LAB_TMP/traces"
	"$stress" round "$1" "$JIS" "$LAB_TMP/traces" >>"$LAB_OUT/rounds" 2>&1 &
	round=$!
	case $2 in
	storm)
		mkdir -p "$own/a" "$own/b"
		nice -n 19 "$JIS_BUILD/tests/lab/jisstorm" "$1" "$own/a" "$own/b" any >>"$LAB_OUT/storm" 2>&1 &
		other=$! ;;
	fuzz) # which sets them itself, without end, and is not counted
		injected=$(faults_hit)
		# without what fails allocations itself, moves CPUs, or wants most of the memory
		nice -n 19 "$JIS_BUILD/tests/lab/jisfuzz" -b -k storm,chain,memory,pool,share,rights -t "$1" -s "$RANDOM" \
			>>"$LAB_OUT/fuzz" 2>&1 &
		other=$! ;;
	esac
	(exec 7<>/dev/jis && rmmod jis 2>/dev/null) && fail "the module was removed in use"
	wait $round || status=$?
	[ -z "$other" ] || wait "$other" || fail "$2: status $?: $(tail -n 5 "$LAB_OUT/$2")"
	[ "$2" != fuzz ] || faults_begin
	[ "$status" = 0 ] || fail "round: status $status: $(tail -n 20 "$LAB_OUT/rounds")"
	rm -rf "$LAB_TMP/traces"
	[ ! -d "$own/a" ] || wait_for 20 "the cgroups' removal" rmdir "$own/a" "$own/b"
	faults_off
	module_out
	reloads=$((reloads + 1))
}

free_mib()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemFree:/ { print int($2 / 1024) }' /proc/meminfo
}

# stress ROUND SECONDS EVENTS RELOADS: rounds of ROUND seconds until SECONDS are over and EVENTS recorded, and the
# module reloaded so often.
stress()
{
	local round=$1 seconds=$2 events=$3 wanted=$4 hows=(plain storm plain fuzz) n=0 before after

	: >"$LAB_OUT/rounds"
	faults_begin
	stress_round 5 plain	# what is allocated once is there
	before=$(free_mib)
	SECONDS=0
	while [ "$SECONDS" -lt "$seconds" ] || [ "$(sum events)" -lt "$events" ]; do
		stress_round "$round" "${hows[n % 4]}"
		reload $((wanted * round / seconds))
		n=$((n + 1))
		echo "after $SECONDS s: $("$stress" sums) reloads $reloads injected $(faults_hit)" | tee >(sed 's/^/<4>/' >/dev/kmsg)
		/lab/job/complaints.sh < <(dmesg | awk '/lab: test .* begins/ { text = "" } { text = text $0 "\n" }
			END { printf "%s", text }') >"$LAB_OUT/complaints" ||
			fail "the kernel complained: $(head -n 5 "$LAB_OUT/complaints")"
	done
	while [ "$reloads" -lt "$wanted" ]; do
		reload 1
	done
	seconds=$SECONDS
	after=$(free_mib)
	echo "MiB free: $before before, $after after"
	[ $((before - after)) -le $((64 + $(free_slack))) ] || fail "$((before - after)) MiB are gone"
	check_sums "$n"
	ok "$(uname -r), $(nproc) CPUs, $seconds s: $("$stress" sums) reloads $reloads injected $(faults_hit)"
}

# KASAN keeps freed memory for a while, up to 1/32 of all.
free_slack()
{
	if [ -e /sys/kernel/debug/kmemleak ]; then
		awk '/^MemTotal:/ { print int($2 / 1024 / 16) }' /proc/meminfo
	else
		echo 0
	fi
}

# Nothing of all that was left out.
check_sums()	# ROUNDS
{
	local field

	tail -n 3 "$LAB_OUT/rounds"
	[ "$(sum witnessed)" = $(($1 + 1)) ] || fail "the witness compared $(sum witnessed) of $(($1 + 1)) rounds"
	for field in packets sessions killed_recorders killed_targets tools; do
		[ "$(sum $field)" -gt 0 ] || fail "no $field"
	done
	[ "$(nproc)" = 1 ] || [ "$(sum offlines)" -gt 0 ] || fail "no CPU went offline"
	[ ! -d "${faults[0]}" ] || [ "$(faults_hit)" -gt 0 ] || fail "no allocation failed"
	[ ! -d "${faults[0]}" ] || [ "$(sum enomem)" -gt 0 ] || fail "no call said so"
}
