#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What doctor says of ftrace's events is what tracefs has; each family it names can be recorded, and each it leaves out
# is refused. What it says of each backend is the table of docs/recording.md, row by row, save where this host lacks something.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
"$JIS" doctor >said || fail "doctor: $(cat said)"
line=$(grep '^ftrace-events ' said) || fail "not a word of ftrace's events: $(cat said)"
echo "$line"
events=/sys/kernel/tracing/events
[ -d $events ] || events=/sys/kernel/debug/tracing/events
families=$(sed 's/.*for --events: \([^;]*\);.*/\1/' <<<"$line")
has() { case ", $families," in *", $1,"*) ;; *) return 1 ;; esac }

check() { # FAMILY EVENT...: named if all the events are there
	local e there=1
	for e in "${@:2}"; do
		[ -d "$events/$e" ] || there=0
	done
	if [ $there = 1 ]; then has "$1" || fail "$1 is there, doctor has: $families"; else ! has "$1" || fail "$1 is not there, doctor has: $families"; fi
	if has "$1"; then
		"$JIS" record -q --backend ftrace --no-agent --events "$1" -o "$1" -- true || fail "--events $1 is refused"
	else
		expect_status 1 "$JIS" record -q --backend ftrace --no-agent --events "$1" -o "$1" -- true
	fi
}
check block block/block_rq_issue block/block_rq_complete
check irq irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit
check signal signal/signal_generate signal/signal_deliver
check power power/cpu_frequency power/cpu_idle
check fault none # no event tells its end

if [ -d $events/raw_syscalls/sys_enter ]; then want="in part"; else want=no; fi
grep -q "; system calls: $want; " <<<"$line" || fail "system calls are recorded $want"
if [ -d $events/cgroup/cgroup_attach_task ]; then want=", cgroups"; else want=""; fi
grep -q "; targets: processes, threads$want, programs, all\$" <<<"$line" || fail "targets: processes, threads$want, programs, all"

"$JIS" doctor --json >said.json || fail "doctor --json"
module=0
! grep -q '^module  *ok ' said || module=1
python3 - "$here/../../docs/recording.md" $events $module <<'PY' || fail "doctor and the table of docs/recording.md differ"
import json, os, re, sys
doc, events, module = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
needs = {  # events of tracefs that need not be there, by row
    "switch: cgroup": ["cgroup/cgroup_attach_task"],
    "waking: interrupt, softirq, timer as its source": [
        "irq/%s_%s" % (k, e) for k in ("irq_handler", "softirq") for e in ("entry", "exit")] + [
        "timer/%s_%s" % (k, e) for k in ("hrtimer_expire", "timer_expire") for e in ("entry", "exit")],
    "sched_migrate_task": ["sched/sched_migrate_task"],
    "cgroup_attach, cgroup_name": ["cgroup/cgroup_attach_task"],
    "system calls": ["raw_syscalls/sys_enter", "raw_syscalls/sys_exit"],
    "block": ["block/block_rq_issue", "block/block_rq_complete"],
    "irq": ["irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry", "irq/softirq_exit"],
    "signal": ["signal/signal_generate", "signal/signal_deliver"],
    "power": ["power/cpu_frequency", "power/cpu_idle"],
    "targets: cgroups": ["cgroup/cgroup_attach_task"],
}
section = open(doc).read().split("### What each backend records\n")[1].split("\n\nWhat has no event")[0]
table = {}
for line in section.splitlines():
    cells = [c.strip() for c in line.replace("`", "").strip("|").split("|")]
    if line.startswith("| ") and cells[1:] != ["kmod", "ftrace"]:
        table[cells[0]] = dict(zip(("kmod", "ftrace"), cells[1:]))
said = json.load(open("said.json"))
text = open("said").read()
bad = []
if [r["what"] for r in said["recorded"]] != list(table) or len(table) < 25:
    bad.append("rows: %s" % (set(table) ^ {r["what"] for r in said["recorded"]}))
complete = {c["name"]: c for c in said["checks"]}["events"]["ok"] == 1  # the module finds all it looks for
for r in said["recorded"]:
    what = r["what"]
    gone = [e for e in needs.pop(what, []) if not os.path.isdir("%s/%s" % (events, e))]
    for b in "kmod", "ftrace":
        state, reason, want = r[b]["records"], r[b]["reason"], table[what][b]
        if reason.startswith("not here: "):
            if state != "no":
                bad.append("%s by %s: not here, and %s" % (what, b, state))
            elif b == "ftrace" and not any(e in reason for e in gone):
                bad.append("%s by ftrace: it is here: %s" % (what, reason))
            elif b == "kmod" and module and complete:
                bad.append("%s by the module: it is here: %s" % (what, reason))
        elif b == "ftrace" and gone:
            bad.append("%s by ftrace: not a word of %s" % (what, gone))
        elif b == "kmod" and not module:
            bad.append("%s by the module, which is not there" % what)
        elif not want.startswith(state) or re.sub(r"^%s[:;, ]*" % state, "", want) != reason:
            bad.append("%s by %s: %s: %s, documented: %s" % (what, b, state, reason, want))
    if not re.search(r"^%s +%s +%s$" % (re.escape(what), r["kmod"]["records"], r["ftrace"]["records"]), text, re.M):
        bad.append("%s: not in the text" % what)
if needs:
    bad.append("no row of: %s" % list(needs))
# What ftrace lacks wherever it runs: each has a row, with the interface that is missing.
for what in ("switch: system call", "exit codes", "thread_attributes", "fd_file, fd_socket", "cgroup_throttle", "cpu_steal"):
    if table[what]["kmod"][:3] != "yes" or not re.match("no: .", table[what]["ftrace"]):
        bad.append("%s: %s" % (what, table[what]))
print(*bad, sep="\n")
print("%d rows, module %d" % (len(table), module))
sys.exit(bool(bad))
PY

# Without rights it says what is missing, and does not end well.
setpriv --reuid 65534 --regid 65534 --clear-groups "$JIS" doctor >nobody && fail "all is well for nobody: $(cat nobody)"
grep -q '^root  *no ' nobody || fail "nobody: $(cat nobody)"
