#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What cannot be done is said in one clear message with the right exit status, and nothing is left behind.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1

expect_status 2 "$JIS"
expect_status 2 "$JIS" frobnicate
expect_says "no command \"frobnicate\""
for verb in record pause resume info dump report why stats export recover doctor; do
	expect_status 0 "$JIS" "$verb" --help
	expect_says "usage: jis $verb"
done

# options that do not exist, lack a value or have one too much
for verb in record pause resume info dump report why stats export recover doctor; do
	expect_status 2 "$JIS" "$verb" --frobnicate=1
	expect_says "jis $verb: unknown option --frobnicate; see jis $verb --help"
	expect_status 2 "$JIS" "$verb" -q"$([ $verb = doctor ] || echo Z)"
	grep -q "^jis $verb: unknown option -[Zq]; see jis $verb --help" err || fail "jis $verb: $(cat err)"
	expect_status 2 "$JIS" "$verb" --help=me
	expect_says "jis $verb: option --help takes no value"
done
expect_status 2 "${RECORD[@]}" -o
expect_says "jis record: option -o needs a value"
expect_status 2 "${RECORD[@]}" --duration
expect_says "jis record: option --duration needs a value"
expect_status 2 "$JIS" info --t t
expect_says "jis info: option --t may be short for more than one"

# options that are for something else than what is asked for
for option in --cycles --raw "--stream kernel/cpu-0" "--event sched_switch"; do
	# shellcheck disable=SC2086
	expect_status 2 "$JIS" dump --calls $option t
	expect_says "are of events"
done
for option in --sort --cpu-rows "--wakeups all"; do
	# shellcheck disable=SC2086
	expect_status 2 "$JIS" export collapsed --off-cpu $option t
	expect_says "are for the format paraver"
done
expect_status 2 "$JIS" export paraver --by-reason t -o t.prv
expect_says "is for the format collapsed"
for verb in dump report why stats export\ collapsed\ --off-cpu; do
	# shellcheck disable=SC2086
	expect_status 2 "$JIS" $verb --to 0 t
	expect_says "--to 0"
done

expect_status 2 "$JIS" methods --list -o t t
expect_says "--list reads a trace"
expect_status 2 "$JIS" detach --no-rewrite 1
expect_says "jis detach: unknown option --no-rewrite; see jis detach --help"

# record: command line
expect_status 2 "$JIS" record
expect_says "record what?"
expect_status 2 "${RECORD[@]}" -p 1 -- true
expect_status 2 "${RECORD[@]}" --buffer 0 -o t -- true
expect_says "--buffer"
expect_status 2 "${RECORD[@]}" --buffer banana -o t -- true
expect_says "banana"
expect_status 2 "${RECORD[@]}" --backend perf -o t -- true
expect_status 2 "${RECORD[@]}" --clock sundial -o t -- true
expect_status 2 "${RECORD[@]}" --flush 0 -o t -- true
expect_status 2 "${RECORD[@]}" -o "" -- true
expect_status 2 "${RECORD[@]}" --user nobody-of-that-name -o t -- true
expect_says "nobody-of-that-name"
expect_status 1 "${RECORD[@]}" --buffer 900T -o t -- true
expect_status 1 "${RECORD[@]}" --buffer 1K -o t -- true
expect_status 127 "${RECORD[@]}" -o t -- /no/such/command
expect_says "not found"
expect_status 127 "${RECORD[@]}" -o t -- no-such-command-either
touch plain
expect_status 126 "${RECORD[@]}" -o t -- ./plain
expect_status 1 "${RECORD[@]}" -o t -p 4194303
expect_says "no such process"

# a start that is refused leaves nothing, but what was there before
[ ! -e t ] || fail "a refused start has left $(find t)"
printf '#!/no/such/interpreter\n' >unrunnable
chmod 755 unrunnable
expect_status 127 "${RECORD[@]}" -o t -- ./unrunnable
expect_says "cannot be run"
[ ! -e t ] || fail "a command that cannot be run has left $(find t)"
mkdir mine
expect_status 1 "${RECORD[@]}" -o mine -p 4194303
expect_status 127 "${RECORD[@]}" -o mine -- ./unrunnable
[ -d mine ] && [ "$(ls -A mine)" = "" ] || fail "a refused start has left in a directory that was there: $(find mine)"

# record: output
mkdir full && touch full/file
expect_status 1 "${RECORD[@]}" -o full -- true
expect_says "not empty"
[ "$(ls full)" = file ] || fail "record touched a directory that was not its own"
expect_status 1 "${RECORD[@]}" -o plain -- true
expect_status 1 "${RECORD[@]}" -o /no/such/parent/trace -- true
expect_status 1 "${RECORD[@]}" -o /proc/trace -- true

