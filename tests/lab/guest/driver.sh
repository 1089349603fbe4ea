#!/bin/bash
# SPDX-License-Identifier: MIT
#
# driver.sh TEST...: runs guest tests one after the other inside the guest, each in a
# cgroup of its own, with a time limit (a line `# lab-timeout: SECONDS` in the test,
# else 300) and a log, and prints RUN, then PASS, SKIP or FAIL with the reason and
# the end of the log. A test fails too when the kernel complained during it or when
# it left something behind: a process that cannot be killed, a tracefs instance, a
# module that cannot be removed. At the end kmemleak, where there is one, may find nothing. Started by the job that tests/lab/run.sh makes.

set -u
cd /lab/job || exit 1
export LAB_SLOW=${LAB_SLOW:-1} JIS=/lab/job/build/jis JIS_BUILD=/lab/job/build
instances=/sys/kernel/tracing/instances

# What the kernel logged since the mark of test $1; all there is when the mark is gone.
log_since()
{
	dmesg | awk -v mark="lab: test $1 begins" '
		index($0, mark) { text = ""; next }
		{ text = text $0 "\n" }
		END { printf "%s", text }'
}

# try SECONDS COMMAND...: again and again until it succeeds
try()
{
	local end=$((SECONDS + $1 * LAB_SLOW))

	shift
	until "$@" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# processes CGROUP: all that run in it, and where in the kernel
processes()
{
	local pid

	while read -r pid; do
		echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		cat "/proc/$pid/stack"
	done <"$1/cgroup.procs"
}

# kill_all CGROUP: all that runs in it; says what would not die and where it hangs
kill_all()
{
	if [ -e "$1/cgroup.kill" ]; then
		echo 1 >"$1/cgroup.kill"
	else	# before 5.14
		xargs -r kill -KILL <"$1/cgroup.procs"
	fi
	try 20 rmdir "$1" && return
	echo "processes that cannot be killed:"
	processes "$1"
}

# left_behind CGROUP: tidies up after a test; prints what should not have been there
left_behind()
{
	local i

	kill_all "$1"
	for i in "$instances"/*/; do
		[ -d "$i" ] || continue
		echo "tracefs instance $i"
		try 5 rmdir "$i"
	done
	if grep -q '^jis ' /proc/modules; then
		try 10 rmmod jis || echo "module jis, in use by $(awk '$1 == "jis" { print $3 }' /proc/modules)"
	fi
}

# verdict STATUS LIMIT TOOK: PASS, SKIP or the reason why not
verdict()
{
	case $1 in
	0) echo PASS ;;
	77) if [ "${JIS_TEST_NO_SKIP:-}" = 1 ]; then
		echo "skipped, which JIS_TEST_NO_SKIP=1 forbids"
	else
		echo SKIP
	fi ;;
	*) if [ "$3" -ge "$2" ]; then
		echo "stopped after $2 s"
	else
		echo "status $1"
	fi ;;
	esac
}

run_test()	# NAME
{
	local name=$1 cgroup=/sys/fs/cgroup/$1 log=/lab/out/$1/log
	local limit status took result left complaints

	export LAB_OUT=/lab/out/$name LAB_TMP=/tmp/$name
	mkdir -p "$cgroup" "$LAB_OUT" "$LAB_TMP"
	chmod 755 "$LAB_TMP"
	chmod 1777 "$LAB_OUT"	# JVMs of other users write their crash reports there
	limit=$(sed -n 's/^# lab-timeout: *//p' "tests/$name.sh")
	limit=$((${limit:-300} * LAB_SLOW))
	echo "RUN  $name"
	echo "<4>lab: test $name begins" >/dev/kmsg

	SECONDS=0
	(echo "$BASHPID" >"$cgroup/cgroup.procs" &&
		exec timeout --kill-after=10 "$limit" bash "tests/$name.sh") </dev/null >"$log" 2>&1
	status=$?
	took=$SECONDS
	result=$(verdict "$status" "$limit" "$took")
	[ "$took" -lt "$limit" ] || { echo "what it waited for:"; processes "$cgroup"; } >>"$log" 2>&1

	left=$(left_behind "$cgroup" 2>&1)
	rm -rf "$LAB_TMP"
	if [ -n "$left" ]; then
		echo "left behind: $left" >>"$log"
		case $result in PASS|SKIP) result="left something behind" ;; esac
	fi
	complaints=$(log_since "$name" | ./complaints.sh dmesg.allow) || {
		printf 'the kernel complained:\n%s\n' "$complaints" >>"$log"
		result="the kernel complained"
	}
	case $result in
	PASS) echo "PASS $name ($took s)" ;;
	SKIP) echo "SKIP $name ($(tail -n 1 "$log"))" ;;
	*) echo "FAIL $name ($result; $took s)"
		tail -n 40 "$log" | sed 's/^/    | /'
		return 1 ;;
	esac
}

kmemleak=/sys/kernel/debug/kmemleak
! grep -qw kmemleak=off /proc/cmdline || kmemleak=/nonexistent

# scan_leaks: twice, since what is young or in somebody's registers is not told the first time
scan_leaks()
{
	local i

	for i in 1 2; do
		sleep 6
		echo scan >$kmemleak 2>/dev/null || return
	done
}

# With a kernel that can tell: has anything leaked? The module is gone, and its functions' names with it.
check_leaks()
{
	local leaks

	echo "RUN  kmemleak"
	if ! scan_leaks || ! leaks=$(cat $kmemleak); then
		echo "FAIL kmemleak (it is switched off: $(dmesg | grep -a kmemleak | tail -n 1))"
		return 1
	fi
	if [ -n "$leaks" ]; then
		echo "$leaks" >/lab/out/kmemleak
		echo "FAIL kmemleak ($(grep -c '^unreferenced' /lab/out/kmemleak) objects leaked)"
		head -n 60 /lab/out/kmemleak | sed 's/^/    | /'
		return 1
	fi
	echo "PASS kmemleak ($SECONDS s)"
}

failed=0
if [ -e $kmemleak ]; then
	scan_leaks
	echo clear >$kmemleak	# what the kernel has of its own since it started
fi
for name; do
	run_test "$name" || failed=1
done
if [ -e $kmemleak ]; then
	SECONDS=0
	check_leaks || failed=1
fi
exit "$failed"
