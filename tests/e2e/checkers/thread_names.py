#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Is each thread called in Paraver's .row file what the JVM calls it in its own thread dump (SIGQUIT)?
# Usage: thread_names.py DUMP ROW MANIFEST
import json, re, sys
rows = {}
for line in open(sys.argv[2]):
    m = re.match(r"(.*) \[(\d+)\]$", line.rstrip("\n"))
    if m:
        rows[int(m.group(2))] = m.group(1)
# The VM's own threads are no Java threads: their rows have the kernel's name of 15 characters.
java = {t["tid"] for t in json.load(open(sys.argv[3]))["threads"] if t["java_tid"]}
wrong = n = internal = 0
for line in open(sys.argv[1]):
    m = re.match(r'"(.*)" #\d+.* nid=(0x[0-9a-f]+|\d+)', line)
    if not m:
        continue
    tid, name = int(m.group(2), 0), m.group(1)
    n += 1
    internal += tid not in java
    if rows.get(tid) != (name if tid in java else name[:15]):
        wrong += 1
        print("thread %d is %r in the JVM and %r in the trace" % (tid, name, rows.get(tid)))
print("%d threads compared with the JVM's own dump, %d of them the VM's own, %d differ" % (n, internal, wrong))
sys.exit(wrong > 0 or n < 10 or internal > 8)
