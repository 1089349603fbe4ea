#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the methods that a recording lists as left as they are, and why, to what their class files say.

Usage: left.py LIST CLASSES OUT [only]: LIST is that of jis methods --list, CLASSES the folder into which MethodsLeft copied class
files of java.base, OUT what it printed. Chosen are methods with an annotation of the VM's, or only those with one
that has them left as they are. Reads the class files by itself.
"""
import os
import re
import sys

LINE = re.compile(r"^(\S+)\.([^.(]+)(\(.*?\)\S+)  (?:number (\d+)|not traced: (.*)$)")
VM = "Ljdk/internal/vm/annotation/"
SCOPED = "Ljdk/internal/misc/ScopedMemoryAccess$Scoped;"
# Any of the reasons of a method is right.
MARKS = {
    VM + "Hidden;": "it is marked Hidden",
    VM + "IntrinsicCandidate;": "it is marked IntrinsicCandidate",
    VM + "ReservedStackAccess;": "it is marked ReservedStackAccess",
    VM + "ChangesCurrentThread;": "it is marked ChangesCurrentThread",
    VM + "JvmtiMountTransition;": "it mounts virtual threads (JvmtiMountTransition)",
    SCOPED: "the JVM looks for it on stacks (Scoped)",
}
LOCKED = "the JVM lets nobody rewrite its class"
SWITCHES = "the JVM switches stacks in this class"
CLASSES = {
    "java.lang.Object": {"java.lang.Object is never rewritten"},
    "java.lang.VirtualThread": {SWITCHES},
    "jdk.internal.vm.Continuation": {SWITCHES, LOCKED},
}
NO_CODE = 0x0100 | 0x0400  # native, abstract


class ClassFile:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.texts, self.at, i = {}, 10, 1
        count = self.number(8, 2)
        while i < count:
            tag = self.data[self.at]
            size = {1: 3, 7: 3, 8: 3, 15: 4, 16: 3, 19: 3, 20: 3}.get(tag, 9 if tag in (5, 6) else 5)
            if tag == 1:
                length = self.number(self.at + 1, 2)
                self.texts[i] = self.data[self.at + 3:self.at + 3 + length].decode("utf-8", "replace")
                size += length
            self.at += size
            i += 1 + (tag in (5, 6))
        self.at += 6
        self.at += 2 + 2 * self.number(self.at, 2)
        self.members()
        self.methods = self.members()
        self.annotations = self.attributes()

    def number(self, at, size):
        return int.from_bytes(self.data[at:at + size], "big")

    def next(self, size):
        self.at += size
        return self.number(self.at - size, size)

    def members(self):
        return [(self.next(2), self.texts[self.next(2)], self.texts[self.next(2)], self.attributes())
                for _ in range(self.next(2))]

    def attributes(self):
        """The types of the annotations among them."""
        found = set()
        for _ in range(self.next(2)):
            name, length = self.texts[self.next(2)], self.next(4)
            end = self.at + length
            if name in ("RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"):
                for _ in range(self.next(2)):
                    found.add(self.texts[self.next(2)])
                    for _ in range(self.next(2)):
                        self.next(2)
                        self.value()
            self.at = end
        return found

    def value(self):
        tag = chr(self.next(1))
        if tag == "[":
            for _ in range(self.next(2)):
                self.value()
        elif tag == "@":
            raise ValueError("an annotation in an annotation")
        else:
            self.next(4 if tag == "e" else 2)


bad = 0


def fail(text):
    global bad
    bad += 1
    if bad < 20:
        print("BAD", text)


def main():
    only = "only" in sys.argv[4:]
    listed, why = set(), {}
    for m in filter(None, map(LINE.match, open(sys.argv[1]))):
        if m[4]:
            listed.add((m[1], m[2], m[3]))
        else:
            why.setdefault((m[1], m[2], m[3]), set()).add(m[5])
    out = dict(line.split()[:2] for line in open(sys.argv[3]) if re.match("HIDDEN|LAMBDA|READY", line))

    reasons = {}  # reason: methods
    for file in sorted(os.listdir(sys.argv[2])):
        name, c = file[:-len(".class")], ClassFile(os.path.join(sys.argv[2], file))
        for flags, method, descriptor, marks in c.methods:
            key = (name, method, descriptor)
            ours = [a for a in marks | c.annotations if a in MARKS or a.startswith(VM) and not only]
            may = CLASSES.get(name.split("$")[0]) or {MARKS[m] for m in marks if m in MARKS}
            if flags & NO_CODE or not ours and name not in CLASSES:
                may, chosen = set(), False
            else:
                chosen = True
            if bool(may) != (key in why) or not why.get(key, set()) <= may:
                fail(f"{key}: not traced for {why.get(key)}, should be for one of {may}")
            if (chosen and not may) != (key in listed):
                fail(f"{key}: traced {key in listed}, should be {chosen and not may}")
            for reason in why.get(key, ()):
                reasons[reason] = reasons.get(reason, 0) + 1
    for reason in list(MARKS.values())[:3] + [MARKS[SCOPED]] + ["java.lang.Object is never rewritten"]:
        if not reasons.get(reason):
            fail(f"no method is left for this: {reason}")
    if os.path.exists(os.path.join(sys.argv[2], "java.lang.VirtualThread.class")) != (SWITCHES in reasons):
        fail("methods of virtual threads are not told")

    # Of hidden classes the names are the JVM's own.
    for name, methods in ((out["HIDDEN"], {("<init>", "()V"), ("applyAsInt", "(I)I"), ("more", "(I)I")}),
                          (out["LAMBDA"], {("<init>", "(I)V"), ("applyAsInt", "(I)I")})):
        told = {k[1:] for k, v in why.items() if k[0] == name and v == {"its class is hidden: the JVM shows it to no agent"}}
        if told != methods:
            fail(f"of the hidden class {name} are told {told}")
    if not [k for k, v in why.items() if k[0] == "java.lang.JProbe$" and v == {"the probes do not call themselves"}]:
        fail("no method of the probes is told")
    print(*(f"{n} methods: {reason}" for reason, n in sorted(reasons.items())), f"{len(listed)} methods are traced", sep="\n")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
