#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recorder that is stopped for a second or more loses kernel records: each is counted, info and dump show the interval,
# and in Paraver and report the threads' states are unknown there, and only there.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q -o trace --buffer "$((128 * $(getconf _NPROCESSORS_CONF)))K" -- \
	"$TESTPROG/witness" 2 "${ROUNDS:-100000}" 1000 >program 2>err &
recorder=$!
started() { [ -s trace/kernel/cpu-0 ]; }
wait_for 30 started
sleep 0.3
# Until there was more than the buffers hold, however fast the machine is.
program=$(pgrep -P $recorder -x witness)
switches() { awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n + 0 }' /proc/"$program"/task/*/status; }
# Or until it has ended.
switched() { [ "$(switches)" -ge "$1" ] || grep -q "^State:.*Z" /proc/"$program"/status; }
kill -STOP $recorder
trap 'kill -CONT $recorder 2>/dev/null || true' EXIT
before=$(switches)
sleep 1
wait_for 120 switched $((before + 8000))
kill -CONT $recorder
wait $recorder || { cat err; fail "the recording failed"; }
grep -q 'records were lost' err || fail "it does not say that records were lost"

"$JIS" info trace >info
"$JIS" dump -q --event lost_records trace >lost
"$JIS" info --json trace >info.json
"$JIS" report -q --json trace >report.json
"$JIS" export paraver -q trace -o x.prv
python3 "$CHECKERS/prv_check.py" x.prv
grep -q '^kernel/cpu-.* records lost' info || { cat info; fail "info shows no damaged interval"; }
python3 - <<'PY'
import json, re
m = json.load(open("info.json"))
kernel = [s for s in m["streams"] if s["path"].startswith("kernel/cpu")]
total = {k: sum(v for s in kernel for v in s[k].values()) for k in ("produced", "stored", "lost")}
print(total)
assert total["lost"] > 0 and total["stored"] > 0 and total["produced"] == total["stored"] + total["lost"], total
for s in m["streams"]:
    p, st, lo = (sum(s[k].values()) for k in ("produced", "stored", "lost"))
    assert p == st + lo, s
told = sum(int(n) for l in open("lost") if "kernel/cpu" in l for n in re.findall(r"count = (\d+)", l))
assert told == total["lost"], "the trace tells of %d lost records, the books of %d" % (told, total["lost"])

shown = sum(int(n) for n in re.findall(r"^kernel/cpu-\d+ .* (\d+) records lost$", open("info").read(), re.M))
assert shown == total["lost"], "the damaged intervals tell of %d lost records, the books of %d" % (shown, total["lost"])

# Unknown time of the workers lies within the damaged intervals (each to the next evidence), and is there.
gaps = [tuple(map(float, l.split()[1:3])) for l in open("info") if re.match(r"kernel/cpu-\d+ .* records lost", l)]
begin, end = min(g[0] for g in gaps), max(g[1] for g in gaps)
tids = [int(w.split("=")[1]) for l in open("program") if l.startswith("worker") for w in l.split() if w.startswith("tid=")]
rows = [l.rstrip("\n") for l in open("x.row")]
first = next(i for i, l in enumerate(rows) if l.startswith("LEVEL THREAD SIZE"))
number = {int(re.search(r"\[(\d+)\]$", l).group(1)): i for i, l in enumerate(rows[first + 1:], 1) if re.search(r"\[\d+\]$", l)}
for tid in tids:
    unknown = [(int(f[5]) / 1e9, int(f[6]) / 1e9) for f in (l.split(":") for l in open("x.prv"))
               if f[0] == "1" and int(f[4]) == number[tid] and f[7].strip() == "34"]
    inside = sum(b - a for a, b in unknown if a >= begin - 1e-6)
    print("thread %d: unknown for %.3f s of the %.3f s in which records were lost" % (tid, inside, end - begin))
    assert inside > 0, "thread %d is never unknown" % tid
PY
