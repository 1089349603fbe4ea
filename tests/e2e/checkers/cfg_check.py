#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Paraver's views against what a trace has: cfg_check.py DIRECTORY X.pcf PARAVER.md

Each view is whole (its windows, the functions Paraver knows, the keys without which its engine ends), and asks for event
types, states and tags that docs/paraver.md lists; it is itself in the document's table, which has no other. What the
.pcf of a trace names, the document lists, too."""
import pathlib, re, sys

THREAD = {"State As Is", "In State", "Not In State", "State Record Dur.", "Last Evt Val", "Next Evt Val",
          "Thread ID", "TaskID"}
LEVEL = {"Adding", "Maximum", "Minimum", "Average", "Activity", "Mode", "Thread i"}
CPU = {"Active Thd", "Active Thd Val"}
STATISTICS = {"Time", "% Time", "# Bursts", "Average Burst Time", "Maximum", "Sum bursts", "Average value"}
faults = []


def fault(name, text):
    faults.append("%s: %s" % (name, text))


def numbers(text):
    return {int(float(n)) for n in re.findall(r"-?\d+(?:\.\d+)?", text)}


def known_types(doc):
    """Rows of the table of types: single numbers, and lists of them."""
    types = set()
    for row in re.findall(r"^\| ((?:\d{8}(?:, )?)+) \|", doc, re.M):
        types |= numbers(row)
    return types


def known_states(doc):
    """Rows of the table of states: a number, or the first and the last."""
    states = set()
    for a, b in re.findall(r"^\| (\d{1,2})(?: to (\d\d))? \|", doc.split("| on rows of CPUs |")[1].split("\n\n")[0], re.M):
        states |= set(range(int(a), int(b or a) + 1))
    return states


def named_states(pcf):
    part = pcf.split("STATES\n", 1)[1].split("\n\n", 1)[0]
    return {int(line.split()[0]) for line in part.splitlines() if line[:1].isdigit()}


def check_window(name, window, types, states, tags):
    get = lambda key: re.findall(r"^%s (.*)$" % key, window, re.M)
    if get("window_type") != ["single"]:
        fault(name, "no window_type single")
    if get("window_level")[0] not in ("thread", "task", "appl", "workload", "cpu", "node", "system"):
        fault(name, "level %s" % get("window_level"))
    functions = dict(re.findall(r"\{(\w+), ([^}]*)\}", get("window_selected_functions")[0]))
    if functions.get("thread") not in THREAD:
        fault(name, "thread function %s" % functions.get("thread"))
    if functions.get("cpu") not in CPU:
        fault(name, "CPU function %s" % functions.get("cpu"))
    for level in ("appl", "task", "node", "system", "workload"):
        if functions.get(level) not in LEVEL:
            fault(name, "%s function %s" % (level, functions.get(level)))
    if "evt_type" not in functions:
        fault(name, "no filter of event types: Paraver shows nothing then")
    asks = [f.split(None, 2) for f in get("window_filter_module")]
    if (functions["evt_type"] == "=") and not any(f[0] == "evt_type" for f in asks):
        fault(name, "a filter without types")
    for kind, count, values in asks:
        values = numbers(values)
        if len(values) != int(count):
            fault(name, "%s: %s values, not %s" % (kind, len(values), count))
        if kind == "evt_type":
            for t in values - types - {77010000, 77099999}:
                fault(name, "type %d is not in the document" % t)
        elif kind == "tag_msg":
            for t in values - tags:
                fault(name, "tag %d is not in the document" % t)
    for module in get("window_semantic_module"):
        if "State" in module:
            inner = re.search(r"\{ 1, \{ (\d+) (.*) \} \}", module)
            values = numbers(inner.group(2))
            if len(values) != int(inner.group(1)):
                fault(name, "%d states, not %s" % (len(values), inner.group(1)))
            for s in values - states - {0}:
                fault(name, "no trace has state %d" % s)


def check(path, types, states, tags):
    name, text = path.stem, path.read_text()
    if not text.startswith("#ParaverCFG\n"):
        fault(name, "does not begin with #ParaverCFG")
    parts = re.split(r"^< NEW (DISPLAYING WINDOW|ANALYZER2D)[^>]*>$", text, flags=re.M)
    windows = [parts[i + 1] for i in range(1, len(parts), 2) if parts[i] != "ANALYZER2D"]
    tables = [parts[i + 1] for i in range(1, len(parts), 2) if parts[i] == "ANALYZER2D"]
    said = int(re.search(r"^ConfigFile.NumWindows: (\d+)$", text, re.M).group(1))
    if said != len(windows):
        fault(name, "%d windows, %d said" % (len(windows), said))
    ids = [int(re.search(r"^window_id (\d+)$", w, re.M).group(1)) for w in windows]
    if ids != list(range(1, len(ids) + 1)):
        fault(name, "windows numbered %s" % ids)
    for w in windows:
        check_window(name, w, types, states, tags)
    for t in tables:
        keys = dict(re.findall(r"^Analyzer2D\.(\w+): (.*)$", t, re.M))
        for key in ("ControlWindow", "DataWindow"):
            if int(keys.get(key, 0)) not in ids:
                fault(name, "%s %s is no window" % (key, keys.get(key)))
        if keys.get("Statistic") not in STATISTICS or keys.get("AnalysisLimits") != "Alltrace":
            fault(name, "table of %s over %s" % (keys.get("Statistic"), keys.get("AnalysisLimits")))
        if keys.get("ComputeYScale") == "False" and not {"Minimum", "Maximum", "Delta"} <= keys.keys():
            fault(name, "a table without a scale")


def main():
    directory, pcf, doc = pathlib.Path(sys.argv[1]), open(sys.argv[2]).read(), open(sys.argv[3]).read()
    types, states = known_types(doc), known_states(doc)
    for s in named_states(pcf) - states:
        fault("the .pcf", "state %d is not in the document" % s)
    tags = numbers(" ".join(re.findall(r"^\| (\d+ \w+[^|]*) \|", doc, re.M))) | {0, 1, 2, 3, 4, 5, 10}
    views = sorted(directory.glob("*.cfg"))
    for path in views:
        check(path, types, states, tags)
    table = doc.split("| question |", 1)[1].split("\n\n", 1)[0]
    told = set(re.findall(r"`([a-z_0-9]+)`", "\n".join(r.split("|")[1] for r in table.splitlines() if r.count("|") > 2)))
    for name in sorted({p.stem for p in views} ^ told):
        fault(name, "is in the document or in the directory, not in both")
    print("%d views, %d types, %d states" % (len(views), len(types), len(states)))
    print("\n".join(faults))
    sys.exit(1 if faults or len(views) < 40 or len(types) < 30 or len(states) < 30 else 0)


main()
