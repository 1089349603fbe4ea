#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the report of tests/prog/handover with what the program says of itself.

    handover.py SAID REPORT.json [X.prv]

With addresses in the trace each connection is found by its ports, both ends find one another, and each
request and answer is a message; by ftrace, which tells none, there are numbers only.
"""
import collections
import json
import re
import sys

SOCKET, MESSAGE = 15, 16  # tags of Paraver's communications
wrong = 0


def expect(what, got, want):
    global wrong
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")


def names(x):
    return sorted(t["name"] for t in x["threads"])


def main():
    said, ends = {}, []
    for line in open(sys.argv[1]):
        words = line.split()
        if words[0] == "connection":
            ends.append(tuple(int(w) for w in words[1:]))
        else:
            said[words[0]] = int(words[1])
    report = json.load(open(sys.argv[2]))
    c, links = report["connections"], report["links"]
    kinds, listed = links["kinds"], c["list"]
    n, requests = said["connections"], said["requests"]
    expect("connections", c["count"], 2 * n)
    expect("accepted", c["accepted"], n)
    expect("connected", c["connected"], n)
    expect("closed", c["closed"], 2 * n)
    expect("incomplete", c["incomplete"], 0)
    expect("requests", c["requests"], requests)
    expect("answers", c["answers"], requests)
    expect("hand-overs", c["handovers"], said["polled"] + said["plain"])
    expect("requests without hand-over", c["kept"], requests - said["polled"] - said["plain"])
    expect("links", kinds["socket"]["count"], said["polled"] + said["plain"])
    expect("not listed", c["not_listed"], 0)

    givers = collections.Counter()
    for p in links["pairs"]:
        if p["kind"] == "socket":
            givers[p["from"]["name"], p["to"]["name"].split()[0]] += p["count"]
    expect("pairs", givers, {("poller", "worker"): said["polled"], ("plain acceptor", "plain"): said["plain"]})

    # Bytes: what the clients' ends say of each, and the servers' the other way round.
    want = collections.Counter((to, back, each) for _, _, to, back, each in ends)
    for origin in "connected", "accepted":
        out, back = ("bytes_out", "bytes_in") if origin == "connected" else ("bytes_in", "bytes_out")
        got = collections.Counter((x[out], x[back], x["requests"]) for x in listed if x["origin"] == origin)
        expect(f"bytes and requests, {origin}", got, want)
    for x in listed:
        if not x["opened"] <= x["first_byte"] <= x["last_byte"] <= x["closed"]:
            expect(f"times of #{x['number']}", x, "in order")
        openers = {"connected": ["client"], "accepted": ["acceptor", "plain acceptor"]}[x["origin"]]
        expect(f"who opened #{x['number']}", x["opener"]["name"] in openers, True)
        if x["origin"] == "accepted":
            expect(f"hand-overs of #{x['number']}", x["handovers"],
                   1 if names(x) == ["plain worker"] else x["requests"])
        else:
            expect(f"threads of #{x['number']}", names(x), ["client"])

    if c["no_address"]:
        expect("connections without address", c["no_address"], 2 * n)
        expect("messages", kinds["message"]["count"], 0)
    else:
        by_number = {x["number"]: x for x in listed}
        # A port of the client's end may be used for both of the server's.
        found = {(int(x["local"].rsplit(":", 1)[1]), x["peer"]): x for x in listed if x["origin"] == "connected"}
        expect("connections by ports", len(found), n)
        for port, local, to, back, each in ends:
            x = found.get((local, f"127.0.0.1:{port}"))
            expect(f"port {local}", x is not None, True)
            if not x:
                continue
            other = by_number.get(x["other_end"])
            expect(f"bytes of {local}", (x["bytes_out"], x["bytes_in"]), (to, back))
            expect(f"other end of {local}", other and other["peer"], x["local"])
            expect(f"messages of {local}", (x["messages"], other and other["messages"]), (each, each))
        expect("messages", kinds["message"]["count"], 2 * requests)
        expect("their bytes", kinds["message"]["bytes"], sum(to + back for _, _, to, back, _ in ends))

    if len(sys.argv) > 3:
        check_paraver(sys.argv[3], said, kinds)
    print(f"{c['count']} ends of connections, {c['requests']} requests, {c['handovers']} hand-overs, "
          f"{kinds['message']['count']} messages, {wrong} wrong")
    sys.exit(wrong > 0)


def check_paraver(path, said, kinds):
    """The numbers a user of Paraver sees: arrows by tag; bursts and their time in the tables."""
    rows = []
    with open(path[:-4] + ".row") as f:
        text = f.read()
    count = int(re.search(r"LEVEL THREAD SIZE (\d+)", text).group(1))
    rows = text[text.index("LEVEL THREAD"):].split("\n")[1:count + 1]
    tags, bursts, opened, used = collections.Counter(), collections.Counter(), {}, set()
    for line in open(path):
        f = line.strip().split(":")
        if f[0] == "3":
            tags[int(f[14])] += 1
        elif f[0] == "2" and f[6] == "77000021":
            row = tuple(f[2:5])
            if int(f[7]):
                expect("a burst inside of another", row in opened, False)
                opened[row] = int(f[7])
            else:
                bursts[rows[opened.pop(row) - 1].split(" [")[0]] += 1
        elif f[0] == "2" and f[6] == "77000022" and int(f[7]):
            used.add(int(f[7]))
    expect("arrows of hand-overs", tags[SOCKET], kinds["socket"]["count"])
    expect("arrows of messages", tags[MESSAGE], kinds["message"]["count"])
    expect("bursts by giver", bursts, {"poller": said["polled"], "plain acceptor": said["plain"]})
    expect("connections used", len(used), 2 * said["connections"])


main()
