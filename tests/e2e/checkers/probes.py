#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what is in the code of a process where its libjvm.so has the probes of safepoints: "nop" or "trap", for all.

Usage: probes.py PID. The places are those that readelf tells of the file that is mapped; the code is the process's memory.
"""
import re
import subprocess
import sys

pid = sys.argv[1]
base, path = None, None  # the path: of the very file that is mapped
with open(f"/proc/{pid}/maps") as f:
    for line in f:
        m = re.match(r"(([0-9a-f]+)-[0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +/.*/libjvm\.so$", line)
        if m and int(m[3], 16) == 0:
            base, path = int(m[2], 16), f"/proc/{pid}/map_files/{m[1]}"
notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=False).stdout
places = re.findall(r"Name: (safepoint__begin|safepoint__end|vmops__begin)\n\s*Location: 0x([0-9a-f]+)", notes)
assert len(places) == 3, places
found = set()
with open(f"/proc/{pid}/mem", "rb") as f:
    for _, at in places:
        f.seek(base + int(at, 16))
        found.add({b"\x90": "nop", b"\xcc": "trap"}.get(f.read(1), "?"))
print(*sorted(found))
