#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a trace of several hosts against what they recorded, which was all made on one clock.

hosts.py MERGED RECORDED[:PPM:STEPS]...: the recordings as they were made, in the order in which they, or copies with other
clocks, were put together; what PPM their clock was made to gain, and how often it was set. Without: it was not changed.
"""
import json
import os
import statistics
import sys

from ctf import events, single_stream

STRIDE = 10000000
MANY = 100  # calls from one host to another: with fewer, what is stated is mostly of the time without any
wrong = 0


def expect(what, good, said=""):
    global wrong
    if not good:
        wrong += 1
        print(f"{what}: {said}")


def manifest(directory):
    return json.load(open(os.path.join(directory, "manifest.json")))


def stream_events(trace, stream):
    target = single_stream(trace, stream)
    try:
        return list(events(target))
    finally:
        for name in os.listdir(target):
            os.unlink(os.path.join(target, name))
        os.rmdir(target)


def plain(name, fields, host, first_cpu, nr_cpus):
    """The fields as the host itself has them; those that are made anew are left out."""
    out = {}
    for key, value in fields.items():
        if key.endswith(("tid", "pid")) and key != "ns_tid" and value:
            expect("number of the host", value // STRIDE == host, f"{name}.{key} {value}")
            value %= STRIDE
        elif key in ("cpu", "target_cpu", "orig_cpu", "dest_cpu"):
            expect("CPU of the host", first_cpu <= value < first_cpu + nr_cpus, f"{name}.{key} {value}")
            value -= first_cpu
        elif key in ("cgroup", "prev_cgroup"):
            value = bool(value)
        elif key in ("since", "age", "first", "last"):
            continue
        out[key] = value
    return name, out


def untouched(name, fields):
    return name, {k: bool(v) if k in ("cgroup", "prev_cgroup") else v for k, v in fields.items()
                  if k not in ("since", "age", "first", "last")}


class Errors:
    """What the trace says of how exactly clocks are known."""
    def __init__(self, m):
        self.hosts, self.of = m["hosts"], {}
        for e in m["host_errors"]:
            self.of.setdefault((e["host"], e["other"]), []).append((e["ticks"], e["error"]))

    def of_host(self, host, ticks):
        """ns, to the first one."""
        return sum(self.at(self.of[h], ticks) for h in self.way(host) if h in self.of)

    def between(self, a, b, ticks):
        """ns, by the calls that lead from one to the other."""
        return min([self.at(self.of[p], ticks) for p in ((a, b), (b, a)) if p in self.of] +
                   [sum(self.at(self.of[h], ticks) for h in set(self.way(a)) ^ set(self.way(b)) if h in self.of)])

    def way(self, host):
        up = []
        while self.hosts[host]["parent"] != host:
            up.append((host, self.hosts[host]["parent"]))
            host = self.hosts[host]["parent"]
        return up

    @staticmethod
    def at(knots, ticks):
        low, high = 0, len(knots)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if knots[middle][0] <= ticks else (low, middle)
        if low + 1 == len(knots) or ticks <= knots[low][0]:
            return knots[low][1]
        (a, x), (b, y) = knots[low:low + 2]
        return x + (y - x) * (ticks - a) / (b - a) + 1


def moments(found):
    """{(event, connection, call): ticks} and {uid: (client's send, reply)}, {uid: (server's serve, answer)}"""
    at, sent, clients, servers = {}, {}, {}, {}
    for ticks, name, f in found:
        if name in ("rmi_send", "rmi_reply", "rmi_serve", "rmi_answer"):
            key = name, f["connection"], f["call"]
            expect("told once", key not in at, key)
            at[key] = ticks
        if name == "rmi_send":
            sent[f["java_tid"], f["remote_call"]] = f["connection"], f["call"]
        elif name == "rmi_return" and f["uid_time"]:
            call = sent[f["java_tid"], f["remote_call"]]
            clients[f["uid_unique"], f["uid_time"], f["uid_count"]] = at["rmi_send", *call], at["rmi_reply", *call]
        elif name == "rmi_answer":
            call = f["connection"], f["call"]
            if ("rmi_serve", *call) in at:
                servers[f["uid_unique"], f["uid_time"], f["uid_count"]] = at["rmi_serve", *call], ticks
    return at, clients, servers


def main():
    merged, recorded = sys.argv[1], [r.split(":") for r in sys.argv[2:]]
    m = manifest(merged)
    errors = Errors(m)
    frequency = m["frequency"]
    checked = inside = 0
    pairs, farthest, clients, servers = 0, 0, {}, {}
    expect("hosts", len(m["hosts"]) == len(recorded), m["hosts"])
    for host, (directory, *clock) in enumerate(recorded):
        r, h = manifest(directory), m["hosts"][host]
        first_cpu, cpus = h["first_cpu"], h["cpus"]
        shift = r["base"] - m["base"]  # of its ticks to those of the merged one, had its clock not been changed
        if clock:
            expect("steps", h["steps"] == int(clock[1]), f"{h['name']}: {h['steps']}")
        else:
            expect("the clock", h["clock"] <= 1, h)
        for stream in r["streams"]:
            directory_name, name = stream["path"].split("/")
            if directory_name == "kernel" and name.startswith("cpu-"):
                was = [untouched(*e[1:]) for e in stream_events(directory, stream["path"])]
                now = [plain(*e[1:], host, first_cpu, cpus)
                       for e in stream_events(merged, "kernel/cpu-%d" % (int(name[4:]) + first_cpu))]
                expect("kernel's events", was == now, f"{directory}/{stream['path']}: {len(was)} and {len(now)}")
        for p in r["processes"]:
            if not p.get("directory"):
                continue
            name = p["directory"] if host == 0 else f"host{host}-{p['directory']}"
            was, _, _ = moments(events(os.path.join(directory, p["directory"])))
            now, now_clients, now_servers = moments(events(os.path.join(merged, name)))
            expect("events of calls", was.keys() == now.keys(), f"{name}: {len(was)} and {len(now)}")
            clients.update({u: (*times, host) for u, times in now_clients.items()})
            servers.update({u: (*times, host) for u, times in now_servers.items()})
            for key, ticks in was.items():
                off = abs(now[key] - ticks - shift) / frequency * 1e9
                error = errors.of_host(host, now[key]) if clock else 0
                checked += 1
                # Ticks and ns are rounded.
                inside += off <= error + (2 if clock else 0)
                farthest = max(farthest, off)
    both = clients.keys() & servers.keys()
    # ns that a call is served before it is sent, or answered after that; one is lost in rounding.
    early = [max(clients[u][0] - servers[u][0], servers[u][1] - clients[u][1]) / frequency * 1e9
             for u in both]
    outside = [e for e in early if e > 1]
    print(f"{len(both)} calls with both ends; {checked} moments, {inside} of them within what is stated, the farthest "
          f"{farthest / 1e3:.1f} us from the truth")
    # What is stated of two hosts is of calls between them: those of others may go faster.
    most = 0
    for a, b in sorted({(clients[u][2], servers[u][2]) for u in both} if any(clock for _, *clock in recorded) else ()):
        uids = [u for u in both if (clients[u][2], servers[u][2]) == (a, b)]
        if a == b or len(uids) < MANY:
            continue
        stated = statistics.median(errors.between(a, b, clients[u][0]) for u in uids) / 1e3
        trip = min(clients[u][1] - clients[u][0] for u in uids) / frequency * 1e6
        print(f"{len(uids)} calls of host {a} to host {b}: stated +-{stated:.1f} us at half of them, the least round trip {trip:.1f} us")
        expect("what is stated", stated <= trip / 2, "more than half of the least round trip")
        most = max(most, stated)
        pairs += 1
    # A line through both ends of what is stated of a short recording may be off by more than 10 us/s; a step hides more.
    sent = [clients[u][0] / frequency for u in both] or [0]
    line = max(10, 2 * most / ((max(sent) - min(sent)) or 1))
    for host, (_, *clock) in enumerate(recorded):
        if host and clock:
            drift, most_off = m["hosts"][host]["drift"] / 1e3, 40 if int(clock[1]) else line
            print(f"host {host}: drift {drift:.1f} ppm, made to be {clock[0]}, may be off by {most_off:.1f}")
            expect("drift", abs(drift - float(clock[0])) < most_off, f"{drift} ppm")
    expect("pairs of hosts", pairs or not any(clock for _, *clock in recorded))
    expect("within", inside >= 0.999 * checked, f"{inside} of {checked}")
    expect("calls outside of their client's, ns", not outside, outside)
    expect("calls with both ends", len(both) > 500, len(both))
    sys.exit(wrong > 0)


main()
