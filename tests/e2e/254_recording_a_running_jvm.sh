#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `jis record -p` attaches by itself and records what an agent from the start would: names of threads, given before
# and after, collections, marks. However the recording ends, the JVM is as it was before. -Xcheck:jni has
# nothing to say.
. "$(dirname "$0")/lib_attach.sh"
cd "$TESTDIR" || exit 1

digest() {
	ask digest
	echo "$answer" >"$1"
}
same() { cmp -s before now || { diff <(tr ' ' '\n' <before) <(tr ' ' '\n' <now); false; }; }
restored() {
	digest now
	same >/dev/null
}
# Has the server been sent so many requests more than when this was first asked, with first_count empty?
requests_more() {
	ask counts
	local now=${answer#counts }
	: "${first_count:=${now% *}}"
	[ "${now% *}" -ge $((first_count + $1)) ]
}
attached() { "$JIS" attach -q -o "$1" "$jvm" 2>/dev/null; }
pauses() { grep -c 'Pause' server.out || true; }

one_jvm() { # JAVA
	local java=$1 version before_gc asked_gc after_gc n
	version=$(java_version "$java")
	echo "== $java"
	server_start "$java" -Xmx128m -Xcheck:jni -XX:+UseSerialGC -Xlog:gc -Dsun.net.httpserver.nodelay=true
	digest before

	# kernel side only
	record_start "none$version" -p "$jvm" --no-agent
	sleep 0.5
	! grep -q libjisagent "/proc/$jvm/maps" || fail "--no-agent attaches"
	record_end

	# all there is
	before_gc=$(pauses)
	record_start "t$version" -p "$jvm"
	wait_for 60 attached "t$version"
	asked_gc=$(pauses)
	for n in 1 2 3; do ask gc; done
	ask mark 42
	digest now
	! same >/dev/null || fail "nothing is rewritten"
	after_gc=$(pauses)
	record_end
	[ "$(grep -c 'process [0-9]* (.*) writes its own records' rec.err)" = 1 ] || { cat rec.err; fail "the recorder does not say it"; }
	digest now
	same || fail "after the recording classes have other code than before"
	! grep -q jis-pool "/proc/$jvm/maps" || fail "the pool is still mapped"
	"$JIS" dump "t$version" >dump 2>/dev/null
	grep -q ' java_marker .*type = 7, value = 42 }' dump || fail "the mark is missing"
	n=$(grep -c ' gc_start ' dump)
	[ "$n" -ge $((after_gc - asked_gc)) ] && [ "$n" -le $(($(pauses) - before_gc)) ] ||
		fail "$n collections; the JVM's log has $((after_gc - asked_gc)) to $(($(pauses) - before_gc))"
	for n in client-0 'Signal Dispatcher' 'Reference Handler'; do
		grep -q " java_thread_start .*name = \"$n\"" dump || fail "the running thread $n has not been named"
	done
	grep -q ' java_thread_name .*name = "request-' dump || fail "no later name of a thread is recorded"
	grep -q ' java_thread_start .*name = "child-' dump || fail "no thread that began later is recorded"
	grep -q ' span_begin ' dump || fail "no spans"

	# with events only
	first_count=
	record_start "events$version" -p "$jvm" --no-rewrite
	wait_for 60 attached "events$version"
	digest now
	same || fail "--no-rewrite rewrites"
	ask mark 43
	wait_for 60 requests_more 128 # one of 64 starts a thread
	record_end
	"$JIS" dump "events$version" >dump 2>/dev/null
	grep -q ' java_marker .*type = 7, value = 43 }' dump || fail "--no-rewrite: the mark is missing"
	grep -q ' java_thread_start .*name = "child-' dump || fail "--no-rewrite: no threads"
	! grep -q ' java_thread_name ' dump || fail "--no-rewrite: a name comes from a hook"

	# a killed recorder
	record_start "killed$version" -p "$jvm"
	wait_for 60 attached "killed$version"
	kill -KILL "$recorder"
	wait "$recorder" || true
	wait_for 60 restored
	wait_for 60 grep -q '^jis: ' server.err
	[ "$(grep -c '^jis: ' server.err)" = 1 ] || { cat server.err; fail "one line of the agent was expected"; }
	"$JIS" recover -q "killed$version" || fail "jis recover ended with $?"
	server_end '^jis: the recorder is gone'
	! grep -q 'WARNING in native\|FATAL ERROR\|^WARNING: JNI' server.out || { grep WARNING server.out; fail "-Xcheck:jni complains"; }
}
for java in "${JAVAS[@]}"; do
	one_jvm "$java"
done

# A JVM that was started under the agent and whose recording has ended is taken up again, by the same library.
server_start "${RECORD[@]}" -q -o first --duration 1s -- "$JAVA" -Xmx128m -XX:+UseSerialGC -Dsun.net.httpserver.nodelay=true
wait_for 60 sh -c 'grep -q "\"complete\": *true" first/manifest.json'
record_start again -p "$jvm"
wait_for 60 attached again
ask mark 44
record_end
server_end "^jis record:\|^Picked up\|^jis: "
[ "$(awk '/libjisagent/{print $6}' /dev/null "/proc/$jvm/maps" 2>/dev/null | sort -u | wc -l)" -le 1 ] || fail "two libraries are loaded"
"$JIS" dump again >dump 2>/dev/null
grep -q ' java_marker .*type = 7, value = 44 }' dump || fail "the mark is missing after it was taken up again"
