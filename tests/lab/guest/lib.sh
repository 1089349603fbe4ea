# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What guest tests share: verdicts, waiting for a condition, and a Tomcat with the
# distribution's examples. A test is a bash script NNN_name.sh that sources this
# file and ends with status 0 (pass), 77 (skip, by `skip`) or anything else (fail).
#
# Given by the driver: JIS (the tool), JIS_BUILD (the build folder, with agent, jars
# and kmod/jis.ko), LAB_OUT (folder of the test; what is left there comes out) and
# LAB_TMP (a scratch folder), LAB_SLOW (how many times slower than others the kernel is). All processes a test leaves are killed after it.

set -u

# The least a JVM needs to start under emulation; not for tests of the compilers.
# shellcheck disable=SC2034
jvm_fast=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

ok()
{
	echo "ok: $*"
}

fail()
{
	echo "failed: $*"
	exit 1
}

skip()
{
	echo "skipped: $*"
	exit 77
}

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds; fails the test when it does not in time.
wait_for()
{
	local end=$((SECONDS + $1 * ${LAB_SLOW:-1})) what=$2

	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "$what did not happen in time ($*)"
		sleep 0.05
	done
}

# The distribution's Tomcat and a JVM it runs on (JAVA_HOME to choose another).
tomcat_home=$(echo /usr/share/tomcat1[0-9])
tomcat_url=http://127.0.0.1:8080/examples

tomcat_answers()
{
	kill -0 "$tomcat_pid" 2>/dev/null || fail "Tomcat ended: $(tail -n 20 "$LAB_OUT/tomcat.log")"
	curl -sf -m 60 -o /dev/null "$tomcat_url/servlets/servlet/HelloWorldExample"
}

# start_tomcat [JVM OPTION]...: starts Tomcat as user tomcat with the examples at $tomcat_url,
# waits until a servlet answers, sets tomcat_pid and tomcat_base. Its output is $LAB_OUT/tomcat.log.
start_tomcat()
{
	local name=${tomcat_home##*/}

	tomcat_base=$LAB_TMP/tomcat
	mkdir -p "$tomcat_base"/{conf,logs,temp,webapps,work}
	cp "$tomcat_home/etc/web.xml" "$tomcat_base/conf/" || fail "no web.xml in $tomcat_home/etc"
	cat >"$tomcat_base/conf/server.xml" <<-XML
		<Server port="-1">
		  <Service name="Catalina">
		    <Connector port="8080" address="127.0.0.1" protocol="HTTP/1.1" maxThreads="${TOMCAT_THREADS:-20}"/>
		    <Engine name="Catalina" defaultHost="localhost">
		      <Host name="localhost" appBase="webapps" autoDeploy="false" unpackWARs="false">
		        <Context path="/examples" docBase="/usr/share/$name-examples/examples">
		          <JarScanner scanClassPath="false"/>
		        </Context>
		      </Host>
		    </Engine>
		  </Service>
		</Server>
	XML
	chown -R tomcat: "$tomcat_base"
	setpriv --reuid tomcat --regid tomcat --clear-groups \
		"${JAVA_HOME:-/usr/lib/jvm/default-java}/bin/java" "${jvm_fast[@]}" "$@" \
		-cp "$tomcat_home/bin/bootstrap.jar:$tomcat_home/bin/tomcat-juli.jar" \
		-Dcatalina.home="$tomcat_home" -Dcatalina.base="$tomcat_base" \
		-Djava.io.tmpdir="$tomcat_base/temp" -XX:ErrorFile="$LAB_OUT/hs_err.log" \
		org.apache.catalina.startup.Bootstrap start >"$LAB_OUT/tomcat.log" 2>&1 &
	tomcat_pid=$!
	wait_for 240 "an answer of Tomcat" tomcat_answers
}

# stop_tomcat: orderly, by SIGTERM.
stop_tomcat()
{
	local status

	kill "$tomcat_pid"
	wait "$tomcat_pid"
	status=$?
	[ "$status" = 143 ] || fail "Tomcat ended with status $status after SIGTERM: $(tail -n 20 "$LAB_OUT/tomcat.log")"
}

# load_module [PARAMETER...]: puts jis.ko in.
load_module()
{
	insmod "$JIS_BUILD/kmod/jis.ko" "$@" || fail "jis.ko cannot be loaded: $(dmesg | tail -n 5)"
	[ -c /dev/jis ] || fail "jis.ko is loaded, but there is no /dev/jis"
}

# e2e NAME [VARIABLE=VALUE...]: runs tests/e2e/NAME.sh here; its status is this test's. What a failed one recorded comes out.
e2e()
{
	local name=$1 status=0 trace

	shift
	env BUILD="$JIS_BUILD" TESTDIR="$LAB_TMP" JAVA="$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java")" "$@" \
		bash /lab/job/tree/tests/e2e/"$name.sh" || status=$?
	[ $status = 0 ] || [ $status = 77 ] || for trace in "$LAB_TMP"/*/manifest.json; do
		trace=${trace%/*}
		[ ! -d "$trace" ] || [ "$(du -sm "$trace" | cut -f1)" -gt 100 ] || cp -r "$trace" "$LAB_OUT/$name-${trace##*/}"
	done
	return $status
}
