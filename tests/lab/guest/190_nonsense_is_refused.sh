#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Random and nearly right calls, from threads that share sessions, from children and from a member of the module's
# group, while others record: the kernel stays well (the driver looks at its log), the module keeps its
# promises, each call has both succeeded and failed many times, recordings made meanwhile are sound, and
# nothing is left behind. The kernel's parameters choose what is run: jisfuzz.seed=N jisfuzz.seconds=N
# jisfuzz.args=-k,pool. A kernel that counts the module's lines (JIS_GCOV=1) leaves the counts in $LAB_OUT/gcov.
# lab-timeout: 900

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

fuzz=$JIS_BUILD/tests/lab/jisfuzz
raw=$JIS_BUILD/tests/lab/jisraw
load=$JIS_BUILD/tests/lab/jisload

parameter()	# NAME DEFAULT
{
	local value

	value=$(tr ' ' '\n' </proc/cmdline | sed -n "s/^jisfuzz\\.$1=//p")
	echo "${value:-$2}"
}

beside()	# NAME COMMAND...: a recording that is sound
{
	local name=$1

	shift
	"$raw" -o "$LAB_TMP/records.$name" "$@" >"$LAB_OUT/$name" 2>&1 ||
		fail "recording $name: $(tail -n 25 "$LAB_OUT/$name")"
}

# However it ends; what the kernel keeps of a module that has gone is there too.
counts()
{
	cd /sys/kernel/debug/gcov 2>/dev/null || return
	mkdir -p "$LAB_OUT/gcov"
	find . -name '*.gcda' -path '*/kmod/*' | while read -r f; do
		cat "$f" >"$LAB_OUT/gcov/${f##*/}"
	done
}
trap counts EXIT

seed=$(parameter seed 42)
usual=60
# Of the two guests of a lab run one has the whole of it.
! grep -q '^VERSION_CODENAME=trixie' /etc/os-release || usual=20
seconds=$(parameter seconds $((LAB_SLOW > 1 ? 300 : usual)))
IFS=, read -ra more <<<"$(parameter args "")"
# How often at least each call must have succeeded, and failed: a run of less than a minute is too short to ask.
min=()
if [ ${#more[@]} = 0 ] && [ "$seconds" -ge 60 ]; then
	min=(-m $((seconds >= 120 ? 100 : 20)))
fi

load_module gid=4321
chgrp 4321 /dev/jis && chmod 660 /dev/jis
"$fuzz" -s "$seed" -t "$seconds" "${min[@]}" "${more[@]}" >"$LAB_OUT/fuzz" 2>&1 &
pid=$!
n=0
while kill -0 $pid 2>/dev/null; do
	beside during -C "$load" cross 300
	n=$((n + 1))
	sleep 5
done
wait $pid || fail "jisfuzz ended with $?: $(cat "$LAB_OUT/fuzz")"
cat "$LAB_OUT/fuzz"
[ $n -gt 0 ] || fail "jisfuzz ended at once"
ok "$n sound recordings beside it"
beside after "$load" cross 500
grep -q ' lost 0$' "$LAB_OUT/after" || fail "records are lost afterwards: $(cat "$LAB_OUT/after")"
rmmod jis || fail "the module does not unload"
ok "unloads"
