#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each method of java.base with a call put before it passes the JVM's verifier, and the JVM runs.
. "$(dirname "$0")/lib.sh"

home=$(dirname "$(dirname "$(readlink -f "$JAVA")")")
[ -x "$home/bin/jimage" ] && [ -x "$home/bin/javac" ] || skip "no jimage or javac beside $JAVA"

cd "$TESTDIR"
"$home/bin/jimage" extract --dir old --include 'regex:/java.base/.*\.class' "$home/lib/modules"
"$TESTPROG/rewrite_classes" old/java.base new | tee rewritten
read -r _ classes _ methods _ refused _ _ _ damaged <rewritten
[ "$classes" -gt 5000 ] && [ "$methods" -gt 50000 ] || fail "only $classes classes, $methods methods"
[ "$refused" = 0 ] && [ "$damaged" = 0 ] || fail "$refused methods refused, $damaged classes damaged"

mkdir -p stub/java/lang patch
cat >'stub/java/lang/JProbe$.java' <<'JAVA'
package java.lang;
public final class JProbe$ {
	public static long calls;
	public static void enter(int method) {
		calls++;
	}
}
JAVA
"$home/bin/javac" --patch-module java.base=stub -d patch 'stub/java/lang/JProbe$.java'
printf 'Premain-Class: AgentVerifyAll\nCan-Retransform-Classes: true\n' >manifest
"$home/bin/jar" --create --file agent.jar --manifest manifest -C "$CLASSES" AgentVerifyAll.class
"$JAVA" -Xverify:all --patch-module java.base=patch -javaagent:agent.jar=new -cp agent.jar AgentVerifyAll | tee out
grep -qE "^retransformed [0-9]{3,} served [0-9]{4,} linked [0-9]{4,} failed 0$" out || fail "see above"
