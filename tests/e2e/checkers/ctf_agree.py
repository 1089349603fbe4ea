#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `jis dump` against babeltrace2: stream by stream, event by event, field by field.

Usage: ctf_agree.py JIS TRACE [LEAST-EVENTS]; exit status 1 with the first differences otherwise.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import ctf

DUMP = re.compile(r"^(\d+) (\S+) (\w+) \{(.*)\}$")


def dump(jis, trace, stream):
    process = subprocess.Popen([jis, "dump", "--quiet", "--cycles", "--raw", "--stream", stream, trace],
                               stdout=subprocess.PIPE)
    for raw in process.stdout:
        line = raw.decode("utf-8", "replace").rstrip("\n")
        match = DUMP.match(line)
        if not match:
            raise ctf.CheckError("jis dump: a line that is not understood: %r" % line)
        yield int(match.group(1)), match.group(3), ctf.parse_fields(match.group(4))
    if process.wait():
        raise ctf.CheckError("jis dump --stream %s failed" % stream)


def same(name, theirs, ours, seen):
    """Where a text has no characters babeltrace2 2.0 shows that of an earlier event of the same name."""
    lengths = {k[:-len("_length")]: v for k, v in theirs.items() if k.endswith("_length")}
    theirs = {k: v for k, v in theirs.items() if not k.endswith("_length")}
    for field, length in lengths.items():
        texts = seen.setdefault((name, field), set())
        if length == 4 and ours.get(field) == "" and theirs[field] in texts:
            theirs[field] = ""
        texts.add(theirs[field])
    return theirs == ours


def compare(jis, trace, stream):
    directory = ctf.single_stream(trace, stream)
    counts, seen = {}, {}
    try:
        theirs = ctf.events(directory)
        ours = dump(jis, trace, stream)
        for n, event in enumerate(theirs):
            mine = next(ours, None)
            if mine is None:
                raise ctf.CheckError("%s: jis dump ends after %d events, babeltrace2 goes on" % (stream, n))
            if event[0] != mine[0] or event[1] != mine[1] or not same(event[1], event[2], mine[2], seen):
                raise ctf.CheckError("%s: event %d differs:\n  babeltrace2 %r\n  jis dump    %r"
                                     % (stream, n, event, mine))
            counts[event[1]] = counts.get(event[1], 0) + 1
        rest = next(ours, None)
        if rest is not None:
            raise ctf.CheckError("%s: jis dump has more events than babeltrace2: %r" % (stream, rest))
    finally:
        shutil.rmtree(directory)
    return counts


def main():
    jis, trace = sys.argv[1:3]
    least = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(os.path.join(trace, "manifest.json")) as f:
        manifest = json.load(f)
    total, kinds = 0, set()
    for stream in manifest["streams"]:
        counts = compare(jis, trace, stream["path"])
        total += sum(counts.values())
        kinds.add(stream["path"].split("/")[0].split("-")[0])
        for name, n in sorted(counts.items()):
            print("%-28s %-22s %9d" % (stream["path"], name, n))
    print("%d events in %d streams agree" % (total, len(manifest["streams"])))
    if total < least:
        raise ctf.CheckError("only %d events, at least %d expected" % (total, least))
    # The whole directory at once too: babeltrace2 must be able to merge it without a complaint.
    merged = sum(1 for _ in ctf.lines(trace))
    if merged != total:
        raise ctf.CheckError("babeltrace2 reads %d events of the whole trace, %d stream by stream"
                             % (merged, total))


if __name__ == "__main__":
    try:
        main()
    except ctf.CheckError as error:
        sys.exit("ctf_agree: %s" % error)
