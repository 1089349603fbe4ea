#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a JVM's tree, and behind that what it served, without times: kind, method, JVM and thread of each call.

Usage: tree_shape.py TREE.jta JVM. Threads are numbered in each JVM in the order in which they come; what the JDK does by itself
when it likes to, distributed garbage collection, is left out.
"""
import sys

from jta_file import JVM, METHOD, PART, REMOTE, SERVED, THROWN, Tree

tree = Tree(sys.argv[1])
names = {METHOD: "", REMOTE: "call ", SERVED: "served "}
numbers = {}


def thread(r):
    own = numbers.setdefault(r.jvm, {})
    return own.setdefault(r.thread, len(own) + 1)


def is_wanted(r):
    return not any(word in tree.method[r.method] for word in ("dirty(", "clean("))


def show(r, depth):
    marks = " (part)" * bool(r.flags & PART) + " (thrown)" * bool(r.flags & THROWN)
    print(f"{'  ' * depth}{names[r.kind]}{tree.method[r.method]} [{tree.jvm[r.jvm][1]} {thread(r)}]{marks}")
    for child in filter(is_wanted, r.children):
        show(child, depth + 1)


jvm = next(n for n, (_, name) in tree.jvm.items() if name == sys.argv[2])
for child in tree.records[tree.first_jvm + jvm].children:
    show(child, 0)
for r in tree.records[1:]:
    if r.kind == SERVED and r.jvm == jvm and is_wanted(r):
        print("-- incoming")
        show(r, 0)
for text in tree.wrong:
    print(text)
sys.exit(bool(tree.wrong))
