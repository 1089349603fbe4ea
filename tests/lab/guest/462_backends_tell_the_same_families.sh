#!/bin/bash
# SPDX-License-Identifier: MIT
# Both backends at once tell the same signals, interruptions, requests, idle states and sources of wakings of the same
# run; each interruption that begins ends.
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
cd "$LAB_TMP" || exit 1
disk=$(findmnt -no SOURCE /) # the folder here may be in memory
mkfifo gate
# shellcheck disable=SC2016 # for the shell that is recorded
bash -c 'read -r <gate; "$0" signals 30 >signals.out; dd if="$1" of=/dev/null bs=4096 count=50 iflag=direct status=none
	"$0" spin 1 0 >spin.out; "$0" wakers 100 >wakers.out' "$JIS_BUILD/tests/lab/jisreason" "$disk" &
pid=$!
for b in kmod ftrace; do
	"$JIS" record -o $b --backend $b --follow fork,exec --no-agent --events signal,irq,block,power --buffer 32M -p $pid 2>$b.err &
	declare "$b=$!"
done
recording() { grep -q 'recording into' kmod.err && grep -q 'recording into' ftrace.err; }
wait_for 60 "both recordings" recording
echo go >gate
# shellcheck disable=SC2154 # declared above
wait "$kmod" || fail "kmod: $(cat kmod.err)"
# shellcheck disable=SC2154
wait "$ftrace" || fail "ftrace: $(cat ftrace.err)"
for b in kmod ftrace; do
	"$JIS" info --strict -q $b >$b.info || fail "$b: records were lost"
	"$JIS" dump -q $b >$b.dump
done
python3 - <<'PY' || fail "the backends differ"
import json, re, sys
from collections import Counter
def records(b):
    m, all = json.load(open(b + "/manifest.json")), {}
    assert m["clock"] == 1, "not by the time stamp counter"
    for l in open(b + ".dump"):
        w = l.split(None, 3)
        if re.match(r"signal_|irq_e|block_rq|sched_waking|cpu_idle$", w[2]):
            rest = re.sub(r"0x[0-9a-f]+", lambda m: str(int(m.group(0), 16)), w[3])
            if w[2] == "cpu_idle":
                rest = re.search(r"cpu = \d+, state = -?\w+", rest).group(0)
            all.setdefault(w[2], []).append((m["base"] + m["begin"] + float(w[0]) * m["frequency"], w[1], rest.strip()))
    return all
a, b = records("kmod"), records("ftrace")
frequency = json.load(open("kmod/manifest.json"))["frequency"]
# Of the time that both have, by the clock they share: beside others seconds may be between their ends.
times = [[r[0] for of in all.values() for r in of] for all in (a, b)]
since, to = max(map(min, times)), min(map(max, times))
bad = 0
for name in sorted(set(a) | set(b)):
    x, y = ([r for r in all.get(name, []) if since <= r[0] <= to] for all in (a, b))
    # each CPU's in their order; what only one has, at its begin or end too, shifts none of what follows
    differ = 0
    for cpu in {r[1] for r in x + y}:
        p, q = [r for r in x if r[1] == cpu], [r for r in y if r[1] == cpu]
        while p and q:
            same = p[0][2] == q[0][2] and abs(p[0][0] - q[0][0]) < frequency / 20
            differ += not same
            for of in (p, q) if same else (p,) if p[0][0] < q[0][0] else (q,):
                of.pop(0)
        differ += len(p) + len(q)
    print(name, len(x), len(y), "differ", differ)
    bad += name.startswith("block") and len(x) < 50 # what dd has read
    bad += name == "cpu_idle" and len(x) < 20
    bad += differ > max(4, len(x) // 50) or not x or not y
    if name == "sched_waking":
        sources = Counter(re.search(r"context = \d+, source = \d+", r[2]).group(0) for r in y)
        print(*("  %4d %s" % (n, s) for s, n in sources.most_common()), sep="\n")
        # a thread, a timer, the network's softirq, each often: else two that know nothing would agree
        bad += any(sources["context = %d, source = %d" % s] < 50 for s in ((0, 0), (4, 0), (1, 3)))
sys.exit(bad > 0)
PY
python3 - <<'PY' || fail "an interruption does not end"
import re
for b in ("kmod", "ftrace"):
    n, open_irqs, known = 0, {}, set()
    for l in open(b + ".dump"):
        _, cpu, name, rest = l.split(None, 3)
        if name in ("irq_entry", "irq_exit"):
            f = re.search(r"tid = (\S+), kind = (\S+), vector = (\S+) ", rest + " ")
            key = cpu, f.group(2)
            if name == "irq_entry":
                assert key not in open_irqs, "%s: %s within another of its kind" % (b, l)
                open_irqs[key] = f.group(1, 3)
            elif key in known: # the first may have begun before the recording
                assert open_irqs.pop(key, None) == f.group(1, 3), "%s: %s ends, and did not begin" % (b, l)
                n += 1
            known.add(key)
    print(b, n, "interruptions begin and end, open at the end:", open_irqs)
    assert n > 10 and len(open_irqs) <= 2, open_irqs
PY
ok "signals, interruptions, requests, idle states and sources of wakings are the same"
