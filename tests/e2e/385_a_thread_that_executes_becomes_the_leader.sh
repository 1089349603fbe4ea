#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A thread that is not the leader executes a program, again and again: the kernel gives it the leader's
# number. Each time one life ends where the next one begins, and nothing in it contradicts the model, save
# where the kernel did not show a switch (docs/design.md): a thread leaves a CPU that it has not come to.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

expect_status 0 "${RECORD[@]}" -q -o "$TESTDIR/t" -- "$TESTPROG/exec_thread" 200
pid=$(cat "$TESTDIR/out")
expect_status 0 "$JIS" info --strict "$TESTDIR/t"
"$JIS" report --json "$TESTDIR/t" >"$TESTDIR/report.json"
"$JIS" dump --raw "$TESTDIR/t" | grep -E 'sched_(switch|process_ex)' >"$TESTDIR/events"
python3 - "$TESTDIR" "$pid" <<'EOF'
import json, re, sys
NONE = 2**64 - 1
m = json.load(open(sys.argv[1] + "/t/manifest.json"))
contradictions = json.load(open(sys.argv[1] + "/report.json"))["counts"]["contradictions"]
pid = int(sys.argv[2])

lives = [t for t in m["threads"] if t["pid"] == pid]
leaders = sorted((t for t in lives if t["tid"] == pid), key=lambda t: t["first_seen"])
assert len(leaders) == 201, f"{len(leaders)} lives of the leader's number"
deaths = {t["death"] for t in lives if t["tid"] != pid}
for before, after in zip(leaders, leaders[1:]):
    assert before["death"] <= after["birth"] < after["death"], (before, after)
    assert after["birth"] in deaths, f"no thread became the leader of {after['birth']}"
assert all(t["death"] != NONE for t in lives), "a life has no end"

# Who comes must have gone, and who goes have come; between the leader's exit and the exec nothing is said.
on, unseen, tids = {}, 0, {t["tid"] for t in lives}
for line in open(sys.argv[1] + "/events"):
    f = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (-?\w+)", line)}
    if "sched_process_exec" in line:
        on[f["old_tid"]] = on[f["tid"]] = None
    elif "sched_process_exit" in line:
        if f["tid"] == pid:
            on[pid] = "dying"
    else:
        for tid, was, now in ((f["prev_tid"], True, False), (f["next_tid"], False, True)):
            if tid not in tids or on.get(tid) == "dying":
                continue
            unseen += on.get(tid, False) not in (was, None)
            on[tid] = now
print(contradictions, "contradictions,", unseen, "switches were not shown")
assert contradictions <= 3 * unseen
EOF
