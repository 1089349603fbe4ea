#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Clients of a database server fight for one row: the first of the server's locks is that of rows, for as long as the
# clients counted, and jis why goes from a client's update over the server's threads to the client that has the row
# and sleeps. Derby and H2.
. "$(dirname "$0")/lib.sh"
. "$here/../../scripts/demo/lib.sh"
need_root

JARS=/usr/share/java
clients=5 rounds=5 hold=150

# fight NAME DRIVER URL-REST CLASS WAKER SERVER-COMMAND...
fight() {
	local trace=$TESTDIR/$1 driver=$2 url=$3 class=$4 waker=$5
	shift 5
	"${RECORD[@]}" -q --syscalls net,io -o "$trace" -- "$JAVA" -cp "$CLASSES:$MARKERS:$driver" RowFight "$url" \
		$clients $rounds $hold "$@" >"$trace.out" 2>"$trace.err" || {
		cat "$trace.out" "$trace.err"
		fail "${trace##*/}: exit status $?"
	}
	grep '^EXPECT' "$trace.out"
	"$JIS" report -q --json "$trace" >"$trace.json"
	"$JIS" why -q --json --span update "$trace" >"$trace.why"
	python3 "$CHECKERS/culprit.py" "$trace.out" "$trace.json" Object.wait "$class" "$waker" \
		"$trace.why" "${waker//\[0-9\]+/#}" 'client #' || fail "${trace##*/}"
}

n=0
if [ -e $JARS/derbynet.jar ] && [ -e $JARS/derbyclient.jar ]; then
	port=$(free_port)
	mkdir "$TESTDIR/home"
	fight derby $JARS/derbyclient.jar "jdbc:derby://127.0.0.1:$port/memory:fight;create=true" \
		'org\.apache\.derby\.impl\.services\.locks\.ActiveLock' 'DRDAConnThread_[0-9]+' \
		"$JAVA" -Dderby.system.home="$TESTDIR/home" -Dderby.locks.waitTimeout=-1 \
		-cp $JARS/derby.jar:$JARS/derbynet.jar org.apache.derby.drda.NetworkServerControl start \
		-h 127.0.0.1 -p "$port" -noSecurityManager
	n=$((n + 1))
fi
if [ -e $JARS/h2.jar ]; then
	port=$(free_port)
	fight h2 $JARS/h2.jar "jdbc:h2:tcp://127.0.0.1:$port/mem:fight;LOCK_TIMEOUT=60000;DB_CLOSE_DELAY=-1" \
		'org\.h2\.mvstore\.tx\.Transaction' 'H[0-9]+ TCP Server \(tcp://localhost:[0-9]+\) thread-[0-9]+' \
		"$JAVA" -cp $JARS/h2.jar org.h2.tools.Server -tcp -tcpPort "$port" -ifNotExists
	n=$((n + 1))
fi
[ $n -gt 0 ] || skip "neither Derby nor H2 is installed"
