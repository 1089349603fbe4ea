#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what Waits, WaitsVirtual and the JVM's own threads say of themselves against the events of a Paraver trace.

Usage: prv_said.py OUTPUT DUMP X.prv [--late MS]. OUTPUT: the program's; DUMP: that of jis dump, of one JVM.

Identity hashes (77000012): while a thread is blocked on an object it is one that its own records have it wait for just
then, of the class told beside it, or the pool it has no task of; each object of the program's is there, on the row of the
thread that waited for it, for no longer than that took. Pinned (77000016): each virtual thread for as long as it says itself. What a thread runs (77000006): the VM's
own threads, by the names HotSpot gives them, that and nothing else; other threads nothing of the kind.
"""
import argparse
import collections
import re
import sys

import prv_rows
import waits

RUNS, CLASS, HASH, MOUNTED, PINNED = 77000006, 77000011, 77000012, 77000015, 77000016
CARRIER_WAITS = 40  # state of a virtual thread whose carrier waits for a CPU
IDLE_IN_POOL = 69
ROLES = {"garbage collector": r"GC Thread#|G1 ", "JIT compiler": r"C[12] Compiler", "VM operation": r"VM Thread$",
         "other thread of the VM": r"VM Periodic|Service Thread$|Sweeper thread$|Signal Dispatch|Monitor Deflati|Notification Th"}
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def intervals(events):
    """(begin, end, value) where it is not 0."""
    for (begin, value), (end, _) in zip(events, events[1:]):
        if value:
            yield begin, end, value


def waits_of(rec):
    """{Java thread: [(begin, end, class, hash)]}, of all that have an object."""
    found, ends = collections.defaultdict(list), {end: begin for begin, end, _ in waits.KINDS.values()}
    for java_tid, records in rec.of.items():
        begun = collections.defaultdict(list)
        for time, _, name, f in records:
            if name in ends.values():
                begun[name].append((time, f))
            elif name in ends and begun[ends[name]]:
                since, f = begun[ends[name]].pop()
                if f.get("hash"):
                    found[java_tid].append((since, time, rec.names[f["class_name"]], f["hash"]))
        for name, left in begun.items():
            found[java_tid] += [(t, float("inf"), rec.names[f["class_name"]], f["hash"]) for t, f in left if f.get("hash")]
    return found


def rows_of(rec, base):
    rows, found = prv_rows.read(base, lambda name: name), {}
    for java_tid, t in rec.threads.items():
        end = "[virtual %d]" % java_tid if t["flags"] & waits.VIRTUAL else "[%d]" % t["tid"]
        found[java_tid] = next((row for row in rows.values() if row.name.endswith(end)), None)
    return rows, found


def check_hashes(rec, found, labels):
    waited, seen = waits_of(rec), 0
    pools = {(rec.names[f["pool_class"]], f["pool_hash"]) for _, _, _, f in rec.records if f.get("pool_hash")}
    every = [w for of in waited.values() for w in of]
    whose = collections.defaultdict(list)  # of main, and of DestroyJavaVM, which is the same thread
    for java_tid, row in found.items():
        whose[row] += waited[java_tid]
    for row in whose:
        for begin, end, value in intervals(row.events[HASH]) if row else ():
            # What a carrier is blocked in may be its virtual thread's, and the other way round.
            among = every if row.events[MOUNTED] or "[virtual " in row.name else whose[row]
            name = labels[CLASS].get(row.value(CLASS, begin))
            seen += 1
            if (name, value) in pools and row.state(begin) == IDLE_IN_POOL:
                continue
            if not any(b <= end and e >= begin and (c, h) == (name, value) for b, e, c, h in among):
                complain("%s: %d to %d: waits for %s@%x, by its records for %s" % (
                    row.name, begin, end, name, value, [w for w in among if w[0] <= end and w[1] >= begin]))
    return seen


def check_objects(expected, found):
    objects = 0
    for kind, e in expected:
        value, row = int(e.get("hash") or "0", 16), found.get(int(e["java_tid"]))
        if not value or "took" not in e or kind not in waits.KINDS:
            continue
        objects += 1
        time = sum(end - begin for begin, end, v in intervals(row.events[HASH]) if v == value) if row else 0
        if not 0 < time <= 1.001 * int(e["took"]) + 100000:
            complain("%s: %d ns for %s, which took %s" % (row and row.name, time, e["hash"], e["took"]))
    return objects


def check_pinned(expected, found, late):
    pinned = 0
    for kind, e in expected:
        row, count, least, took = found.get(int(e["java_tid"])), int(e["count"]), int(e["count"]) * int(e["ns"]), int(e["took"])
        time = sum(end - begin for begin, end, _ in intervals(row.events[PINNED])) if row else 0
        ready = sum(end - begin for begin, end, state in row.states if state == CARRIER_WAITS) if row else 0
        slack = max(count * 2e6, 0.02 * least) + min(ready, max(0, took - least))
        pinned += time > 0
        if not least - slack <= time <= (took if least else late * count + ready):
            complain("%s: pinned for %d ns, by itself for %d to %d" % (row and row.name, time, least, took))
    return pinned


def check_runs(rows, labels):
    roles = 0
    for row in rows.values():
        said = {labels[RUNS][value] for _, value in row.events[RUNS]}
        role = next((r for r, names in ROLES.items() if re.match(names, row.name.rsplit(" [", 1)[0])), None)
        ran = any(state == 1 for _, _, state in row.states)
        roles += bool(said & set(ROLES))
        if said != {role} if role and ran else said & set(ROLES):
            complain("%s: runs %s, not %s" % (row.name, said, role))
    return roles


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("dump")
    parser.add_argument("prv")
    parser.add_argument("--late", type=float, default=2)
    args = parser.parse_args()
    base = args.prv[:-len(".prv")]
    rec, labels = waits.Recording(waits.read_dump(args.dump)), prv_rows.labels(base)
    rows, found = rows_of(rec, base)
    seen = check_hashes(rec, found, labels)
    expected = waits.read_expected(args.output)
    objects = check_objects(expected, found)
    with open(args.output) as f:
        said = [dict(w.split("=", 1) for w in line.split()[2:]) for line in f if line.startswith("EXPECT pinned ")]
    pinned = check_pinned([("pinned", e) for e in said], found, args.late * 1e6)
    roles = check_runs(rows, labels)
    print("%d waits for %d objects of the program, %d of %d virtual threads pinned, %d threads of the VM; %d wrong"
          % (seen, objects, pinned, len(said), roles, wrong))
    # Of the two that say it, one was not meant to be pinned.
    sys.exit(wrong > 0 or objects < 5 or seen < objects or roles < 5 or pinned < len(said) // 2)


if __name__ == "__main__":
    main()
