#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A JVM that is attached to while it starts, when it gives nobody a JVMTI environment yet, has the agent as soon as it runs;
# one that takes longer is told so, and can be attached to later.
# Runs beside others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_jdks.sh"
need_root
cd "$TESTDIR" || exit 1

# start NAME: a JVM that does not get beyond its start until the file NAME is there; sets jvm.
start() {
	# shellcheck disable=SC2086 # two words
	$java -agentpath:"$BUILD/tests/libslowstart.so=$TESTDIR/$1" -cp "$CLASSES" Silence "$TESTDIR/never" 0 >"$1.out" 2>"$1.err" &
	jvm=$!
	wait_for 60 grep -q '^starting$' "$1.err"
}

one_jdk() { # VERSION
	"${RECORD[@]}" -q -o "t$1" -p $$ 2>rec.err &
	recorder=$!
	wait_for 60 test -S "t$1/.control"
	start "go$1"
	first=$jvm
	"$JIS" attach -q -o "t$1" --name young "$first" 2>attach.err &
	attach=$!
	wait_for 60 test -S "/tmp/.java_pid$first"
	sleep 0.3
	kill -0 "$attach" || fail "it did not wait for the JVM: $(cat attach.err)"
	touch "go$1"
	wait "$attach" || fail "not attached: $(cat attach.err)"

	start "later$1"
	expect_status 1 "$JIS" attach -o "t$1" "$jvm"
	expect_says "this JVM is still starting"
	touch "later$1"
	attached() { "$JIS" attach -q -o "t$1" --name old "$jvm" 2>/dev/null; }
	wait_for 60 attached "$1"
	kill -INT "$recorder"
	wait "$recorder" || fail "jis record ended with $?: $(cat rec.err)"
	"$JIS" info "t$1" >info
	grep -E "^$first +young " info >/dev/null && grep -E "^$jvm +old " info >/dev/null || fail "names: $(cat info)"
	# Each told of its threads itself.
	"$JIS" report --json "t$1" >report
	python3 - report "$first" "$jvm" <<'PY' || fail "threads of Java"
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
sys.exit(any(not any(t["pid"] == int(pid) and t["name"] == "Reference Handler" for t in threads) for pid in sys.argv[2:]))
PY
	kill "$first" "$jvm"
	wait "$first" "$jvm" || true
	! grep -v '^starting$\|^WARNING: ' "go$1.err" "later$1.err" || fail "the JVM says something"
}

while read -r version java <&3; do
	echo "== $java"
	one_jdk "$version"
done 3< <(jdks)
