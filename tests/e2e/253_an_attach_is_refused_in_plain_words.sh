#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What cannot be attached to is told, is not harmed by it, and costs the recording nothing.
# Runs beside others.
. "$(dirname "$0")/lib_attach.sh"
# In a /run of its own, as other recordings of this machine would count.
if [ -z "${PRIVATE_RUN:-}" ]; then
	unshare -m true || skip "no namespaces here"
	PRIVATE_RUN=1 JAVA=$REAL_JAVA exec unshare -m bash -c 'mount -t tmpfs none /run && exec bash "$0"' "$0"
fi
cd "$TESTDIR" || exit 1

expect_status 1 "$JIS" attach 1
expect_says "no recording is under way"
expect_status 1 "$JIS" detach $$
expect_says "no recording is under way"
expect_status 2 "$JIS" attach
expect_status 2 "$JIS" attach zero
expect_status 2 "$JIS" attach -o t
expect_status 1 "$JIS" attach -o none $$
expect_says "no recording is under way there"

# A process that is no JVM, and would die of SIGQUIT.
sleep 1000 &
sleeper=$!
record_start t -p $sleeper
expect_status 1 "$JIS" attach $sleeper
expect_says "no HotSpot JVM"
expect_status 1 "$JIS" attach 4194303
expect_says "no HotSpot JVM"
expect_status 1 "$JIS" detach $sleeper
expect_says "it has no agent"
kill -0 $sleeper || fail "the process is gone"
! grep -q warning rec.err || { cat rec.err; fail "a process that is no JVM is warned of"; }

# Two recordings: one must be named.
sleep 1000 &
other=$!
"${RECORD[@]}" -q -o second -p $other &
second=$!
wait_for 60 test -S second/.control
expect_status 1 "$JIS" attach $sleeper
expect_says "2 recordings are under way"
expect_says "$TESTDIR/second"
kill -INT $second
wait $second
kill $other

# refused OPTION... -- TEXT: a JVM with the option is not attached to, for that reason, and prints nothing: no
# thread dump, which SIGQUIT would have given.
refused() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	server_start "$JAVA" -Xmx128m -Dsun.net.httpserver.nodelay=true "${options[@]}"
	expect_status 1 "$JIS" attach -o t "$jvm"
	expect_says "$2"
	! grep -q 'Full thread dump' server.out server.err || fail "${options[*]}: the JVM has dumped its threads"
	[ ! -e "/tmp/.attach_pid$jvm" ] && [ ! -e ".attach_pid$jvm" ] || fail "${options[*]}: a file is left"
	server_end "^NOTE: Picked up"
}
refused -XX:+DisableAttachMechanism -- "-XX:+DisableAttachMechanism"
refused -XX:+DisableAttachMechanism -XX:-UsePerfData -- "-XX:+DisableAttachMechanism"
JDK_JAVA_OPTIONS=-XX:+DisableAttachMechanism refused -XX:-UsePerfData -- "-XX:+DisableAttachMechanism"

# A program that has the JVM's library and no JVM yet: SIGQUIT would end it. (With -Xrs the JVM does not catch
# it either, but listens from the start.)
libjvm=$(dirname "$(readlink -f "$REAL_JAVA")")/../lib/server/libjvm.so
python3 -c 'import ctypes, sys, time; ctypes.CDLL(sys.argv[1]); print("LOADED", flush=True); time.sleep(1000)' "$libjvm" >py.out &
early=$!
wait_for 60 grep -q LOADED py.out
expect_status 1 "$JIS" attach -o t $early
expect_says "SIGQUIT"
kill -0 $early || fail "the process is gone"
kill $early
server_start "$JAVA" -Xrs -Xmx128m -Dsun.net.httpserver.nodelay=true
expect_status 0 "$JIS" attach -o t "$jvm"
expect_status 0 "$JIS" detach -o t "$jvm"
server_end

for java in "${JAVAS[@]}"; do
	[ "$(java_version "$java")" -ge 21 ] || continue
	server_start "$java" -XX:-EnableDynamicAgentLoading -Dsun.net.httpserver.nodelay=true
	expect_status 1 "$JIS" attach -o t "$jvm"
	expect_says "Dynamic agent loading is not enabled"
	server_end
done

# A JVM that stands still.
server_start "$JAVA" -Dsun.net.httpserver.nodelay=true
kill -STOP "$jvm"
wait_for 20 grep -q '^State:.*(stopped)' "/proc/$jvm/status"
expect_status 1 "$JIS" attach -o t "$jvm"
expect_says "it is stopped"
kill -CONT "$jvm"
ask counts
! grep -q 'Full thread dump' server.out || fail "the JVM has dumped its threads"
# It goes on, and can be attached to; twice is as good as once.
expect_status 0 "$JIS" attach -o t "$jvm"
expect_status 0 "$JIS" attach -o t "$jvm"
expect_says "the agent is there already"
# It stands still when it listens already: a timeout tells.
expect_status 0 "$JIS" detach "$jvm"
kill -STOP "$jvm"
wait_for 20 grep -q '^State:.*(stopped)' "/proc/$jvm/status"
expect_status 1 "$JIS" attach -o t "$jvm"
expect_says "it is stopped"
kill -CONT "$jvm"
wait_for 60 "$JIS" attach -q -o t "$jvm"
# Another recorder cannot have it as well.
"${RECORD[@]}" -o third -p "$jvm" 2>second.err &
second=$!
wait_for 60 grep -q 'another recorder records this JVM' second.err
kill -INT $second
wait $second
# The file of the library itself, loaded by other means and with another version's word.
"$JAVA" -cp "$CLASSES" AgentAttach "$jvm" "$BUILD/libjisagent.so" "socket=$TESTDIR/nowhere"
expect_status 0 "$JIS" detach "$jvm"
wait_for 20 grep -q '^jis: .*another copy of the agent' server.err
loaded=$(awk '/libjisagent/{print $6; exit}' "/proc/$jvm/maps")
python3 - "$TESTDIR/fake" >fake.out <<'EOS' &
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
s.listen(1)
print("LISTENING", flush=True)
c, _ = s.accept()
print(struct.unpack_from("<IHH", c.recv(4096))[2], flush=True)
EOS
fake=$!
wait_for 20 grep -q LISTENING fake.out
"$JAVA" -cp "$CLASSES" AgentAttach "$jvm" "$loaded" "socket=$TESTDIR/fake,version=9.9.9"
wait $fake
grep -qx 7 fake.out || { cat fake.out; fail "another version is not refused (JIS_AGENT_FAILED)"; }
record_end
kill $sleeper
server_end '^jis: .*another copy of the agent'
expect_status 0 "$JIS" info --strict t
