# SPDX-License-Identifier: MIT
"""What Paraver shows in a view (.cfg) of a trace, worked out as its kernel does it; only what our views use.

Body(BASE) reads a trace, View(PATH) a view. View.windows[i].lines(body): (object, begin, end, value), in order, with 0 where
there is nothing; View.arrows(body): tags of those drawn; View.table(body): {(object, column): statistic}. An object is a row's
key, a CPU's number from 1, or "workload". What is not understood is an error (Unknown): functions, levels, filters, keys of a
table that this file does not know.

Semantics (paraver-kernel): a record that passes the filters begins an interval, which ends at the next one of its row, or at
the end of the trace; before the first the value is 0. A table has no intervals of no length; one whose value is in the
column's bin counts there: bins are from Minimum on, Delta wide, the last one to Maximum; with ComputeYScale each value has
its own, but for 0. A CPU shows the value of the thread whose record names it.
"""
import bisect
import collections
import re

import prv_rows


class Unknown(Exception):
    pass


class Body:
    def __init__(self, base):
        self.names, self.labels = prv_rows.names(base), prv_rows.labels(base)
        self.states, self.arrows = collections.defaultdict(list), []
        self.events = collections.defaultdict(list)
        with open(base + ".prv") as f:
            self.end = int(re.search(r":(\d+)_ns:", f.readline())[1])
            for line in f:
                r = line.split(":")
                key = tuple(r[2:5])
                if r[0] == "1":
                    self.states[key].append((int(r[5]), int(r[6]), int(r[7]), int(r[1])))
                elif r[0] == "2":
                    for kind, value in zip(r[6::2], r[7::2]):
                        self.events[key].append((int(r[5]), int(kind), int(value)))
                elif r[0] == "3":
                    self.arrows.append(int(r[14]))
        for of_row in (*self.states.values(), *self.events.values()):
            of_row.sort(key=lambda r: r[0])  # stable, as Paraver's


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


class Window:
    FIXED = {"from_obj": "All", "to_obj": "All", "size_msg": "All", "bw_msg": "All", "evt_value": "All", "appl": "Adding",
             "task": "Adding", "node": "Adding", "system": "Adding", "cpu": "Active Thd"}

    def __init__(self, text):
        def get(key, default=None):
            found = re.findall(r"^%s (.*)$" % key, text, re.M)
            if len(found) > 1 or not found and default is None:
                raise Unknown("%s: %s" % (key, found))
            return found[0] if found else default

        self.level, self.name = get("window_level"), get("window_name")
        if get("window_type") != "single" or get("window_units") != "Nanoseconds" or \
                get("window_object") != "appl { 1, { All } }":
            raise Unknown("type, units or objects of %s" % self.name)
        self.functions = dict(re.findall(r"\{(\w+), ([^}]*)\}", get("window_selected_functions")))
        for key, value in self.FIXED.items():
            if self.functions.get(key) != value:
                raise Unknown("%s %s" % (key, self.functions.get(key)))
        compose = dict(re.findall(r"\{(\w+), ([^}]*)\}", get("window_compose_functions")))
        self.compose = compose.pop("compose_thread")
        if set(compose.values()) != {"As Is"} or self.compose not in ("As Is", "Stacked Val"):
            raise Unknown("composed: %s" % compose)
        self.draws_arrows = {"true": True, "false": False}[get("window_comm_lines_enabled")]
        self.filters = {}
        for line in re.findall(r"^window_filter_module (.*)$", text, re.M):
            kind, _, values = line.split(None, 2)
            self.filters[kind] = [int(v) for v in numbers(values)]
        self.parameters = {}
        for module in re.findall(r"^window_semantic_module (.*)$", text, re.M):
            level, name, values = re.fullmatch(r"(\w+) (.*) \{ 1, \{ \d+ (.*) \} \}", module).groups()
            if name != self.functions[level] or level not in ("thread", "workload"):
                raise Unknown("parameters of %s" % module)
            self.parameters[level] = set(numbers(values))
        if self.functions["workload"] not in ("Adding", "Thread i"):
            raise Unknown("workload %s" % self.functions["workload"])

    def passes(self, filter_name, value):
        how, values = self.functions[filter_name], self.filters.get(filter_name, [])
        if how == "All":
            return True
        if how == "=":
            return value in values
        if how == "[x,y]":
            return values[0] <= value <= values[1]
        raise Unknown("%s %s" % (filter_name, how))

    def of_row(self, body, key):
        """(begin, end, value, CPU) of a row at the level of threads."""
        function = self.functions["thread"]
        if function == "Last Evt Val":
            yield from self.of_events(body, key)
            return
        order = {"Thread ID": int(key[2]), "TaskID": int(key[1])}
        for begin, end, state, cpu in body.states[key]:
            if function == "State As Is":
                value = state
            elif function == "In State":
                value = int(state in self.parameters["thread"])
            elif function == "Not In State":
                value = int(state not in self.parameters["thread"])
            elif function == "State Record Dur.":
                value = end - begin if state in self.parameters["thread"] else 0
            elif function in order:
                value = order[function]
            else:
                raise Unknown("function %s" % function)
            yield begin, end, value, cpu

    def of_events(self, body, key):
        events = [(t, v) for t, kind, v in body.events[key] if self.passes("evt_type", kind)]
        stack = []
        for i, (begin, value) in enumerate(events):
            if self.compose == "Stacked Val":
                if value:
                    stack.append(value)
                elif stack:
                    stack.pop()
                value = stack[-1] if stack else 0
            yield begin, events[i + 1][0] if i + 1 < len(events) else body.end, value, 0

    def lines(self, body):
        if self.level == "thread":
            for key in body.names:
                for begin, end, value, _ in self.of_row(body, key):
                    yield key, begin, end, value
        elif self.level == "cpu":
            on = sorted((cpu, begin, end, value) for key in body.names
                        for begin, end, value, cpu in self.of_row(body, key) if cpu)
            yield from on
        elif self.level == "workload":
            yield from self.added(body)
        else:
            raise Unknown("level %s" % self.level)

    def added(self, body):
        """All applications together, or one of them: "Thread i" is, at this level, its i-th child."""
        steps, only = collections.Counter(), self.parameters.get("workload")
        for key in body.names:
            if self.functions["workload"] == "Thread i" and int(key[0]) not in only:
                continue
            for begin, end, value, _ in self.of_row(body, key):
                steps[begin] += value
                steps[end] -= value
        now, since = 0, 0
        for time in sorted(steps):
            yield "workload", since, time, now
            now, since = now + steps[time], time


