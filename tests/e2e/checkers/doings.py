#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what Doings says it did against what a recording tells of it.

Usage: doings.py OUTPUT DUMP [--no-exceptions]. OUTPUT: the program's, with -XX:+PrintCompilation; DUMP: of jis dump.
"""
import collections
import re
import sys

LINE = re.compile(r"^\d+\.\d{9} (\S+) (\w+) \{ (.*) \}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,]+)')
# time, compile id, flags, level, method, size: "made not entrant" and the like have more behind it
COMPILED = re.compile(r"^ *\d+ +\d+ +[%sb!n ]* +\d +(Doings::\w+)(?: @ \d+)? \((\d+) bytes\)$")

bad = []


def fail(text):
    bad.append(text)
    print("BAD", text)


def value(text):
    return text[1:-1] if text.startswith('"') else int(text, 0)


def main():
    names, methods, counts, threads = {}, {}, collections.Counter(), set()
    with open(sys.argv[2]) as f:
        events = [(m[2], {k: value(v.strip()) for k, v in FIELD.findall(m[3])}) for m in map(LINE.match, f)
                  if m and not m[1].startswith("kernel/")]
    for kind, e in events:
        if kind == "string_def":
            names[e["id"]] = e["text"]
        elif kind == "method_def":
            methods[e["id"]] = (e["class_name"], e["name"])
        elif kind == "java_thread_start":
            threads.add(e["java_tid"])
    for kind, e in events:
        # A thread that is being made has no number yet.
        if kind in ("exception", "class_prepare", "allocation") and e["java_tid"] and e["java_tid"] not in threads:
            fail(f"{kind} of unknown thread {e['java_tid']}")
        if kind in ("class_prepare", "class_unload", "allocation"):
            counts[kind, names[e["class_name"]]] += 1
        elif kind == "exception":
            class_name, method = methods[e["method"]]
            where = class_name + "." + names[method].split("$")[0] if "lambda$" not in names[method] else \
                class_name + "." + re.sub(r"\$\d+$", "", names[method])
            counts[kind, names[e["class_name"]], where, e["line"], e["caught"]] += 1
        elif kind == "compiled_method":
            class_name, method = methods[e["method"]]
            counts[kind, class_name + "::" + names[method]] += 1
            if not e["size"] or not e["address"]:
                fail(f"compiled into {e}")
    expected = collections.Counter()
    with open(sys.argv[1]) as f:
        for line in f:
            w = line.split()
            m = COMPILED.match(line.rstrip("\n"))
            if m:
                expected["compiled_method", m[1]] += 1
            elif w and w[0] == "EXPECT" and w[1] == "exception":
                expected[w[1], w[3], w[4], int(w[5]), int(w[6])] += int(w[2])
            elif w and w[0] == "EXPECT" and w[1] != "gc":
                expected[w[1], w[3]] += int(w[2])
    if "--no-exceptions" in sys.argv:
        expected = collections.Counter({k: n for k, n in expected.items() if k[0] != "exception"})
        if any(k[0] == "exception" for k in counts):
            fail("there are exceptions")
    for key, n in expected.items():
        if counts[key] != n:
            fail(f"{key}: {n} expected, {counts[key]} recorded")
    for key, n in counts.items():
        if key[1].startswith("Doings") and key not in expected and (key[0] in ("exception", "compiled_method")):
            fail(f"{key}: recorded {n} times")
    if len(expected) < 5:
        fail(f"expected are only {dict(expected)}")
    print(", ".join(f"{' '.join(map(str, k))}: {n}" for k, n in sorted(expected.items(), key=str)))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
