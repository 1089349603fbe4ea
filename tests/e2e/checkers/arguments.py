#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the values that ArgumentsTold says it passed against what a recording tells of them.

Usage: arguments.py OUTPUT DUMP CUT [--spans METHOD...] [--stats JSON METHOD]. DUMP: that of jis dump; CUT: characters
of strings that were asked for. --spans: around each call of these there is one of its name. --stats: that of
jis stats --by argument:0 or --by receiver.
"""
import argparse
import base64
import json
import re
import sys
from collections import Counter, defaultdict

LINE = re.compile(r"^\d+\.\d{9} (\S+) (\w+) \{ (.*) \}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,]+)')
ESCAPE = re.compile(r'\\(x[0-9a-f]{2}|.)')
CLASS = "ArgumentsTold$Target."
bad = 0


def fail(text):
    global bad
    bad += 1
    if bad < 20:
        print("BAD", text)


def unescape(text):
    return ESCAPE.sub(lambda m: {"n": "\n", "t": "\t"}.get(m[1], chr(int(m[1][1:], 16)) if len(m[1]) > 1 else m[1]),
                      text[1:-1])


def cut_of(text, cut):
    units = text.encode("utf-16-le")
    if len(units) > 2 * cut:
        units = units[:2 * cut]
        if cut and 0xd8 <= units[-1] < 0xdc:
            units = units[:-2]
    return units.decode("utf-16-le")


def expected(path, cut):
    """What was told, and of each string by what is left of it how often each whole one was."""
    told, texts = Counter(), defaultdict(Counter)
    with open(path) as f:
        for line in f:
            if not line.startswith("TOLD "):
                continue
            _, method, argument, kind, name, length, value, n = line.split()
            if kind == "STRING":
                text = base64.b64decode(value[1:]).decode()
                value = cut_of(text, cut)
                texts[int(length), value][cut_of(text, 65536)] += int(n)  # so much is hashed
            else:
                value = int(value, 16)
            told[method, int(argument), kind, name, int(length), value] += int(n)
    return told, texts


def recorded(path):
    names, got, texts, enters = {}, Counter(), defaultdict(Counter), Counter()
    pending, spans, open_spans = {}, Counter(), Counter()
    with open(path) as f:
        for line in f:
            m = LINE.match(line)
            if not m:
                continue
            stream, event, fields = m[1], m[2], dict(FIELD.findall(m[3]))
            if event == "string_def":
                names[int(fields["id"])] = unescape(fields["text"])
            elif event == "span_begin" or event == "span_end":
                # Names may be told later in the dump than they are used.
                key = int(fields["java_tid"]), int(fields["name"])
                open_spans[key] += 1 if event == "span_begin" else -1
                if open_spans[key] < 0:
                    fail("a span ends that did not begin")
                spans[key[1]] += event == "span_begin"
            elif event == "method_enter":
                method = fields["method"].split("(")[1].rstrip(")")
                enters[method] += 1
                if pending.pop(stream, method) != method:
                    fail(f"{method} is entered where others' values are")
            elif event == "method_value":
                method = fields["method"].split("(")[1].rstrip(")")
                if pending.setdefault(stream, method) != method:
                    fail(f"values of {method} come into those of another")
                kind, value = fields["kind"], int(fields["value"], 0)
                value &= 2**64 - 1
                if kind == "STRING":
                    text = unescape(fields["text"])
                    texts[int(fields["length"]), text][value] += 1
                    value = text
                elif fields["text"] != '""':
                    fail(f"{kind} has a text")
                got[method, int(fields["argument"]), kind, int(fields["class_name"]), int(fields["length"]), value] += 1
    if any(open_spans.values()):
        fail("a span does not end")
    got = Counter({(m.removeprefix(CLASS), a, k, names[c] if c else "-", n, v): count
                   for (m, a, k, c, n, v), count in got.items()})
    return got, texts, enters, Counter({names[i]: n for i, n in spans.items()})


def check_stats(path, method, told):
    """Calls by argument 0, or by receiver, of a method whose argument is an int."""
    with open(path) as f:
        lines = [l for l in json.load(f)["lines"] if l["method"] == CLASS + method]
    receivers = [l for l in lines if "receiver" in l]
    want = Counter()
    for (m, argument, _, name, _, value), n in told.items():
        if m == method and argument == -1 and receivers:
            want[f"{name}@{value:x}"] += n
        elif m == method and argument == 0 and not receivers:
            want[str(value - 2**64 if value >> 63 else value)] += n
    got = {l["receiver"] if receivers else l["arguments"][0]["value"]: l["calls"] for l in lines}
    if not want or got != want:
        fail(f"{path}: {method} has {got}, not {dict(want)}")
    if method == "lasts":
        for l in lines:
            if l["min"] < int(l["arguments"][0]["value"]) * 10**6:
                fail(f"lasts is told to have lasted {l['min']} ns: {l['arguments']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("dump")
    parser.add_argument("cut", type=int)
    parser.add_argument("--spans", nargs="*", default=[])
    parser.add_argument("--stats", nargs=2, action="append", default=[])
    args = parser.parse_args()
    told, texts = expected(args.output, args.cut)
    got, got_texts, enters, spans = recorded(args.dump)
    for key in told.keys() | got.keys():
        if told[key] != got[key]:
            fail(f"{key}: {got[key]} times, not {told[key]}")
    for key in texts.keys() | got_texts.keys():
        if sorted(texts[key].values()) != sorted(got_texts[key].values()):
            fail(f"hashes do not tell strings {key[0]} {key[1][:20]!r} apart")
    want = Counter({CLASS + m: enters[CLASS + m] for m in args.spans})
    if spans != want or not all(want.values()):
        fail(f"the spans are {spans}, not {want}")
    for path, method in args.stats:
        check_stats(path, method, told)
    print(f"{sum(got.values())} values of {len(got)} kinds, {sum(spans.values())} spans")
    sys.exit(bad != 0 or not got)


main()
