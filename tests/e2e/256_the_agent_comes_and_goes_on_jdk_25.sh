#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On JDK 25 too, 24 times the agent is brought into a server under load and taken out again: no request fails,
# nothing that the JVM holds grows with the rounds, and after each the JDK's classes have the code they had.
# Runs beside others.
. "$(dirname "$0")/lib_attach.sh"
cd "$TESTDIR" || exit 1

for java in "${JAVAS[@]}"; do
	[ "$(java_version "$java")" = 25 ] || continue
	rounds_under_load "$java"
	exit 0
done
skip "there is no JDK 25 here"
