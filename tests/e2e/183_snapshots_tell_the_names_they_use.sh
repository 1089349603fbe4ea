#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names that were told once, before a snapshot's time or overwritten since, are in it all the same: of the foreign
# thread that wakes a target, also when it has ended, and with the module of the descriptors that calls use; each before its
# first use. Of foreign threads that are in no record the snapshot has no name.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

mkfifo fifo
echo text >file
calls=()
[ "$BACKEND" != kmod ] || calls=(--syscalls io)
"${RECORD[@]}" -q -o trace --flight-recorder --buffer "$((${BUFFER:-512} * $(getconf _NPROCESSORS_CONF)))K" "${calls[@]}" -- \
	"$TESTPROG/flight" file fifo >said &
recorder=$!
wait_for 60 test -s said
"$TESTPROG/flight" feed fifo &
feeder=$!
sleep "${WAIT:-3}" # for the buffers to be overwritten, and names to be old
"$JIS" snapshot -q --last 300ms -o running trace || fail "no snapshot"
"$JIS" snapshot -q -o all trace || fail "no snapshot of all"
kill $feeder
wait $feeder || true
"$JIS" snapshot -q --last 300ms -o ended trace || fail "no snapshot after the feeder's end"
touch file.end
wait $recorder || fail "the recording failed"
cat said

for t in running all ended trace; do
	"$JIS" info -q --strict $t >$t.info || fail "$t is no whole trace: $(tail -n 4 $t.info)"
	"$JIS" dump -q $t >$t.dump
	"$JIS" report -q --json $t >$t.json
done
python3 - "$feeder" "$PWD" "${#calls[@]}" <<'PY'
import json, os, re, sys
feeder, here, calls = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
said = open("said").read().split()
pid, fds = int(said[1]), {int(said[3]): here + "/file", int(said[5]): here + "/fifo"}
def number(l, f):
    m = re.search(r"\b%s = [^,}]*?(-?\d+)[^\d,}]*[,}]" % f, l)
    return int(m.group(1)) if m else None
for t in "running", "all", "ended", "trace":
    m = json.load(open(t + "/manifest.json"))
    foreign = {f["tid"]: f["comm"] for f in m["foreigners"]}
    ours = {x["tid"] for x in m["threads"]}
    used, told, woke, early, resolved, unresolved = set(), set(), 0, 0, 0, {}
    names = {}
    for line in open(t + ".dump"):
        w = line.split(None, 3)
        name, rest = w[2], w[3] if len(w) > 3 else ""
        if name == "task_name":
            told.add(number(rest, "tid"))
        elif name in ("fd_file", "fd_socket") and number(rest, "pid") == pid:
            names[number(rest, "fd")] = rest
        elif name in ("sched_switch", "sched_waking"):
            for f in ("prev_tid", "next_tid") if name == "sched_switch" else ("waker_tid",):
                tid = number(rest, f)
                used.add(tid)
                if tid == feeder:
                    woke += name == "sched_waking"
                    early += tid not in told
        elif name == "syscall_io":
            fd = number(rest, "fd")
            if fd in names:
                resolved += 1
                assert fd not in fds or fds[fd] in names[fd], (fd, names[fd])
            elif fd >= 0:
                unresolved[fd] = unresolved.get(fd, 0) + 1
    print(t, "woken %d, used before it was named %d; calls with a name %d, without %s; %d foreigners" %
          (woke, early, resolved, unresolved, len(foreign)))
    if t in ("running", "all", "trace"):
        assert woke or t == "trace", "the feeder woke nobody in " + t
    if woke:
        assert foreign.get(feeder) == "feeder", (t, foreign)
        assert not early, t
    for tid in foreign: # whole packets: a name told in the first may have been used by what is no longer there
        assert tid in used, "%s has the name %s of thread %d, which is in no record" % (t, foreign[tid], tid)
    # one that has ended, and whose name is overwritten, has none
    missing = {x for x in used - ours - set(foreign) if x and os.path.exists("/proc/%d" % x)}
    assert not missing, (t, missing)
    if calls:
        assert resolved > 100 and not unresolved, (t, resolved, unresolved)
PY
