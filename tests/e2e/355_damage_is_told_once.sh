#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is damaged in a trace is told once, also after recovery; `jis info --strict` finds what only reading the
# streams finds, as JSON too; and a missing end, or file, of any stream is told, the recorder's own included.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

"${RECORD[@]}" -q -o whole -- "$TESTPROG/witness" 2 1500 400 >said
"$JIS" info --strict -q whole >whole.info || fail "not even the whole trace is whole: $(tail -n 3 whole.info)"
grep -q '^no damaged interval' whole.info || fail "damage in a whole trace: $(tail -n 3 whole.info)"

# harm HOW STREAM: "cut" to whole packets without the last, "byte" one bit flipped in the middle packet, "gone".
harm() {
	rm -rf harmed
	cp -r whole harmed
	python3 - "$1" "harmed/$2" <<'PY'
import os, struct, sys
how, path = sys.argv[1:]
data = bytearray(open(path, "rb").read())
at, begins = 0, []
while at < len(data):
    begins.append(at)
    at += struct.unpack_from("<Q", data, at + 56)[0] // 8
if how == "cut":
    del data[begins[-1]:]
elif how == "byte":
    data[begins[len(begins) // 2] + 100] ^= 0xff
open(path, "wb").write(data)
if how == "gone":
    os.unlink(path)
PY
}
# places INFO: the lines of its list of damages, by stream and time.
lines() { sed -n '/^damaged interval/,$p' "$1" | tail -n +2 | grep -v '^did not fit: \|^switches the kernel \|^impossible order: \|^contradiction: '; }

streams=(kernel/recorder kernel/cpu-0 "$(cd whole && echo process-*/dict)")
for how in cut byte gone; do
	for stream in "${streams[@]}"; do
		[ -s "whole/$stream" ] || continue
		harm $how "$stream"
		for json in "" --json; do
			expect_status 3 "$JIS" info --strict -q $json harmed
		done
		# of a file that is gone nothing can be read
		expect_status "$([ $how = gone ] && echo 1 || echo 0)" "$JIS" info -q harmed
		cp out before.info
		[ "$(lines before.info | wc -l)" -ge 1 ] || fail "$how $stream: no damage is told"
		"$JIS" recover -q harmed || fail "$how $stream: no recovery"
		expect_status 3 "$JIS" info --strict -q harmed
		expect_status 3 "$JIS" info --strict -q --json harmed
		"$JIS" info -q harmed >after.info
		lines after.info >after
		echo "$how $stream: $(wc -l <after) told after recovery"
		cat after
		# one harm: one interval, and of that place
		[ "$(wc -l <after)" = 1 ] || fail "$how $stream: told $(wc -l <after) times"
		case $stream:$(cat after) in
		kernel/recorder:session* | kernel/recorder:kernel/recorder* | kernel/cpu-0:kernel/cpu-0* | process-*:process-*) ;;
		*) fail "$how $stream: another place is told" ;;
		esac
	done
done
