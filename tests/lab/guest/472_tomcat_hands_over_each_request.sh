#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: Tomcat's threads have their names, its connections are the client's, by port, its hand-overs the access log's requests;
# of what its workers wait for inside of requests at least 99 % has a reason. Attached to JDK 25; by name in the other suite, started
# with 17; ALL_JDKS=1: each of the suite, both ways.
# lab-timeout: 1800
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
jdks=(/usr/lib/jvm/java-[0-9][0-9]-openjdk-amd64) hows=(started attached)
if [ -z "${ALL_JDKS:-}" ]; then
	jdks=("${jdks[-1]}") hows=(started)
	[[ ${jdks[0]} != *-25-* ]] || hows=(attached)
fi
for JAVA_HOME in "${jdks[@]}"; do
	export JAVA_HOME
	for how in "${hows[@]}"; do
		e2e 275_tomcat_hands_over_each_request BACKEND=kmod HOW="$how" SINGLE=24 JVM_OPTIONS="-Xmx256m ${jvm_fast[*]}" || fail "${JAVA_HOME##*/}, $how"
		rm -rf "${LAB_TMP:?}"/*
		ok "${JAVA_HOME##*/}, $how"
	done
done
