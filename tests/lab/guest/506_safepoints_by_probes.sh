#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With jis.ko too, safepoints come from probes in the JVM: the same ones, in the same order, with the same names and most
# of them about as long as in a log that the JVM writes by itself (284 of the end-to-end tests has them to 100 us).
# lab-timeout: 300

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

load_module
"$JIS" doctor >"$LAB_OUT/doctor"
grep -q '^uprobes  *ok' "$LAB_OUT/doctor" || fail "$(grep uprobes "$LAB_OUT/doctor")"
java=$(find /usr/lib/jvm/java-*-openjdk-*/bin -name java | head -n 1)
[ -x "$java" ] || skip "no JVM here"
"$JIS" record -o "$LAB_TMP/trace" --backend kmod -- "$java" "${jvm_fast[@]}" \
	-Xlog:safepoint=info:file="$LAB_OUT/log":timenanos -cp "$JIS_BUILD/tests/classes" Doings safepoints 6 \
	>"$LAB_OUT/program" 2>&1 || fail "$(tail "$LAB_OUT/program")"
"$JIS" dump -q "$LAB_TMP/trace" >"$LAB_OUT/dump" || fail "dump"
# name, ns to reach it, ns in all
sed -n 's/.*Safepoint "\([^"]*\)".* Reaching safepoint: *\([0-9]*\) ns.* Total: *\([0-9]*\) ns.*/\1 \2 \3/p' "$LAB_OUT/log" >"$LAB_OUT/want"
tr -d '",' <"$LAB_OUT/dump" | awk '
function v(name,   i) { for (i = 1; i < NF; i++) if ($i == name && $(i + 1) == "=") return $(i + 2); return "" }
function ns() { split($1, t, "."); return t[1] * 1000000000 + t[2] }
/ string_def .*id = 21474/ { name[v("id")] = v("text") }
/ safepoint_/ && v("source") != 2 { print "not by a probe: " $0 }
/ safepoint_begin / { begin = ns() }
/ safepoint_reached / { reached = ns() - begin }
/ safepoint_end / { n++; op[n] = v("operation"); to[n] = reached; all[n] = ns() - begin }
END { for (i = 1; i <= n; i++) print name[op[i]], to[i], all[i] }' >"$LAB_OUT/got"
n=$(wc -l <"$LAB_OUT/got")
[ "$n" -ge 12 ] || fail "only $n safepoints"
# What came before the probes were set is in the log only: the JVM's own, at its start, which takes its time here. Emulation
# is slow: the JVM may lose the CPU between its own time and the probe.
own() { grep -vc '^Cleanup ' "$1"; }
[ "$(own "$LAB_OUT/got")" = "$(own "$LAB_OUT/want")" ] || fail "$(own "$LAB_OUT/got") of $(own "$LAB_OUT/want") safepoints"
paste -d ' ' <(tail -n "$n" "$LAB_OUT/want") "$LAB_OUT/got" | awk '
NF != 6 || $1 != $4 { print; wrong++ }
$5 < $2 - 2000000 || $5 > $2 + 2000000 || $6 < $3 - 5000000 || $6 > $3 + 20000000 { print "times: " $0; late++ }
END { exit wrong > 0 || late * 2 > NR }' >"$LAB_OUT/verdict" || fail "$(cat "$LAB_OUT/verdict")"
ok "$n safepoints as in the log"
