#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko and each JDK of the suite: threads at once and in turn, with strange names, each have their row and
# full name; with one of them, setName keeps its history, and markers and spans arrive.
# lab-timeout: 900
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
for JAVA_HOME in /usr/lib/jvm/java-*-openjdk-amd64; do
	[ ! -L "$JAVA_HOME" ] || continue
	export JAVA_HOME
	e2e 380_many_threads_and_strange_names BACKEND=kmod AT_ONCE=60 IN_TURN=100 || fail "$JAVA_HOME: names"
	rm -rf "${LAB_TMP:?}"/*
	ok "$("$JAVA_HOME/bin/java" -version 2>&1 | head -n 1)"
done
# By the last of them.
e2e 213_names_keep_their_history || fail "$JAVA_HOME: setName"
rm -rf "${LAB_TMP:?}"/*
e2e 223_spans_have_names || fail "$JAVA_HOME: spans"
