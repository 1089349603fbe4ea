#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 24 times the agent is brought into a server under load and taken out again: no request fails, nothing that
# the JVM holds grows with the rounds, and after each the JDK's classes have the code they had before.
. "$(dirname "$0")/lib_attach.sh"
cd "$TESTDIR" || exit 1
rounds_under_load "$JAVA"
