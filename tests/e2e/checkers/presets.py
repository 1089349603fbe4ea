#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what a dry run of a preset lists to the class files, to what a recording lists, and to what fires.

Usage: presets.py app|all CLASSES DRY LISTED FIRED OUT. DRY: what the dry run printed; LISTED: jis methods --list of a
recording; FIRED: its calls, "class.method N"; OUT: what MethodsLive printed. Reads the class files by itself.
"""
import re
import struct
import sys

preset, directory, dry, listed, fired, out = sys.argv[1:]
LINE = re.compile(r"^(\S+)\.([^.(]+)(\(.*?\)\S+)  number \d+, (\d+) bytes")


def read_list(path):
    return {(m[1], m[2], m[3]): int(m[4]) for m in map(LINE.match, open(path)) if m}


def code_sizes(path):
    """Sizes of the methods' code in a class file."""
    data = open(path, "rb").read()
    texts, at, i = {}, 10, 1
    count = struct.unpack_from(">H", data, 8)[0]
    while i < count:
        tag = data[at]
        if tag == 1:
            n = struct.unpack_from(">H", data, at + 1)[0]
            texts[i] = data[at + 3:at + 3 + n].decode()
            at += 3 + n
        else:
            at += {7: 3, 8: 3, 16: 3, 19: 3, 20: 3, 15: 4, 5: 9, 6: 9}.get(tag, 5)
            i += tag in (5, 6)
        i += 1
    at += 6
    at += 2 + 2 * struct.unpack_from(">H", data, at)[0]
    sizes = {}
    for members in range(2):  # fields, methods
        n = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(n):
            name, descriptor, attributes = struct.unpack_from(">HHH", data, at + 2)
            at += 8
            for _ in range(attributes):
                kind, length = struct.unpack_from(">HI", data, at)
                if members and texts[kind] == "Code":
                    sizes[texts[name], texts[descriptor]] = struct.unpack_from(">I", data, at + 10)[0]
                at += 6 + length
    return sizes


dry, listed = read_list(dry), read_list(listed)
fired = dict(line.rsplit(" ", 1) for line in open(fired))
print(preset, len(dry), "by the dry run,", len(listed), "by the recording,", len(fired), "fired")
assert all(size > 10 for size in [*dry.values(), *listed.values()])

# The program's own: each method with more than 10 bytes of code, of each class that it has loaded, and no other.
own = {c for c, _, _ in dry if c.startswith("MethodsLive")}
assert {"MethodsLive", "MethodsLive$Whole"} <= own, own
sizes = {}
for name in own | {"MethodsLive$Other", "MethodsLive$All", "MethodsLive$Service"}:
    sizes.update({(name, *k): v for k, v in code_sizes(f"{directory}/{name}.class").items()})
want = {k: v for k, v in sizes.items() if v > 10}
for told in dry, listed:
    mine = {k: v for k, v in told.items() if k[0].startswith("MethodsLive")}
    assert mine == want, (set(mine) ^ set(want), mine, want)

if preset == "app":
    assert dry == listed == want, set(dry) ^ set(want)
else:
    of = {c for c, _, _ in dry} & {c for c, _, _ in listed}
    differ = {k for k in set(dry) ^ set(listed) if k[0] in of}
    assert not differ, sorted(differ)[:10]
    assert len(of) > 200 and len(dry) > 3000, (len(of), len(dry))
    assert "java.lang.Object" not in of and "java.util.HashMap" in of
    assert not [c for c in of if c.startswith("jis.")]

# What fires is of the list, and what was called of the list has fired as often.
names = {f"{c}.{m}" for c, m, _ in listed}
assert set(fired) <= names, sorted(set(fired) - names)[:10]
calls = 0
for line in open(out):
    words = line.split()
    if words[:1] == ["CALLS"] and (words[1], words[2], words[3]) in want:
        assert fired.get(f"{words[1]}.{words[2]}") == words[4] + "\n" or fired.get(f"{words[1]}.{words[2]}") == words[4], words
        calls += 1
assert calls and "MethodsLive.main" in fired, fired
