#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Workers in the middle of their pool's methods, which a former recording has hooked, are there before a new one
# has looked at the JVM: each is told once, no task ends or begins twice, and names are of this recording.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
WORKERS=300

up() { [ -s "$TESTDIR/out" ]; }

rounds_done() { [ "$(grep -c '^MORE' "$TESTDIR/out")" = "$1" ]; }

attached() { "$JIS" attach -q -o "$TESTDIR/trace" "$jvm" 2>/dev/null; }

check() { # TRACE
	"$JIS" dump "$TESTDIR/$1" >"$TESTDIR/dump" || fail "$1: jis dump"
	grep -E ' (task_begin|task_end|pool_worker|string_def) ' "$TESTDIR/dump" >"$TESTDIR/tasks"
	python3 - "$TESTDIR/tasks" <<'PY' || { head -3 "$TESTDIR/tasks"; fail "$1"; }
import collections, re, sys
told, is_open, begins, ends, wrong = collections.Counter(), {}, 0, 0, []
names = {"task": collections.Counter(), "pool": collections.Counter()}
texts = {}
for line in open(sys.argv[1]):
    m = re.search(r' string_def \{ id = (\d+), text = "(.*)" \}', line)
    if m:
        texts[m.group(1)] = m.group(2)
for line in open(sys.argv[1]):
    if " string_def " in line:
        continue
    event = re.search(r" (task_begin|task_end|pool_worker) ", line).group(1)
    thread = re.search(r"java_tid = (\d+)", line).group(1)
    for kind, key in (("task", "class_name"), ("pool", "pool_class")):
        m = re.search(r"[ {]%s = (\d+)" % key, line)
        if m:
            names[kind][texts.get(m.group(1))] += 1
    if event == "pool_worker":
        told[thread] += 1
    elif event == "task_begin":
        begins += 1
        if is_open.get(thread):
            wrong.append("a task begins in another: " + line)
        is_open[thread] = True
    else:
        ends += 1
        if not is_open.get(thread):
            wrong.append("a task ends that has not begun: " + line)
        is_open[thread] = False
twice = [t for t, n in told.items() if n > 1]
left = sum(is_open.values())
print("%d workers, %d begins, %d ends, %d open, %d told twice, %s" %
      (len(told), begins, ends, left, len(twice), {k: dict(v) for k, v in names.items()}))
for w in wrong[:5]:
    print(w, end="")
ok = not wrong and not twice and begins >= 200 and begins == ends + left and left <= 2
ok = ok and set(names["task"]) == {"BusyWorkers$First", "BusyWorkers$Second"}
ok = ok and set(names["pool"]) == {"java.util.concurrent.ThreadPoolExecutor"}
sys.exit(not ok)
PY
}

one_jvm() { # VERSION JAVA
	local round
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	"$2" -Xss256k -cp "$CLASSES" BusyWorkers $WORKERS <"$TESTDIR/in" >"$TESTDIR/out" 2>"$TESTDIR/err" &
	jvm=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 up
	for round in 1 2; do
		rm -rf "$TESTDIR/trace"
		"${RECORD[@]}" -q -o "$TESTDIR/trace" -p $jvm 2>"$TESTDIR/rec" &
		host=$!
		wait_for 60 attached
		echo >&9
		wait_for 60 rounds_done $round
		kill -INT $host
		wait $host || [ $? = 130 ] || { cat "$TESTDIR/rec"; fail "jis record ended with $?"; }
		check trace
	done
	exec 9>&-
	wait $jvm || { cat "$TESTDIR/err"; fail "the program ended with $?"; }
	grep -q '^RAN [1-9]' "$TESTDIR/out" || fail "it ran nothing"
}

while read -r version java; do
	echo "== $version"
	one_jvm "$version" "$java"
done < <(jdks)
