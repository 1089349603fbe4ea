# SPDX-License-Identifier: MIT
"""What of /proc/PID/maps a JVM keeps."""

ARENA = 64 << 20  # glibc's, aligned to its size: as many as threads once allocated at the same time


def anonymous(path):
    """Of the anonymous ranges those that lie apart from one another, and the size of all in bytes, but for malloc's arenas.

    What is committed or protected within a reserved range moves about with the JVM's heaps and divides no range here.
    """
    ranges = []
    for line in open(path):
        words = line.split()
        begin, end = (int(w, 16) for w in words[0].split("-"))
        if len(words) > 5:
            continue
        if ranges and ranges[-1][1] == begin and begin % ARENA:
            ranges[-1][1] = end
        else:
            ranges.append([begin, end])
    ranges = [r for r in ranges if r[0] % ARENA or r[1] - r[0] != ARENA]
    return len(ranges), sum(end - begin for begin, end in ranges)
