#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what is in the code of a process where its libjvm.so has the probes of safepoints: "nop" or "trap", for all.

Usage: probes.py PID. The places are those of the notes (.note.stapsdt) of the file that is mapped; the code is the
process's memory.
"""
import re
import struct
import sys


def notes(path):
    """(name, place) of each probe in a 64-bit ELF file; place as in readelf -n, moved as .stapsdt.base was."""
    with open(path, "rb") as f:
        elf = f.read()
    at, size, count, names = struct.unpack_from("<Q10xHHH", elf, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
    by_name = {elf[sections[names][4] + s[0]:].split(b"\0", 1)[0]: s for s in sections}
    base, note = by_name[b".stapsdt.base"][3], by_name[b".note.stapsdt"]
    here, end = note[4], note[4] + note[5]
    while here < end:
        owner, length, _ = struct.unpack_from("<III", elf, here)
        here += 12 + (owner + 3 & ~3)
        place, linked, _ = struct.unpack_from("<QQQ", elf, here)
        yield elf[here + 24:here + length].split(b"\0")[1].decode(), place + base - linked
        here += length + 3 & ~3


pid = sys.argv[1]
base, path = None, None  # the path: of the very file that is mapped
with open(f"/proc/{pid}/maps") as f:
    for line in f:
        m = re.match(r"(([0-9a-f]+)-[0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +/.*/libjvm\.so$", line)
        if m and int(m[3], 16) == 0:
            base, path = int(m[2], 16), f"/proc/{pid}/map_files/{m[1]}"
places = [at for name, at in notes(path) if name in ("safepoint__begin", "safepoint__end", "vmops__begin")]
assert len(places) == 3, places
found = set()
with open(f"/proc/{pid}/mem", "rb") as f:
    for at in places:
        f.seek(base + at)
        found.add({b"\x90": "nop", b"\xcc": "trap"}.get(f.read(1), "?"))
print(*sorted(found))
