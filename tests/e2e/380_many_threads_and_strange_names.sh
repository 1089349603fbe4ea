#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 1,000 threads at once, 10,000 short-lived ones, and names with quotes, newlines, UTF-8 and 300 characters:
# each thread has its row and its full name, and the Paraver files keep all rules.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root

# A terminal takes U+0080 to U+009F for commands, as it does the controls of ASCII: neither gets there.
"${RECORD[@]}" -q -o "$TESTDIR/controls" -- python3 -c \
	'import time; open("/proc/self/comm", "wb").write(b"a\xc2\x9bb\x1bc\xc3\xa4\xc0\x80"); time.sleep(0.05)'
"$JIS" report -q "$TESTDIR/controls" >"$TESTDIR/controls.report"
grep -qF 'a\u009bb\x1bcä??' "$TESTDIR/controls.report" || { cat "$TESTDIR/controls.report"; fail "the name is not masked"; }
! LC_ALL=C grep -q $'\xc2\x9b' "$TESTDIR/controls.report" || fail "a control character is printed"
# Nor does what is no UTF-8, which programs that read the output do not take.
"$JIS" dump "$TESTDIR/controls" >"$TESTDIR/controls.dump"
grep -qF 'cä\xc0\x80' "$TESTDIR/controls.dump" || fail "the name is not in the dump"
python3 -c 'import sys; [open(f, encoding="utf-8").read() for f in sys.argv[1:]]' "$TESTDIR"/controls.{dump,report} ||
	fail "what is printed is no UTF-8"

# One thread starts and joins all others, five records each: more than 16 MiB for 873 slots can always take.
"${RECORD[@]}" -q --pool 64M -o "$TESTDIR/trace" -- "$JAVA" -Xmx512m -Xss256k -cp "$CLASSES:$MARKERS" ManyThreads \
	"${AT_ONCE:-1000}" "${IN_TURN:-10000}" >"$TESTDIR/program"
"$JIS" export paraver -q "$TESTDIR/trace" -o "$TESTDIR/x.prv"
python3 "$CHECKERS/prv_check.py" "$TESTDIR/x.prv"
python3 - "$TESTDIR/program" "$TESTDIR/trace/manifest.json" <<'PY'
import json, sys
said = [l.rstrip("\n").split(" ", 1) for l in open(sys.argv[1], encoding="utf-8") if l[0].isdigit()]
m = json.load(open(sys.argv[2]))
names = {}
for t in m["threads"]:
    names.setdefault(t["ns_tid"] or t["tid"], set()).add(t["name"])
wrong = 0
for tid, name in said:
    name = json.loads(name)
    if name not in names.get(int(tid), ()):
        wrong += 1
        if wrong < 5:
            print("thread %s is %r, the trace has %r" % (tid, name, names.get(int(tid))))
java = sum(1 for t in m["threads"] if t["java_tid"])
lost = sum(v for s in m["streams"] for v in s["lost"].values())
print("%d threads said their name, %d wrong; %d Java threads in the trace, %d records lost" % (len(said), wrong, java, lost))
sys.exit(wrong > 0 or java < len(said) or lost > 0)
PY