class View:
    KEYS = {"Accumulator": "Semantic", "CalculateAll": "True", "AnalysisLimits": "Alltrace", "HorizVert": "Horizontal"}

    def __init__(self, path):
        text = open(path).read()
        parts = re.split(r"^< NEW (DISPLAYING WINDOW|ANALYZER2D)[^>]*>$", text, flags=re.M)
        both = [(parts[i], parts[i + 1]) for i in range(1, len(parts), 2)]
        self.windows = [Window(t) for kind, t in both if kind != "ANALYZER2D"]
        self.keys = [dict(re.findall(r"^Analyzer2D\.(\w+): (.*)$", t, re.M)) for kind, t in both if kind == "ANALYZER2D"]
        for keys in self.keys:
            for key, value in self.KEYS.items():
                if keys[key] != value:
                    raise Unknown("%s: %s" % (key, keys[key]))
            if keys["ControlWindow"] != keys["DataWindow"]:
                raise Unknown("a table of two windows")

    def arrows(self, body):
        window = self.windows[0]
        return collections.Counter(tag for tag in body.arrows if window.passes("tag_msg", tag)) if window.draws_arrows else {}

    def table(self, body):
        keys, cells = self.keys[0], collections.Counter()
        own = keys["ComputeYScale"] == "True"
        if not own:
            least, most, delta = (float(keys[k]) for k in ("Minimum", "Maximum", "Delta"))
        for which, begin, end, value in self.windows[int(keys["ControlWindow"]) - 1].lines(body):
            if begin == end or (value == 0 if own else not least <= value <= most):
                continue
            column = value if own else int((value - least) // delta)
            if keys["Statistic"] == "Time":
                cells[which, column] += end - begin
            elif keys["Statistic"] == "# Bursts":
                cells[which, column] += 1
            else:
                raise Unknown("statistic %s" % keys["Statistic"])
        return cells


def value_at(lines, time):
    """The value at a time of lines of one object."""
    i = bisect.bisect_right(lines, time, key=lambda line: line[1])
    return lines[i - 1][3] if i and lines[i - 1][2] > time else 0
