#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Checks a recording of tests/e2e/prog/witness against what the program and the kernel's books say, by
# babeltrace2 alone: witness.py TRACE PROGRAM-OUTPUT [--steal NS] [--missed PERCENT] [--kernel-only]
# --missed: so many of a thread's switches the kernel's tracepoint may not have shown (default 0); the
# running time of a thread that misses some is not compared, and the others may have run 30 us a switch more
# by the kernel's book than in the trace.
import argparse, re, subprocess, sys

parser = argparse.ArgumentParser()
parser.add_argument("trace")
parser.add_argument("program")
parser.add_argument("--steal", type=float, default=0)
parser.add_argument("--missed", type=float, default=0)
parser.add_argument("--kernel-only", action="store_true", help="no markers; the whole trace counts")
args = parser.parse_args()

workers = {}
for line in open(args.program):
    if line.startswith("worker "):
        w = {k: int(v) for k, v in (f.split("=") for f in line.split()[1:])}
        workers[w["tid"]] = w
if not workers:
    sys.exit("the program reported no worker")

bt = subprocess.run(["babeltrace2", "--clock-seconds", args.trace], capture_output=True, text=True)
if bt.returncode or bt.stderr:
    sys.exit(f"babeltrace2 complains ({bt.returncode}): {bt.stderr[:2000]}")

head = re.compile(r"\[(\d+)\.(\d+)\] \([^)]*\) \S+ (\w+): ")
field = re.compile(r"(\w+) = (-?(?:0x[0-9A-Fa-f]+|\d+))")
end = None
events = []
for line in bt.stdout.splitlines():
    m = head.match(line)
    if not m:
        sys.exit("not understood: " + line[:200])
    time = int(m[1]) * 10**9 + int(m[2])
    f = {k: int(v, 0) for k, v in field.findall(line)}
    events.append((time, m[3], f))
    if m[3] == "marker" and f["type"] == 99:
        end = time
if end is None and not args.kernel_only:
    sys.exit("no marker of type 99")

problems = []
per = {t: {"out": 0, "run": 0, "odd": [], "since": None, "cpu": None, "next": 0} for t in workers}
state = {}  # tid -> 'running'...
wakes = 0
for time, name, f in events:
    if end is not None and time > end:
        break
    if name == "sched_switch":
        p, n = per.get(f["prev_tid"]), per.get(f["next_tid"])
        if p:
            p["out"] += 1
            if p["since"] is None:
                p["odd"].append(f"{f['prev_tid']} leaves a CPU it did not have at {time}")
            else:
                p["run"] += time - p["since"]
            if p["cpu"] != f["cpu_id"] and p["cpu"] is not None:
                p["odd"].append(f"{f['prev_tid']} leaves another CPU than it took at {time}")
            p["since"] = None
        if n:
            if n["since"] is not None:
                n["odd"].append(f"{f['next_tid']} runs twice at {time}")
            n["since"], n["cpu"] = time, f["cpu_id"]
    elif name == "marker" and f["type"] == 1:
        w = per.get(f["vtid"])
        if w is None:
            problems.append(f"marker of an unknown thread {f['vtid']}")
            continue
        if f["value"] != w["next"]:
            problems.append(f"{f['vtid']}: marker {f['value']}, expected {w['next']}")
        w["next"] = f["value"] + 1
    elif name == "sched_waking" and f["tid"] in per:
        wakes += 1
    elif name == "lost_records":
        problems.append(f"lost_records: {f}")

for tid, w in workers.items():
    p = per[tid]
    print(f"{tid}: switches {p['out']} of {w['switches']}, running {p['run']} of {w['run_ns']} ns, "
          f"markers {p['next']} of {w['markers']}")
    missed = w["switches"] - p["out"]
    if missed:
        p["odd"].append(f"{tid}: {p['out']} switches in the trace, {w['switches']} in the kernel's book")
    if missed < 0 or missed + len(p["odd"]) > w["switches"] * args.missed / 100:
        problems += p["odd"]
    # The kernel reads its clock at the begin of a switch, the trace has the moment of the choice: before
    # it a CPU without work has looked for some on the others, for a microsecond when they are busy.
    slack = w["run_ns"] * 0.01 + 2000 * w["switches"] + args.steal
    # Where the tracepoint misses switches, 20 us a switch were in the book and not in the trace beside guests that
    # take all CPUs; why is not known. More than the book has is no excuse.
    late = 30000 * w["switches"] if args.missed else 0
    if not p["odd"] and not w["run_ns"] - slack - late <= p["run"] <= w["run_ns"] + slack:
        problems.append(f"{tid}: ran {p['run']} ns in the trace, {w['run_ns']} in the kernel's book")
    if not args.kernel_only and p["next"] != w["markers"]:
        problems.append(f"{tid}: {p['next']} markers of {w['markers']}")
if not wakes:
    problems.append("no wake-up in the trace")
for p in problems[:20]:
    print("PROBLEM", p)
sys.exit(bool(problems))
