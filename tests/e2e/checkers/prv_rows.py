# SPDX-License-Identifier: MIT
"""What checkers read of a Paraver trace: its rows, and of some of them states, events and arrows that arrive."""
import bisect
import collections
import re


class Row:
    def __init__(self, name):
        self.name = name
        self.states = []  # (begin, end, state)
        self.arrows = []  # (time, row it comes from, tag)
        self.events = collections.defaultdict(list)  # type: [(time, value)]

    def value(self, kind, time):
        """The value an event has at a time: of those at the same time the last."""
        events = self.events[kind]
        i = bisect.bisect_right(events, time, key=lambda e: e[0])
        return events[i - 1][1] if i else 0

    def state(self, time):
        """The state that is on at a time."""
        i = bisect.bisect_right(self.states, time, key=lambda s: s[0])
        return self.states[i - 1][2] if i else 0


def names(base):
    """The name of each row, by (application, task, thread) as text."""
    with open(base + ".row") as f:
        lines = f.read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("LEVEL THREAD SIZE"))
    with open(base + ".prv") as f:
        header = f.readline()
    appls = re.findall(r"[0-9]+\(([0-9:,]*)\)", header.split("_ns:", 1)[1].split(":", 1)[1])
    keys = [(str(a + 1), str(t + 1), str(k + 1)) for a, appl in enumerate(appls)
            for t, task in enumerate(appl.split(",")) for k in range(int(task.split(":")[0]))]
    assert len(keys) == int(lines[at].split()[-1]), (len(keys), lines[at])
    return dict(zip(keys, lines[at + 1:]))


def tasks(base):
    """The name of each task, by (application, task) as text."""
    found = list(dict.fromkeys(key[:2] for key in names(base)))
    with open(base + ".row") as f:
        lines = f.read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("LEVEL TASK SIZE"))
    assert len(found) == int(lines[at].split()[-1]), (len(found), lines[at])
    return dict(zip(found, lines[at + 1:]))


def labels(base):
    """What the .pcf calls the values of each type of events."""
    found, block, values = collections.defaultdict(dict), [], False
    with open(base + ".pcf") as f:
        for line in f.read().split("EVENT_TYPE\n", 1)[-1].split("\n"):
            if line in ("EVENT_TYPE", ""):
                block, values = ([], False) if line else (block, values)
            elif line == "VALUES":
                values = True
            elif values:
                for kind in block:
                    found[kind][int(line.split(" ", 1)[0])] = line.split(" ", 1)[1]
            else:
                block.append(int(line.split()[1]))
    return found


def read(base, wanted):
    """The rows whose names wanted(name) is true of, by their key."""
    rows = {key: Row(name) for key, name in names(base).items() if wanted(name)}
    with open(base + ".prv") as prv:
        for line in prv:
            f = line.rstrip("\n").split(":")
            if f[0] not in ("1", "2", "3") or len(f) < 8:
                continue
            row = rows.get(tuple(f[8:11] if f[0] == "3" else f[2:5]))
            if row is None:
                continue
            if f[0] == "1":
                row.states.append((int(f[5]), int(f[6]), int(f[7])))
            elif f[0] == "3":
                row.arrows.append((int(f[11]), tuple(f[2:5]), int(f[14])))
            else:
                for kind, value in zip(f[6::2], f[7::2]):
                    row.events[int(kind)].append((int(f[5]), int(value)))
    return rows
