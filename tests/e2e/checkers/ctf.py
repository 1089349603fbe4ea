# SPDX-License-Identifier: MIT
"""Reads traces through babeltrace2, so that a test shares no code with JIS's own reader.

events(directory): all events below it as (ticks, event name, {field: value}), in babeltrace2's order.
Raises CheckError when babeltrace2 fails or complains.
"""
import os
import re
import subprocess
import tempfile


class CheckError(Exception):
    pass


# [ticks] (+delta) host domain... name: { context }, { fields }
LINE = re.compile(r"^\[(\d+)\] \(\+?[?\d]+\) (?:.*? )?([A-Za-z_]\w*): (.*)$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,{}]+)')


ESCAPES = {"n": "\n", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v"}


def unescape(text):
    def one(match):
        c = match.group(1)
        return chr(int(c[1:], 16)) if c[0] == "x" else ESCAPES.get(c, c)
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", one, text)


def parse_fields(text):
    fields = {}
    for name, value in FIELD.findall(text):
        value = value.strip()
        if value.startswith('"'):
            fields[name] = unescape(value[1:-1])
        else:
            fields[name] = int(value, 0)
    return fields


def lines(directory, complaints=None):
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            ["babeltrace2", "--clock-cycles", directory], stdout=subprocess.PIPE, stderr=errors)
        for line in process.stdout:
            yield line.decode("utf-8", "replace").rstrip("\n")
        process.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
    if process.returncode:
        raise CheckError("babeltrace2 %s failed: %s" % (directory, said))
    if said and complaints is None:
        raise CheckError("babeltrace2 %s complains: %s" % (directory, said))
    if complaints is not None and said:
        complaints.append(said)


def events(directory, complaints=None):
    for line in lines(directory, complaints):
        match = LINE.match(line)
        if not match:
            raise CheckError("a line of babeltrace2 that is not understood: %r" % line)
        ticks, name, rest = match.groups()
        # Two brace groups: packet context, then fields. The last one is the event's.
        depth, start, groups, quoted = 0, 0, [], False
        i = 0
        while i < len(rest):
            c = rest[i]
            if quoted:
                if c == "\\":
                    i += 1
                elif c == '"':
                    quoted = False
            elif c == '"':
                quoted = True
            elif c == "{":
                depth += 1
                if depth == 1:
                    start = i
            elif c == "}":
                depth -= 1
                if depth == 0:
                    groups.append(rest[start + 1:i])
            i += 1
        if not groups:
            raise CheckError("no fields in: %r" % line)
        yield int(ticks), name, parse_fields(groups[-1])


def single_stream(trace, stream):
    """A temporary directory with only this stream of the trace; the caller removes it."""
    target = tempfile.mkdtemp(prefix="jis-ctf.")
    directory, name = os.path.split(os.path.join(trace, stream))
    for f in ("metadata", name):
        os.symlink(os.path.join(os.path.abspath(directory), f), os.path.join(target, f))
    return target
