#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what the dictionary tells of traced methods against javap.

Usage: methods_about.py JAVAP DUMP OUT [LEAST]: JAVAP: the output of javap -p -l -s; DUMP: that of jis dump --raw; OUT: of a
program that prints "LOADER class loader's-class". Source file, first and last line, what kind of method it is, and the
loader of the classes in OUT; of LEAST methods at least (10).
"""
import re
import sys

from waits import FIELD, LINE, value

STATIC, SYNCHRONIZED, CONSTRUCTOR, INITIALIZER = 1, 2, 4, 8
CLASS = re.compile(r"^(?:\S+ )*?(?:class|interface|enum) ([\w.$]+)")
MEMBER = re.compile(r"^  (\S.*);$")


def javap(path):
    """(class, method, descriptor): (source file, first line, last line, flags)"""
    methods, source, name, member, key = {}, "", None, None, None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if line.startswith("Compiled from "):
            source = line.split('"')[1]
        elif line and not line[0].isspace() and CLASS.match(line):
            name = CLASS.match(line)[1]
        elif MEMBER.match(line):
            member = MEMBER.match(line)[1]
        elif line.startswith("    descriptor: ("):
            words, flags = member.split("(")[0].split(), 0
            if member == "static {}":
                words, flags = ["<clinit>"], INITIALIZER
            elif words[-1] == name:
                words[-1], flags = "<init>", CONSTRUCTOR
            flags |= STATIC * ("static" in member.split("(")[0].split()) | SYNCHRONIZED * ("synchronized" in words)
            key = (name, words[-1], line.split()[1])
            methods[key] = [source, -1, -1, flags]
        elif line.startswith("      line ") and key:
            n = int(line.split()[1].rstrip(":"))
            m = methods[key]
            m[1], m[2] = n if m[1] < 0 else min(m[1], n), max(m[2], n)
        elif line.startswith("    descriptor: "):
            key = None  # a field
        elif line == "}":
            source, name, key = "", None, None
    return methods


def main(javap_path, dump, out, least="10"):
    want = javap(javap_path)
    loaders = {}
    for line in open(out):
        if line.startswith("LOADER "):
            words = line.rstrip("\n").split(" ")
            loaders[words[1]] = words[2]
    texts, defs, seen, wrong = {0: ""}, {}, 0, 0
    told_of = set()
    for m in filter(None, map(LINE.match, open(dump))):
        f = {k: value(v.strip()) for k, v in FIELD.findall(m[5])}
        if m[4] == "string_def":
            texts[f["id"]] = f["text"]
        elif m[4] == "method_def":
            defs[f["id"]] = f
        elif m[4] == "traced_method":
            d = defs[f["method"]]
            key = (d["class_name"], texts[d["name"]], texts[d["descriptor"]])
            if key not in want:
                continue
            seen += 1
            told = [texts[d["file"]], f["first_line"], f["last_line"], f["flags"] & 15]
            if told != want[key]:
                wrong += 1
                print(f"BAD {key}: {told}, by javap {want[key]}")
            if key[0] in loaders:
                told_of.add(key[0])
                if texts[f["loader"]] != loaders[key[0]]:
                    wrong += 1
                    print(f"BAD {key}: loader {texts[f['loader']]}, should be {loaders[key[0]]}")
    print(f"{seen} methods have file, lines and kind as javap says; loaders of {len(told_of)} classes")
    return bool(wrong or seen < int(least) or told_of != set(loaders))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