# a user who is not root
if id nobody >/dev/null 2>&1; then
	chmod 755 "$TESTDIR"
	expect_status 1 setpriv --reuid nobody --clear-groups "${RECORD[@]}" -o /tmp/jis-nobody -- true
	expect_says "root"
fi

# exit status of the command, and a program that is not Java
expect_status 7 "${RECORD[@]}" -o status7 -- sh -c 'exit 7'
expect_says "no JVM ran under it"
expect_status 143 "${RECORD[@]}" -q -o killed -- sh -c 'kill -TERM $$'
expect_status 0 "${RECORD[@]}" -q -o short -- true
expect_status 0 "$JIS" info short
expect_status 0 "$JIS" report -q short

# a JVM that had no agent: what is said of it is true
expect_status 1 "${RECORD[@]}" -o junk -- "$JAVA" -XX:NoSuchOption -version
expect_says "ended before its JVM was up"
! grep -q "did not reach it\|no JVM ran" err || fail "a JVM that died of its options: $(cat err)"
expect_status 0 "${RECORD[@]}" -o unreached -- env -u JAVA_TOOL_OPTIONS "$JAVA" -version
expect_says "JAVA_TOOL_OPTIONS did not reach it"
! grep -q "no JVM ran" err || fail "a JVM without the agent is said not to have run"

# reading what is no trace
for verb in info dump report recover; do
	expect_status 1 "$JIS" $verb /no/such/trace
	expect_says "/no/such/trace"
	expect_status 1 "$JIS" $verb plain
	mkdir -p empty
	expect_status 1 "$JIS" $verb empty
	expect_status 2 "$JIS" $verb
	expect_status 2 "$JIS" $verb a b
done
expect_status 2 "$JIS" info --from yesterday short
expect_status 1 "$JIS" export paraver short -o /no/such/dir/x.prv
expect_status 2 "$JIS" export paraver short
expect_status 2 "$JIS" export sculpture short -o x.prv
expect_status 1 "$JIS" pause short
expect_says "no recording is under way"

# an export that fails keeps the good files of an earlier one
expect_status 0 "$JIS" export paraver -q short -o keep.prv
cksum keep.prv keep.pcf keep.row >kept
expect_status 1 "$JIS" export paraver short --thread nosuchthread -o keep.prv
cksum keep.prv keep.pcf keep.row | cmp - kept || fail "a failed export has changed the files of a good one"
[ "$(find . -name '*.part' | wc -l)" = 0 ] || fail "a failed export has left its parts"

# another version's trace
cp -r short other
sed -i 's/"format": *1,/"format": 99,/' other/manifest.json
grep -q '"format": *99' other/manifest.json || fail "the manifest has no format number to change"
expect_status 1 "$JIS" info other
expect_says "another version"
cp -r short cut
head -c 100 short/manifest.json >cut/manifest.json
expect_status 1 "$JIS" info cut
expect_says "recover"
cp -r short missing
rm missing/kernel/cpu-0
expect_status 1 "$JIS" info missing
expect_says "missing"
expect_says "kernel/cpu-0 cannot be read: No such file"
for verb in dump report "export collapsed --off-cpu"; do
	# shellcheck disable=SC2086
	expect_status 1 "$JIS" $verb -q missing
	expect_says "kernel/cpu-0 cannot be read: No such file"
done
expect_status 1 "$JIS" dump missing
grep -q '^# kernel/cpu-0 cannot be read: ' out && grep -q ' kernel/recorder ' out ||
	fail "jis dump does not print the rest: $(head -n 3 out)"
expect_status 0 "$JIS" dump --stream kernel/recorder missing

# a manifest that cannot be opened, and one that names a stream twice
cp -r short looped
ln -sf manifest.json looped/manifest.json
expect_status 1 "$JIS" info looped
expect_says "looped: its manifest.json: Too many levels"
cp -r short twice
python3 -c '
import json
m = json.load(open("twice/manifest.json"))
m["streams"].append(m["streams"][0])
json.dump(m, open("twice/manifest.json", "w"))'
expect_status 1 "$JIS" dump twice
expect_says "twice: its manifest.json is damaged"

# a stream that is cut between two packets
cp -r short between
python3 - between/kernel/recorder <<'EOF'
import struct, sys
data = open(sys.argv[1], "rb").read()
ends = [0]
while ends[-1] < len(data):
    ends.append(ends[-1] + struct.unpack_from("<Q", data, ends[-1] + 56)[0] // 8)
open(sys.argv[1], "wb").write(data[:ends[-2]])
EOF
expect_status 0 "$JIS" info short
expect_says "no damaged interval"
expect_status 0 "$JIS" info between
expect_says "packets are missing"

# nothing is left behind
[ -z "$(stale_instances)" ] || fail "a tracefs instance is left: $(stale_instances)"
for copy in /run/jis-agent-*; do
	[ ! -d "$copy" ] || kill -0 "${copy##*-}" 2>/dev/null || fail "a copy of the agent is left: $copy"
done
