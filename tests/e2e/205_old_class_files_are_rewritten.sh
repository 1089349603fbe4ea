#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Class files of the versions 45, 48 to 50 and 61, by the compiler of Eclipse: those before 50 without stack maps, those before
# 49 with subroutines in `finally` and `synchronized`, which stay as they are. They link, run with the same result, and
# the calls of the others are counted exactly.
. "$(dirname "$0")/lib_classes.sh"

ecj=
for jar in /usr/share/java/{ecj,eclipse-jdt-core}.jar; do [ ! -e "$jar" ] || ecj=$jar; done
[ -n "$ecj" ] || skip "no compiler of Eclipse: eclipse-jdt-core.jar"
source=$PWD/tests/e2e/java/OldCalls.java
cd "$TESTDIR"
probe_class_counting
mkdir own
cp "$CLASSES"/OldMain*.class own
path=$(find /usr/share/java -name 'org.eclipse*.jar' -o -name 'eclipse-*.jar' | paste -sd:)

compile() { # TARGET OPTION...
	local target=$1
	shift
	rm -rf old new
	mkdir old
	"$JAVA" -XX:TieredStopAtLevel=1 -cp "$ecj:$path" org.eclipse.jdt.internal.compiler.batch.Main -nowarn -proc:none -g "$@" -target "$target" -d old "$source"
}

run() {
	"$JAVA" -Xverify:all --patch-module java.base=patch -cp "$1:old:own" OldMain list | tee "$2"
}

for target in 1.1 1.4 1.5 1.6 17; do
	case $target in
	1.[123]) options=(-source 1.3) ;;
	*) options=(-source "$target") ;;
	esac
	compile "$target" "${options[@]}"
	version=$(od -An -j6 -N2 -t u1 old/OldCalls.class | awk '{print $1 * 256 + $2}')
	echo "target $target: version $version"
	: >list
	run old was
	rewrite old new entry,exit,monitors
	cp changed list
	# Static synchronized methods of classes before 49 cannot name their monitor.
	if grep '^refused' changed | grep -vE ' : (it has subroutines|a class file this old)'; then
		fail "methods are left alone for another reason"
	fi
	[ "$version" -lt 49 ] || [ "$refused" = 0 ] || fail "$refused methods refused"
	run new is
	[ "$(cut -d' ' -f1,2 was)" = "$(cut -d' ' -f1,2 is)" ] || fail "the result is another"
	[ "$(cut -d' ' -f4 is)" -ge 6 ] || fail "hardly any method was rewritten"
done
