#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Spans nest, names are defined once and before their first use; a closed span does not end twice.
. "$(dirname "$0")/lib.sh"

"$TESTPROG/poolhost" -o "$TESTDIR/pool" "$TESTDIR/socket" -- "$JAVA" -agentpath:"$BUILD/libjisagent.so" \
	-cp "$CLASSES:$MARKERS" AgentMarkers spans
python3 - "$TESTDIR/pool" <<'PY'
import re, sys
defined, begins, ends, stack, uses = {}, 0, 0, [], []
for l in open(sys.argv[1]):
    assert not l.startswith("BAD"), l
    t = re.search(r"time=(\d+)", l)
    m = re.search(r'string_def id=(\d+) text="(.*)"$', l)
    if m:
        assert m[1] not in defined
        defined[m[1]] = (m[2], int(t[1]))
    m = re.search(r"span_(begin|end) java_tid=\d+ name=(\d+)", l)
    if not m: continue
    uses.append((m[2], int(t[1])))
    if m[1] == "begin": stack.append(m[2])
    else: assert stack.pop() == m[2]
assert not stack and len(uses) == 2 * (1 + 1000 + 1 + 1 + 500), len(uses)
for name, time in uses:
    assert name == "0" or defined[name][1] <= time, name
texts = [d[0] for d in defined.values()]
assert len(set(texts)) == len(texts)
assert {"inner", "other", 'outer \\"span\\" €'} <= set(texts) and sum(x.startswith("name ") for x in texts) == 500
print(len(uses), "span records,", len(texts), "names")
PY
