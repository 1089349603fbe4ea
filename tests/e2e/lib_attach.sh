# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests of attaching: the JVMs of this host, a server under load in one, and its state as
# /proc tells it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/lib_jdks.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_jdks.sh"
need_root

# java_version JAVA: 17, 21, 25.
java_version() { "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1; }

# other_root JAVA: a program that runs the JVM of another release's root directory, such as the lab makes, in
# namespaces of its own.
other_root() {
	local root=${1%/usr/lib/jvm/*} own program
	own=$TESTDIR/other-root/$(basename "$(dirname "$(dirname "$1")")")
	program=$own/java
	mkdir -p "$own"/{root,upper,work}
	cat >"$program" <<EOS
#!/bin/bash
[ \$\$ = 1 ] || exec unshare -m -p -f "$program" "\$@"
set -e
mount --make-rprivate /
mount -t overlay -o "lowerdir=$root,upperdir=$own/upper,workdir=$own/work" none "$own/root"
cd "$own/root"
mkdir -p ".$BUILD"
mount --rbind "$BUILD" ".$BUILD"
mount --rbind /dev dev
mount -t proc proc proc
exec chroot . "${1#"$root"}" "\$@"
EOS
	chmod 755 "$program"
	echo "$program"
}

# JAVAS: $JAVA, and one of each other version from 17 on in /usr/lib/jvm or in the lab's roots.
JAVAS=("$JAVA")
find_javas() {
	local seen java version
	seen=" $(java_version "$JAVA") "
	for java in /usr/lib/jvm/*/bin/java "${JIS_CACHE:-$HOME/.cache/jis}"/lab/*/buildroot/usr/lib/jvm/*/bin/java; do
		[ -x "$java" ] || continue
		case $seen in *" $(jdk_release "$java") "*) continue ;; esac
		case $java in */buildroot/*) java=$(other_root "$java") ;; esac
		version=$(java_version "$java")
		[ "${version:-0}" -ge 17 ] || continue
		case $seen in *" $version "*) continue ;; esac
		seen+="$version "
		JAVAS+=("$(check_jni "$java")")
	done
}
find_javas

# server_start JAVA [ARG...]: the server under load; sets jvm and writes to descriptor 9 reach it.
server_start() {
	rm -f "$TESTDIR/in"
	mkfifo "$TESTDIR/in"
	: >"$TESTDIR/server.out"
	"$@" -Dwitness="$BUILD/tests/libclasswitness.so" -cp "$CLASSES:$MARKERS" AttachServer \
		<"$TESTDIR/in" >"$TESTDIR/server.out" 2>"$TESTDIR/server.err" &
	server=$!
	exec 9>"$TESTDIR/in"
	wait_for 60 grep -q READY "$TESTDIR/server.out"
	jvm=$(jvm_below $server)
}

# jvm_below PID: the process below it, or itself, that has a JVM mapped.
jvm_below() {
	local child
	if grep -qs 'libjvm\.so' "/proc/$1/maps"; then
		echo "$1"
		return
	fi
	for child in $(cat "/proc/$1/task/$1/children"); do
		jvm_below "$child"
	done
}

# ask COMMAND...: has the server do it; what it printed is in $answer.
ask() {
	local before
	before=$(wc -l <"$TESTDIR/server.out")
	echo "$*" >&9
	asked() { tail -n "+$((before + 1))" "$TESTDIR/server.out" | grep -q "^done $*"; }
	wait_for 60 asked "$@"
	answer=$(tail -n "+$((before + 1))" "$TESTDIR/server.out" | grep -v '^done \|^\[' || true)
}

# server_end: it ends, having had requests and no failure, and having said nothing but what the JVM says of
# an agent that is loaded into it (EXTRA: a further pattern that is allowed).
# shellcheck disable=SC2120 # some callers give one
server_end() {
	exec 9>&-
	wait $server || { cat "$TESTDIR/server.err"; fail "the server ended with $?"; }
	local failures
	read -r _ requests failures < <(grep '^END' "$TESTDIR/server.out")
	echo "$requests requests, $failures failed"
	[ "$requests" -gt 0 ] || fail "it had no load"
	[ "$failures" = 0 ] || { cat "$TESTDIR/server.err"; fail "$failures of $requests requests failed"; }
	# On 25 the JVM also warns of the witness's library.
	if grep -v "^WARNING: A JVM TI agent\|^WARNING: If a serv\|^WARNING: Dynamic loading\|^WARNING: .*[rR]estricted\|^WARNING: .*System::load\|^WARNING: .*enable-native-access${1:+\|$1}" "$TESTDIR/server.err" | grep .; then
		fail "the JVM says something"
	fi
	for f in hs_err_pid*; do
		[ ! -e "$f" ] || fail "the JVM crashed"
	done
}

# record_start DIR ARG...: jis record in the background, until it records; sets recorder.
record_start() {
	local dir=$1
	shift
	"${RECORD[@]}" -o "$dir" "$@" 2>"$TESTDIR/rec.err" &
	recorder=$!
	wait_for 60 test -S "$dir/.control"
	wait_for 60 grep -q 'recording into' "$TESTDIR/rec.err"
}

# record_end: as by Ctrl-C.
record_end() {
	kill -INT "$recorder"
	wait "$recorder" || { cat "$TESTDIR/rec.err"; fail "the recorder ended with $?"; }
}

# resources PID: its threads, file descriptors and mappings.
nr_tasks() { find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l; }
nr_files() { find "/proc/$1/fd" -mindepth 1 -maxdepth 1 | wc -l; }
# What does not come and go by itself, counted exactly: descriptors but for internet sockets, mappings of files.
nr_own_files() {
	local fd n=0 inet
	inet=" $(awk 'FNR > 1 { printf "%s ", $10 }' "/proc/$1"/net/tcp{,6})"
	for fd in "/proc/$1/fd"/*; do
		fd=$(readlink "$fd") || continue
		case $fd in
		socket:*) [[ $inet = *" ${fd//[!0-9]/} "* ]] || n=$((n + 1)) ;;
		*) n=$((n + 1)) ;;
		esac
	done
	echo $n
}
nr_file_maps() { awk '$6 ~ "^/" { n++ } END { print n + 0 }' "/proc/$1/maps"; }

# rounds_under_load JAVA: 24 times the agent comes and goes. No request fails, nothing that the JVM holds grows with
# the rounds, and after each the JDK's classes have the code they had before, as the JVM itself tells by
# another way (GetBytecodes).
rounds_under_load() {
	local java=$1 rounds=24 class round version before with after
	version=$(java_version "$java")
	local trace=t$version
	server_start "$java" -Xmx128m -XX:+UseSerialGC -Dsun.net.httpserver.nodelay=true
	ask digest
	before=$answer
	record_start "$trace" -p "$jvm" --no-agent
	for ((round = 1; round <= rounds; round++)); do
		"$JIS" attach -q -o "$trace" "$jvm" 2>attach.err || { cat attach.err rec.err; fail "round $round: jis attach failed"; }
		if [ $round = 1 ] || [ $round = $rounds ]; then
			ask digest
			with=$answer
			[ "$with" != "$before" ] || fail "round $round: no class is rewritten"
			for class in java.lang.String java.util.concurrent.locks.ReentrantLock; do
				[ "$(grep -o "$class=[^ ]*" <<<"$with")" = "$(grep -o "$class=[^ ]*" <<<"$before")" ] ||
					fail "$class is rewritten"
			done
		fi
		ask mark "$round"
		"$JIS" detach -q -o "$trace" "$jvm" || fail "round $round: jis detach ended with $?"
		ask mark $((1000 + round)) # nobody hears it
		ask digest
		after=$answer
		[ "$after" = "$before" ] || {
			diff <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$after")
			fail "round $round: classes have other code than before"
		}
		! grep -q 'jis-pool' /proc/$jvm/maps || fail "round $round: the pool is still mapped"
		! grep -qsx jis-control /proc/$jvm/task/*/comm || fail "round $round: the agent's thread is still there"
		sleep 0.2 # connections of clients come and go
		printf '%s %s %s %s %s\n' $round "$(nr_tasks "$jvm")" "$(nr_files "$jvm")" "$(nr_own_files "$jvm")" \
			"$(nr_file_maps "$jvm")" >>"resources$version"
		cp "/proc/$jvm/maps" "maps$version.$round"
	done
	record_end
	server_end
	[ "$requests" -gt 500 ] || fail "only $requests requests"
	cat "resources$version"
	python3 - "resources$version" "maps$version" "$CHECKERS" <<'EOS' || { diff "maps$version".{8,$rounds} || :; fail "something grows"; }
import sys
sys.path.insert(0, sys.argv[3])
from maps import anonymous
rows = [list(map(int, line.split())) for line in open(sys.argv[1])]
rows = [r + list(anonymous(f"{sys.argv[2]}.{r[0]}")) for r in rows]
# What comes and goes by itself (threads of requests and the stacks that glibc keeps for the next, connections) moves
# about; what is left by every second round would be there 8 times between the eighth and the last.
for column, name, slack in ((1, "threads", 5), (2, "descriptors", 5), (5, "anonymous mappings apart", 5),
                            (6, "bytes of anonymous mappings", 7 << 20)):
    early = max(r[column] for r in rows[4:8])
    late = min(r[column] for r in rows[-4:])
    assert late <= early + slack, f"{name}: {early} at most in rounds 5 to 8, {late} at least at the end"
# The rest does not: one that is left by any round is seen.
for column, name in ((3, "descriptors but for connections"), (4, "mappings of files")):
    counts = {r[column] for r in rows[1:]}
    assert len(counts) == 1, f"{name}: {[r[column] for r in rows]}"
EOS
	[ -z "$(find /tmp -maxdepth 1 -name ".jis-$recorder-*")" ] || fail "a directory is left in /tmp"
	# JDKs that throw compiled code away do so once.
	[ "$("$JIS" info "$trace" | grep -c 'throws away compiled code')" = $((version < 25)) ] ||
		{ "$JIS" info "$trace"; fail "a note of what the first rewriting costs, on Java $version"; }
	"$JIS" dump "$trace" >dump 2>/dev/null
	# Each round's own mark is there once, and none of those between.
	for ((round = 1; round <= rounds; round++)); do
		[ "$(grep -c " java_marker .*type = 7, value = $round }" dump)" = 1 ] || fail "round $round: its mark is not there once"
	done
	! grep -q " java_marker .*type = 7, value = 10[0-9][0-9] }" dump || fail "a mark between two rounds is recorded"
}
