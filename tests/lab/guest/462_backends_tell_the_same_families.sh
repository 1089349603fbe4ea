#!/bin/bash
# SPDX-License-Identifier: MIT
# Both backends at once tell the same signals, interruptions, requests and sources of wakings of the same run.
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
cd "$LAB_TMP" || exit 1
head -c 1M /dev/urandom >data
sync data
mkfifo gate
# shellcheck disable=SC2016 # for the shell that is recorded
bash -c 'read -r <gate; "$0" signals 30 >signals.out; dd if=data of=/dev/null bs=4096 count=50 iflag=direct status=none
	"$0" spin 1 0 >spin.out; "$0" wakers 100 >wakers.out' "$JIS_BUILD/tests/lab/jisreason" &
pid=$!
for b in kmod ftrace; do
	"$JIS" record -o $b --backend $b --follow fork,exec --no-agent --events signal,irq,block --buffer 32M -p $pid 2>$b.err &
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
import re, sys
from collections import Counter
def records(b):
    all = {}
    tids = None
    for l in open(b + ".dump"):
        w = l.split(None, 3)
        if re.match(r"signal_|irq_e|block_rq|sched_waking", w[2]):
            rest = re.sub(r"0x[0-9a-f]+", lambda m: str(int(m.group(0), 16)), w[3])
            all.setdefault(w[2], []).append((float(w[0]), w[1], rest.strip()))
    return all
a, b = records("kmod"), records("ftrace")
bad = 0
for name in sorted(set(a) | set(b)):
    x, y = [r[1:] for r in a.get(name, [])], [r[1:] for r in b.get(name, [])]
    # each CPU's in their order; the two begin and end a little apart
    differ = 0
    for cpu in {r[0] for r in x + y}:
        p, q = [r for r in x if r[0] == cpu], [r for r in y if r[0] == cpu]
        while p and q and p[0] != q[0]:
            (p if len(p) > len(q) else q).pop(0)
        n = min(len(p), len(q))
        differ += sum(1 for i in range(n) if p[i] != q[i]) + abs(len(p) - len(q))
    print(name, len(x), len(y), "differ", differ)
    bad += differ > max(4, len(x) // 50) or not x or not y
    if name == "sched_waking":
        sources = Counter(re.search(r"context = \d+, source = \d+", r[1]).group(0) for r in y)
        print(*("  %4d %s" % (n, s) for s, n in sources.most_common()), sep="\n")
        # a thread, a timer, the network's softirq, each often: else two that know nothing would agree
        bad += any(sources["context = %d, source = %d" % s] < 50 for s in ((0, 0), (4, 0), (1, 3)))
sys.exit(bad > 0)
PY
ok "signals, interruptions, requests and sources of wakings are the same"
