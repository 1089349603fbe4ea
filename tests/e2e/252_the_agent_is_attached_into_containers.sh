#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent is brought into JVMs of other users, in other mount, pid and user namespaces, with other roots and
# with /tmp mounted noexec or a link: threads and marks are recorded under the numbers the host knows them by,
# and nothing is left behind, in the container or outside.
# Runs beside others.
. "$(dirname "$0")/lib_attach.sh"
chmod 755 "$TESTDIR"
cd "$TESTDIR" || exit 1
unshare -m -p -f --mount-proc true || skip "no namespaces here"

# container.sh KIND COMMAND...: a root of its own, in memory, with the host's programs; PID 1 of its own.
cat >container.sh <<'EOS'
set -e
kind=$1 root=$TESTDIR/root
shift
mkdir -p "$root"
mount -t tmpfs -o mode=755 none "$root"
mkdir -p "$root"/{proc,dev,run,old,var/tmp,elsewhere}
chmod 1777 "$root/var/tmp" "$root/elsewhere"
if [ "$kind" = link ]; then
	ln -s /elsewhere "$root/tmp"
else
	mkdir -m 1777 "$root/tmp"
	[ "$kind" != noexec ] || mount -t tmpfs -o noexec,mode=1777 none "$root/tmp"
fi
for d in usr lib lib64 bin etc "${BUILD#/}"; do
	[ -d "/$d" ] || continue
	at=$root/$d
	[ "$kind" != link ] || [[ $d != tmp/* ]] || at=$root/elsewhere/${d#tmp/}
	mkdir -p "$at"
	mount --rbind "/$d" "$at"
done
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
cd "$root"
pivot_root . old
cd /
umount -l old
exec "$@"
EOS
export TESTDIR BUILD
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
unshared=(unshare -m -p -f bash "$TESTDIR/container.sh")

one() { # NAME COMMAND...: COMMAND is java, in its container
	local name=$1 own line
	shift
	echo "== $name"
	server_start "$@" -Xmx128m -XX:+UseSerialGC -Dsun.net.httpserver.nodelay=true
	own=$(awk '/^NSpid/{print $NF}' "/proc/$jvm/status")
	record_start "t-$name" -p "$jvm"
	wait_for 60 "$JIS" attach -q -o "t-$name" "$jvm" # begun by jis record already
	ask mark 5
	sleep 0.3
	"$JIS" detach -q -o "t-$name" "$jvm"
	ask mark 6
	"$JIS" attach -q -o "t-$name" "$jvm" || { cat rec.err server.err; fail "jis attach ended with $?"; }
	ask mark 7
	local tmp
	for tmp in "/proc/$jvm/root"/{tmp,var/tmp,run,dev/shm} "/proc/$jvm/root/elsewhere" "/proc/$jvm/cwd"; do
		[ -d "$tmp" ] || continue
		[ -z "$(find "$tmp/" -maxdepth 1 \( -name ".jis-$recorder-*" -o -name ".attach_pid$own" \) 2>/dev/null)" ] ||
			fail "left in $tmp: $(ls -A "$tmp")"
	done
	for line in /proc/"$jvm"/task/*; do
		echo "${line##*/} $(cat "$line/comm" 2>/dev/null)"
	done >tasks
	record_end
	[ -z "$(find /tmp /var/tmp /run /dev/shm -maxdepth 1 -name ".jis-$recorder-*" 2>/dev/null)" ] || fail "a directory is left on the host"
	server_end
	"$JIS" dump "t-$name" >dump 2>/dev/null
	grep -q " vm_info .*pid = $own," dump || { grep vm_info dump; fail "vm_info has not the JVM's own number, $own"; }
	for n in 5 7; do
		[ "$(grep -c " java_marker .*type = 7, value = $n }" dump)" = 1 ] || fail "mark $n is not there once"
	done
	! grep -q " java_marker .*type = 7, value = 6 }" dump || fail "a mark is recorded while there was no agent"
	"$JIS" report "t-$name" >report 2>/dev/null
	# The kernel's own names of two threads: their Java names are on the same numbers, those of the host.
	for thread in client-0 client-2; do
		grep -q "client" tasks || break
		tid=$(sed -n "s/ $thread\$//p" tasks)
		[ -z "$tid" ] || grep -q " $thread \[$tid\]" report || { cat tasks report; fail "$thread is not on thread $tid"; }
	done
	grep -q ' client-0 \[' report || { cat report; fail "no thread of its name"; }
}

one other-user "${nobody[@]}" "$JAVA"
one container "${unshared[@]}" plain "$JAVA"
one container-user "${unshared[@]}" plain "${nobody[@]}" "$JAVA"
one noexec "${unshared[@]}" noexec "$JAVA"
one link "${unshared[@]}" link "${nobody[@]}" "$JAVA"
if "${nobody[@]}" unshare -U -r -m -p -f --mount-proc true 2>/dev/null; then
	one user-namespace "${nobody[@]}" unshare -U -r -m -p -f --mount-proc "$JAVA"
fi
# The root of another release: another libc, another JDK.
for java in "${JAVAS[@]}"; do
	case $java in */other-root/*) one other-release "$java" ;; esac
done
