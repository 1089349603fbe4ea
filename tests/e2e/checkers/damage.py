#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages copies of a trace and runs the reading commands over them.

Usage: damage.py JIS TRACE WORKDIR ROUNDS. Each round cuts one stream at a packet boundary or a random
byte, or flips random bytes in it. No command may crash (a signal), hang, or lose what is before the damage:
`jis dump --stream` must begin with exactly the lines of the whole stream that lie in packets before it.
"""
import os
import random
import shutil
import struct
import subprocess
import sys

SIZE_OFFSET = 56  # packet_size in the packet header


def packets(data):
    offset = 0
    while offset + 96 <= len(data):
        size = struct.unpack_from("<Q", data, offset + SIZE_OFFSET)[0] // 8
        yield offset
        if size < 96:
            return
        offset += size
    yield len(data)


def run(jis, *args):
    result = subprocess.run([jis, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    if result.returncode < 0 or result.returncode >= 128 or b"Sanitizer" in result.stdout:
        sys.exit("damage: jis %s ended with %d:\n%s"
                 % (" ".join(args), result.returncode, result.stdout.decode("utf-8", "replace")[-3000:]))
    return result.returncode, result.stdout.decode("utf-8", "replace")


def dump(jis, trace, stream):
    text = subprocess.run([jis, "dump", "--quiet", "--cycles", "--stream", stream, trace],
                          stdout=subprocess.PIPE, timeout=60).stdout.decode("utf-8", "replace")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def main():
    jis, trace, work, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    rng = random.Random(20261121)
    streams = [os.path.join(d, f) for d in sorted(os.listdir(trace)) if os.path.isdir(os.path.join(trace, d))
               for f in sorted(os.listdir(os.path.join(trace, d))) if f != "metadata" and not f.startswith(".")]
    whole = {s: dump(jis, trace, s) for s in streams}
    kept = 0
    for n in range(rounds):
        stream = rng.choice(streams)
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(trace, work)
        path = os.path.join(work, stream)
        data = bytearray(open(path, "rb").read())
        bounds = list(packets(data))
        kind = n % 3
        if kind == 0:
            at = rng.choice(bounds)
            data = data[:at]
        elif kind == 1:
            at = rng.randrange(len(data) + 1)
            data = data[:at]
        else:
            flips = sorted(rng.randrange(len(data)) for _ in range(rng.randrange(1, 9)))
            at = flips[0]
            for i in flips:
                data[i] ^= 1 << rng.randrange(8)
        with open(path, "wb") as f:
            f.write(data)
        # Lines of the whole packets before the damage: count them with a copy that ends there.
        before = max(b for b in bounds if b <= at)
        lines = dump(jis, work, stream)
        with open(path, "wb") as f:
            f.write(data[:before])
        expected = dump(jis, work, stream)
        with open(path, "wb") as f:
            f.write(data)
        if expected != whole[stream][:len(expected)] or lines[:len(expected)] != expected:
            sys.exit("damage: round %d, %s damaged at byte %d: events before the damage are lost" % (n, stream, at))
        kept += len(expected)
        for command in (["info"], ["dump", "--quiet"], ["report", "--quiet"],
                        ["export", "paraver", "--quiet", "-o", os.path.join(work, "x.prv")],
                        ["recover", "--quiet"], ["info"]):
            run(jis, *(command + [work]))
    print("%d damaged traces read, %d events before the damages all kept" % (rounds, kept))


if __name__ == "__main__":
    main()
