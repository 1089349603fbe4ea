#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the records of remote calls in a dump against what the program RemoteCalls says of each call at both of its ends.

Usage: rmi_records.py PROGRAM-OUTPUT DUMP [--no-addresses]. Each call passes a number; a marker of type 1 tells it in the
thread that calls, before it does, one of type 2 in the method that is called. Both ends must have recorded the same UID,
which no other call has, the same connection by its ends' addresses (unless --no-addresses) and the same place on it, the
method's name, the result, and moments in the order in which they must have been.
"""
import collections
import re
import sys

LINE = re.compile(r"^(\d+)\.(\d{9}) (\S+) (\w+) \{ (.*) \}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,]+)')
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    if wrong < 20:
        print(text)


class Call:
    """One end of a call: what was recorded of it, by record."""

    def __init__(self, jvm, number):
        self.jvm, self.number, self.at, self.of = jvm, number, {}, {}

    def put(self, name, time, fields):
        if name in self.at:
            complain(f"{self.jvm}: {name} twice: {fields}")
        self.at[name], self.of[name] = time, fields

    def uid(self):
        e = self.of.get("rmi_return") or self.of.get("rmi_answer") or {}
        uid = e.get("uid_unique"), e.get("uid_time"), e.get("uid_count")
        return None if uid in ((None, None, None), ("0", "0", "0")) else uid

    def connection(self):
        e = self.of.get("rmi_call") or self.of.get("rmi_serve")
        return e["connection"], e["call"]


class Reader:
    def __init__(self):
        self.strings, self.methods, self.connections = {}, {}, {}
        self.number = {}  # of the next call of a thread
        self.calls = collections.defaultdict(list)  # of a thread that are under way, client and server
        self.clients, self.servers = [], []

    def read(self, path):
        with open(path) as f:
            for line in f:
                m = LINE.match(line)
                if m and m[3].startswith("jvm-"):
                    self.record(m[3].split("/")[0], int(m[1] + m[2]), m[4], dict(FIELD.findall(m[5])))

    def record(self, jvm, time, name, e):
        thread = jvm, e.get("java_tid")
        open_calls = self.calls[thread]
        if name == "string_def":
            self.strings[jvm, e["id"]] = e["text"].strip('"')
        elif name == "method_def":
            self.methods[jvm, e["id"]] = self.strings.get((jvm, e["name"]))
        elif name == "rmi_connection":
            self.connections[jvm, e["id"]] = e
        elif name == "java_marker" and e["type"] == "1":
            self.number[thread] = e["value"]
        elif name == "java_marker" and e["type"] == "2":
            if not open_calls or "rmi_serve" not in open_calls[-1].of:
                complain(f"{jvm}: number {e['value']} is served outside of a call")
            else:
                open_calls[-1].number = e["value"]
        elif name in ("rmi_invoke", "rmi_call", "rmi_serve"):
            if name == "rmi_call" and open_calls and set(open_calls[-1].of) == {"rmi_invoke"}:
                open_calls[-1].put(name, time, e)
                return
            call = Call(jvm, self.number.pop(thread, None) if name != "rmi_serve" else None)
            call.put(name, time, e)
            open_calls.append(call)
            (self.servers if name == "rmi_serve" else self.clients).append(call)
        elif name.startswith("rmi_"):
            self.later(open_calls, time, name, e)

    def later(self, open_calls, time, name, e):
        client = name in ("rmi_send", "rmi_reply", "rmi_return")
        for call in reversed(open_calls):
            if client != ("rmi_serve" not in call.of):
                continue
            if name in ("rmi_send", "rmi_reply", "rmi_answer") and call.connection() != (e["connection"], e["call"]):
                continue
            if name == "rmi_return" and call.of.get("rmi_send", {}).get("remote_call") != e["remote_call"]:
                continue
            call.put(name, time, e)
            if name in ("rmi_return", "rmi_answer"):
                del open_calls[open_calls.index(call):]
            return
        complain(f"{name} belongs to no call: {e}")


def in_order(call, names):
    times = [call.at[n] for n in names if n in call.at]
    if times != sorted(times):
        complain(f"{call.jvm}, {call.number}: {call.at}")


def ends(reader, call):
    c = reader.connections.get((call.jvm, call.connection()[0]))
    if not c:
        complain(f"{call.jvm}: connection {call.connection()[0]} is not told")
        return None
    local = c["family"], c["local0"], c["local_port"]
    remote = c["family"], c["peer0"], c["peer_port"]
    return (remote, local) if c["server"] == "1" else (local, remote)


def method(reader, call):
    e = call.of.get("rmi_invoke") or call.of.get("rmi_dispatch") or {}
    return reader.methods.get((call.jvm, e.get("method")))


CLIENT = ["rmi_invoke", "rmi_call", "rmi_send", "rmi_reply", "rmi_return"]
SERVER = ["rmi_serve", "rmi_dispatch", "rmi_result", "rmi_answer"]


def check_pair(reader, client, server, addresses):
    results = {"call": "0", "back": "0", "fail": "1", "take": "0", "die": None}
    name = method(reader, client)
    if name not in results or method(reader, server) != name:
        complain(f"{client.number}: {name} is called, {method(reader, server)} served")
    both = dict(client.at, **server.at)
    order = CLIENT[:3] + SERVER + CLIENT[3:]
    if name == "die":
        if client.of.get("rmi_return", {}).get("result") != "2" or client.uid() or server.uid():
            complain(f"the JVM has died in {client.of} {server.of}")
    else:
        if set(both) != set(order):
            complain(f"{client.number}: {name} has {sorted(both)}")
            return
        if client.uid() is None or client.uid() != server.uid():
            complain(f"{client.number}: UIDs {client.uid()} and {server.uid()}")
        if not client.of["rmi_return"]["result"] == server.of["rmi_result"]["result"] == results[name]:
            complain(f"{client.number}: {name}: {client.of['rmi_return']} {server.of['rmi_result']}")
    whole = Call("both", client.number)
    whole.at = both
    in_order(whole, order)
    if client.connection()[1] != server.connection()[1]:
        complain(f"{client.number}: call {client.connection()} of its connection, {server.connection()} served")
    ours, theirs = ends(reader, client), ends(reader, server)
    if (ours != theirs) if addresses else (ours and ours[0][0] != "0"):
        complain(f"{client.number}: from {ours}, served {theirs}")
    if [client.of["rmi_call"][f] for f in ("object", "space_unique", "space_time", "space_count")] != \
            [server.of["rmi_dispatch"][f] for f in ("object", "space_unique", "space_time", "space_count")]:
        complain(f"{client.number}: {client.of['rmi_call']}, served {server.of['rmi_dispatch']}")


def main():
    said = next(line for line in open(sys.argv[1]) if line.startswith("CALLS "))
    said = {k: int(v) for k, v in (w.split("=") for w in said.split()[1:])}
    reader = Reader()
    reader.read(sys.argv[2])
    clients = {c.number: c for c in reader.clients if c.number}
    servers = {s.number: s for s in reader.servers if s.number}
    users = said["returned"] + said["thrown"] + said["broken"]
    if len(servers) != users or len(clients) != users + said["unsent"]:
        complain(f"{len(clients)} calls by clients, {len(servers)} served; by the program {said}")
    for number, server in servers.items():
        if number in clients:
            check_pair(reader, clients[number], server, "--no-addresses" not in sys.argv)
        else:
            complain(f"{number} is served, and nobody has called")
    unsent = [c for n, c in clients.items() if n not in servers]
    for c in unsent:
        if method(reader, c) != "take" or "rmi_send" in c.of or "rmi_return" in c.of:
            complain(f"never sent, but {c.of}")
    uids = collections.Counter(c.uid() for c in reader.clients if c.uid())
    served = collections.Counter(s.uid() for s in reader.servers if s.uid())
    if max(uids.values()) > 1 or max(served.values()) > 1 or set(uids) - set(served):
        complain(f"{len(set(uids) - set(served))} UIDs of clients are of no server, or some are of two calls")
    registry = [s for s in reader.servers if s.of.get("rmi_dispatch", {}).get("space_time") == "0"
                and s.of["rmi_dispatch"]["object"] == "0"]
    names = {reader.strings.get((s.jvm, s.of["rmi_dispatch"]["operation"]), "").split("(")[0].split(".")[-1] for s in registry}
    if len(registry) != said["registry"] or not all(n.endswith(("lookup", "rebind")) for n in names):
        complain(f"{len(registry)} calls of the registry: {names}")
    print(f"{len(clients)} calls, {len(servers)} served, {len(unsent)} never sent, {len(registry)} of the registry, "
          f"{len(reader.connections)} ends of connections")
    return 1 if wrong else 0


sys.exit(main())
