#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Producers of messages wait for a slow consumer, in ActiveMQ's broker: the first place of the report is where the
# broker waits for space, for as long as the producers counted; and jis why goes from a producer to the broker's thread
# that waits there.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

jars=
for jar in activemq-broker activemq-client activemq-stomp activemq-protobuf activemq-openwire-legacy \
	geronimo-jms_1.1_spec geronimo-j2ee-management-1.1-spec geronimo-annotation-1.3-spec hawtbuf slf4j-api slf4j-nop; do
	jars+=/usr/share/java/$jar.jar:
done
[ -e /usr/share/java/activemq-broker.jar ] || skip "no ActiveMQ: install libactivemq-java"

producers=4 messages=3 bytes=70000 think=1000
port=$(free_port)
trace=$TESTDIR/trace
"${RECORD[@]}" -q --syscalls net,io --stacks 'blocked>1ms' -o "$trace" -- "$JAVA" -cp "$CLASSES:$MARKERS" SlowConsumer \
	"$port" $producers $messages $bytes $think "$JAVA" -cp "$CLASSES:$jars" Broker "stomp://127.0.0.1:$port" 65536 \
	>"$trace.out" 2>"$trace.err" || { cat "$trace.out" "$trace.err"; fail "exit status $?"; }
grep '^EXPECT' "$trace.out"
grep -q "consumed=$((producers * (messages + 1))) " "$trace.out" || fail "messages are missing"
"$JIS" report -q --json "$trace" >"$trace.json"
"$JIS" why -q --json --span order "$trace" >"$trace.why"
python3 "$CHECKERS/culprit.py" --place org.apache.activemq.usage.Usage.waitForSpace "$trace.out" "$trace.json" park \
	'java\.util\.concurrent\.locks\.AbstractQueuedSynchronizer\$ConditionObject' '.*' || fail "the report"
# The broker looks whether there is space ten times a second: a timer ends most of its waits.
python3 - "$trace.why" <<'PY' || fail "jis why tells another story"
import json, sys
rows = json.load(open(sys.argv[1]))["all"]["reasons"]
first = rows[0]
below = max(first.get("below", [{}]), key=lambda r: r.get("time", 0))
print(f"{first['text']}: {first['time']}; below it {below.get('who')}: {below.get('text')}: {below.get('time')}")
sys.exit(not (first["by"].startswith("ActiveMQ Transport") and below["who"].startswith("ActiveMQ Transport")
              and below["reason"] == "park" and below["class"].endswith("ConditionObject")))
PY
