#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives a recording another clock, as if its host had had it: fake_clock.py DIR HOST OFFSET PPM [STEP AT].

Each time t (ticks since the session's first) becomes t + OFFSET + PPM * (t - begin), and STEP more from the recording's
second AT on; OFFSET and STEP in seconds, not below 0. The host gets another name, boot and time of day. Shares no code with
JIS: sizes of records are the metadata's.
"""
import json
import os
import re
import struct
import sys

HEADER = struct.Struct("<I16sIQQQQQQQIIII")
TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    TABLE.append(c)


def crc32c(data):
    c = 0xffffffff
    for byte in data:
        c = TABLE[(c ^ byte) & 0xff] ^ c >> 8
    return c ^ 0xffffffff


def layouts(metadata):
    """{(class, id): (bytes of the fixed fields, has it a text, offsets of fields that are times)}"""
    found = {}
    for text in re.findall(r"\nevent \{(.*?)\n\};", metadata, re.S):
        number, stream = (int(re.search(key + r" = (\d+);", text)[1]) for key in (r"\n\tid", "stream_id"))
        size, times, string = 0, [], False
        for kind, name in re.findall(r"\n\t\t(\w+) (\w+)(?:\[\w+\])?;", text):
            if kind == "char8_t":
                string = True
                continue
            if name in ("_since", "_first", "_last"):
                times.append(size)
            size += 8 if "64" in kind else 4
        found[stream, number] = size, string, times
    return found


class Clock:
    def __init__(self, manifest, offset, ppm, step, at):
        self.begin = manifest["begin"]
        self.offset = round(offset * manifest["frequency"])
        self.ppm = ppm
        self.step = round(step * manifest["frequency"])
        self.at = self.begin + round(at * manifest["frequency"])

    def __call__(self, t):
        if t >= 1 << 63:
            return t
        return t + self.offset + round((t - self.begin) * self.ppm * 1e-6) + (self.step if t >= self.at else 0)


def records(data, begin, end, time, layout, stream_class):
    """(id, time, payload, offsets of times) of a packet's records."""
    at = begin
    while at < end:
        word, = struct.unpack_from("<I", data, at)
        number, at = word & 31, at + 4
        if number == 31:
            number, time = struct.unpack_from("<IQ", data, at)
            at += 12
        else:
            time += ((word >> 5) - time) & 0x7ffffff
        size, string, times = layout[stream_class, number]
        if string:
            size += struct.unpack_from("<I", data, at + size - 4)[0]
        yield number, time, bytearray(data[at:at + size]), times
        at += size


def convert(path, layout, clock):
    data = open(path, "rb").read()
    out, at = bytearray(), 0
    while at < len(data):
        h = list(HEADER.unpack_from(data, at))
        body, begin, last = bytearray(), h[4], clock(h[4])
        h[4], h[5] = last, clock(h[5])
        for number, time, payload, times in records(data, at + HEADER.size, at + h[6] // 8, begin, layout, h[2]):
            for field in times:
                struct.pack_into("<Q", payload, field, clock(struct.unpack_from("<Q", payload, field)[0]))
            time = clock(time)
            if number > 30 or time - last > 0x7ffffff:
                body += struct.pack("<IIQ", 31, number, time)
            else:
                body += struct.pack("<I", number | (time & 0x7ffffff) << 5)
            body += payload
            last = time
        at += h[7] // 8
        h[6] = h[7] = (HEADER.size + len(body)) * 8
        h[10] = 0
        h[10] = crc32c(HEADER.pack(*h) + body)
        out += HEADER.pack(*h) + body
    open(path, "wb").write(out)


def main():
    directory, host = sys.argv[1:3]
    offset, ppm, step, at = (float(x) for x in (sys.argv[3:] + ["0", "0"])[:4])
    name = os.path.join(directory, "manifest.json")
    manifest = json.load(open(name))
    clock = Clock(manifest, offset, ppm, step, at)
    for stream in manifest["streams"]:
        path = os.path.join(directory, stream["path"])
        layout = layouts(open(os.path.join(os.path.dirname(path), "metadata")).read())
        convert(path, layout, clock)
    for key in "begin", "end":
        manifest[key] = clock(manifest[key])
    for table, keys in ("threads", ("birth", "first_seen", "death")), ("foreigners", ("time",)), ("clocks", ("ticks",)), \
            ("damages", ("begin", "end")):
        for entry in manifest[table]:
            for key in keys:
                entry[key] = clock(entry[key])
    manifest["hostname"] = host
    manifest["boot_id"] = (host.encode().hex() + "0" * 32)[:32]
    # What time of day it had says nothing of its clock.
    manifest["realtime_offset"] += 3600 * 10**9 * (1 + len(host))
    json.dump(manifest, open(name, "w"))


main()
