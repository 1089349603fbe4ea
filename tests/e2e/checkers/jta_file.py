# SPDX-License-Identifier: MIT
"""Reads a call tree's files, X.jta and X.mth, whole, and says what in them breaks their rules (docs/call-trees.md)."""
import struct

RECORD = struct.Struct("<8Q3I2H")
HEADER = struct.Struct("<QIIQQQIIQQ16x")
ROOT, JVM, METHOD, REMOTE, SERVED = range(1, 6)
PART, THROWN, FAILED, INTERNAL, STARTED, STARTER, DOUBTFUL, UNMATCHED = (1 << i for i in range(8))
IN_JVM = 1 << 63
IN_ROOT = IN_JVM | 0xFFFFFFFF


class Record:
    def __init__(self, number, fields):
        self.number = number
        (self.parent, self.first, self.last, self.previous, self.next, self.nr, self.begin, self.end,
         self.method, self.thread, self.jvm, self.kind, self.flags) = fields
        self.children = []


class Tree:
    def __init__(self, path):
        self.wrong = []
        data = open(path, "rb").read()
        magic, version, size, self.nr, self.root, self.first_jvm, self.jvms, _, self.begin, self.end = HEADER.unpack_from(data)
        self.expect("magic", magic, int.from_bytes(b"JISJTA1\0", "little"))
        self.expect("version", (version, size), (1, 80))
        self.expect("size", len(data), 80 * (self.nr + 1))
        self.records = [None] + [Record(n, RECORD.unpack_from(data, n * 80)) for n in range(1, self.nr + 1)]
        self.names(path[:-4] + ".mth")
        self.links()
        self.places()

    def expect(self, what, got, want):
        if got != want:
            self.wrong.append(f"{what}: {got}, expected {want}")

    def names(self, path):
        self.jvm, self.thread, self.method = {}, {}, {0: "?"}
        for line in open(path, encoding="utf-8"):
            what, number, *rest = line.rstrip("\n").split("\t")
            number = int(number)
            if what == "jvm":
                self.jvm[number] = int(rest[0]), rest[1]
            elif what == "thread":
                self.thread[number] = int(rest[0]), int(rest[1]), int(rest[2]), rest[3]
            else:
                self.method[number] = rest[0]
        self.expect("JVMs with a name", sorted(self.jvm), list(range(self.jvms)))

    def parent(self, r):
        if r.number == self.root:
            return 0
        if r.parent == IN_ROOT:
            return self.root
        return self.first_jvm + (r.parent - IN_JVM) if r.parent & IN_JVM else r.parent

    def links(self):
        """Each record but the root is once in the list of its parent's children."""
        seen = 0
        for p in self.records[1:]:
            before, n = 0, p.first
            while n and len(p.children) <= p.nr:
                c = self.records[n]
                self.expect(f"{n}: parent", self.parent(c), p.number)
                self.expect(f"{n}: previous", c.previous, before)
                p.children.append(c)
                before, n = n, c.next
            self.expect(f"{p.number}: children", (len(p.children), before), (p.nr, p.last))
            seen += len(p.children)
        self.expect("records below others", seen, self.nr - 1)
        self.expect("the root", (self.root, self.records[self.root].kind), (self.nr, ROOT))

    def places(self):
        for r in self.records[1:]:
            self.expect(f"{r.number}: ends after it begins", r.end >= r.begin, True)
            if r.thread and self.thread[r.thread][0] != r.jvm:
                self.wrong.append(f"{r.number}: thread {r.thread} is of another JVM")
            if r.method not in self.method:
                self.wrong.append(f"{r.number}: method {r.method} has no name")
            parent = self.records[self.parent(r)] if r.number != self.root else None
            if r.kind == SERVED:
                self.expect(f"{r.number}: served in", parent.kind, ROOT if r.flags & UNMATCHED else REMOTE)
            if not parent or r.flags & (STARTED | PART) or parent.flags & PART:
                continue
            # The JDK's own code goes on for a moment when it has sent an answer.
            if r.begin < parent.begin or (r.end > parent.end and parent.kind != SERVED):
                self.wrong.append(f"{r.number}: not within {parent.number}")
            if parent.kind in (METHOD, SERVED) and r.thread != parent.thread:
                self.wrong.append(f"{r.number}: in {parent.number}, of another thread")
        for p in self.records[1:]:
            ends = [c.end for c in p.children if c.kind in (METHOD, REMOTE) and not c.flags & (STARTED | PART)]
            if p.kind != ROOT and ends != sorted(ends):
                self.wrong.append(f"{p.number}: its children are not in the order of their ends")
