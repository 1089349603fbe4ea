# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Programs whose sleeps are known (tests/lab/prog/jissleep), and what a recording by ftrace has of them. Sourced, after lib.sh.

sleeper=$BUILD/tests/lab/jissleep
exact=1
tracepoint_sees_all || exact=0

start_sleeper() { # NAME THREADS N
	"$sleeper" -g "$2" "$3" >"$1" &
	sleeper_pid=$!
	wait_for 60 grep -q '^ready' "$1"
}
start_record() { # NAME OPTION...
	local name=$1
	shift
	"$JIS" record --backend ftrace --no-agent -o "$name" "$@" 2>"$name.err" &
	recorder=$!
	wait_for 60 grep -q 'recording into' "$name.err"
}
stop_record() { # NAME
	kill -INT $recorder 2>/dev/null || true
	wait $recorder || fail "$1: $(cat "$1.err")"
	"$JIS" info --strict -q "$1" >"$1.info" || fail "$1: not whole: $(tail -n 3 "$1.info")"
	babeltrace2 "$1/kernel" >"$1.bt" || fail "babeltrace2 does not read $1"
}
# check RECORDING SLEEPER all|none: its threads' sleeps between its renames
check() {
	python3 - "$1.bt" "$2" "$3" $exact <<'PY'
import re, sys
bt, said, want, exact = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def f(l, name):
    m = re.search(r"\b%s = (0x[0-9A-F]+|-?\d+)" % name, l)
    return int(m.group(1), 0) if m else None
threads = {int(l.split()[1]): 0 for l in open(said) if l.startswith("thread")}
slept = {int(l.split()[1]): int(l.split()[2]) for l in open(said) if l.startswith("slept")}
on, seen, known = set(), dict(threads), set()
for l in open(bt):
    if " task_rename: " in l and f(l, "tid") in threads:
        (on.add if '"begin"' in l else on.discard)(f(l, "tid"))
        assert want == "all", "%s: renamed: %s" % (said, l)
    elif " thread_state: " in l or " sched_process_fork: " in l:
        known.add(f(l, "tid"))
    elif " sched_switch: " in l and f(l, "prev_tid") in on and f(l, "prev_state") == 1:
        seen[f(l, "prev_tid")] += 1
print(said, want, seen, slept)
for tid in threads:
    assert (tid in known) == (want == "all"), "%s: %d is %sintroduced" % (said, tid, "" if tid in known else "not ")
    if want == "all":
        n = slept[tid]
        assert seen[tid] == n if exact else n / 2 <= seen[tid] <= n, (said, tid, seen[tid], n)
PY
}
