#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each method of java.base and other large modules, with the calls that the agent gives a traced method, passes the
# JVM's verifier, and the JVM runs; those of java.base also with calls at monitors, and of what exits return; taken
# apart and written again without calls, each class is the same byte for byte.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
verify_prepare
verify_modules "$JDK" product,intrinsics java.base java.desktop java.rmi java.xml jdk.compiler
# With the receiver and the result, which must be kept to the exits: few methods overwrite `this`.
verify_modules "$JDK" entry,exit,monitors,this java.base
