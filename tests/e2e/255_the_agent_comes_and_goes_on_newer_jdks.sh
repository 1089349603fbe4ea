#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On JDK 25 and 21 too (in make test on 25), 24 times the agent is brought into a server under load and taken out again: no
# request fails, nothing that the JVM holds grows with the rounds, and after each the JDK's classes have the code they had.
# Runs beside others.
. "$(dirname "$0")/lib_attach.sh"
. "$(dirname "$0")/lib_jdks.sh"
cd "$TESTDIR" || exit 1

n=0
while read -r _ java <&3; do
	rounds_under_load "$java"
	n=$((n + 1))
done 3< <(TAKE=25 jdks 21)
[ $n -gt 0 ] || skip "there is no JDK 21 or 25 here"
