#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording a Java call costs, entry and exit, as a ratio to two clock reads and two stores, on each JDK that is
# here, by the way the agent chooses, by that without patching, without linking too, and by plain JNI; by JFR (25), by
# JVMTI's events, and untraced. Each in LAUNCHES (5) JVMs, as no two lay out their code alike: the median, and the range.
# In the end the same of those rounds alone, of all JVMs, in which the core gave nearly what it gives at its best, by the
# additions made beside: with less, as where, it seems, its other thread is busy, ratios tend to be higher. That selects: bars
# are compared with the medians of all rounds.
# Needs root. Usage: tests/bench/calls.sh BUILD [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(cd "${1:?build directory}" && pwd) rounds=${2:-40}
JAVA=${JAVA:-$(command -v java)}
TESTDIR=$(mktemp -d "${TMPDIR:-/tmp}/jis-bench.XXXXXX")
trap 'rm -rf "$TESTDIR"' EXIT
. tests/e2e/lib_check_jni.sh
. tests/e2e/lib_jdks.sh

jfr='method-trace=CallsBench$Traced,jdk.MethodTrace#threshold=0ms,jdk.MethodTrace#stackTrace=false'

launches=${LAUNCHES:-5}
export LC_ALL=C

# told VERSION WAY COMMAND...: what it prints ("... ratio N"), of the JVM with the median of the ratios.
told() {
	local version=$1 way=$2 i
	shift 2
	: >"$TESTDIR/out"
	for ((i = 0; i < launches; i++)); do
		"$@" </dev/null >>"$TESTDIR/out" 2>"$TESTDIR/err" || { cat "$TESTDIR/err" >&2; exit 1; }
	done
	sed -n "s/^round: \\([0-9.]*\\) additions a ns, ratio /\\1 JDK $version $way\t/p" "$TESTDIR/out" >>"$TESTDIR/rounds"
	grep '^traced' "$TESTDIR/out" | awk '{ print $NF, $0 }' | sort -n | awk -v way="JDK $version $way" '
		{ ratio[NR] = $1; $1 = ""; line[NR] = $0 }
		END {
			if (!NR) { print way ": no figure" >"/dev/stderr"; exit 1 }
			printf "%-28s%s (%d JVMs: %s to %s)\n", way, line[int((NR + 1) / 2)], NR, ratio[1], ratio[NR]
		}'
}

recorded() { # OPTION...
	rm -rf "$TESTDIR/t"
	"$BUILD/jis" record -q --pool 32M --methods 'CallsBench$Traced,!**.<init>' --methods-budget 0 "$@" -o "$TESTDIR/t" -- \
		"${bench[@]}" "${run[@]}"
}

while read -r version java; do
	bench=("$java" -Xbatch -cp "$BUILD/tests/classes")
	run=(CallsBench "$BUILD/tests/libcalllimit.so" "$rounds")
	ways=("" --no-patch --jni-probes)
	[ "$version" = 17 ] || ways+=("--no-patch --no-link")
	for probes in "${ways[@]}"; do
		# shellcheck disable=SC2086 # several options, or none
		told "$version" "${probes:-chosen}" recorded $probes
		"$BUILD/jis" methods --list "$TESTDIR/t" | grep recorded
	done
	# What the JVM itself has: JFR's method tracing (25), without stacks, and JVMTI's events, in which it interprets all.
	[ "$version" -lt 25 ] ||
		told "$version" JFR "${bench[@]}" "-XX:StartFlightRecording:$jfr,filename=$TESTDIR/t.jfr" "${run[@]}"
	told "$version" JVMTI "${bench[@]}" "-agentpath:$BUILD/tests/libmethodevents.so" \
		CallsBench "$BUILD/tests/libcalllimit.so" 3 whole
	told "$version" untraced "${bench[@]}" "${run[@]}" whole
done < <(jdks)

# Lines are "ADDITIONS WAY<tab>RATIO". At its best: one round of a hundred had more.
best=$(cut -d' ' -f1 "$TESTDIR/rounds" | sort -n | awk '{ a[NR] = $1 } END { print a[int(NR * 0.99)] }')
echo "where the core gave at least 0.9 of $best additions a ns:"
sort -t $'\t' -k2,2n "$TESTDIR/rounds" | awk -F '\t' -v least="$best" '
	{
		way = substr($1, index($1, " ") + 1)
		all[way]++
		if ($1 + 0 >= 0.9 * least)
			ratio[way, ++n[way]] = $2
	}
	END {
		for (way in all)
			printf "%-28sratio %s (%d of %d rounds)\n", way,
				n[way] ? sprintf("%.2f", ratio[way, int((n[way] + 1) / 2)]) : "-", n[way], all[way]
	}' | sort
