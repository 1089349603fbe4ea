#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The classes of the jars that are here (Tomcat, Guava, the compiler of Eclipse, Maven, other languages), rewritten
# in full: what links as it is links when rewritten; javap reads it; a copy is the same. In methods that are left
# alone the reason is one of a few. Catalina and Guava; with JIS_TEST_LANGUAGES=all (make languages) all the others.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
probe_class_idle
java="tomcat10-catalina guava"
more="tomcat10-coyote tomcat10-jasper eclipse-jdt-core commons-lang3 guice maven3-core"
languages="clojure groovy-all jruby-base scala-library scala-compiler kotlin-stdlib kotlin-compiler"
[ "${JIS_TEST_LANGUAGES:-}" != all ] || java="$more $languages"
read -r -d '' -a names <<<"${JIS_TEST_JARS:-$java}" || true
jars=()
for name in "${names[@]}"; do
	case $name in /*) jar=$name ;; *) jar=/usr/share/java/$name.jar ;; esac
	[ ! -e "$jar" ] || jars+=("$(readlink -f "$jar")")
done
[ ${#jars[@]} != 0 ] || skip "no jar is installed"
mapfile -t path < <(find /usr/share/java -maxdepth 1 -name '*.jar' -type f; printf '%s\n' "${jars[@]}")

linked() {
	"$JAVA" -Xverify:all -XX:-UsePerfData -Xshare:auto --patch-module java.base=patch -cp "$CLASSES" \
		VerifyClasses "$1" "$jar" "${path[@]}" 2>&1 | sort >"$2"
}

all=0 left=0 every=1
for jar in "${jars[@]}"; do
	echo "${jar##*/}"
	rm -rf old new copy
	mkdir old
	(cd old && "$JDK/bin/jar" --extract --file "$jar")
	rm -rf old/META-INF # classes for other versions
	rewrite old copy copy
	rewrite old new entry,exit,monitors,this
	# Clojure's methods overwrite `this`; that hinders only what passes it on at exits.
	other=$(awk '/^refused/ && !/ : a parameter to pass/ { n++ } END { print n + 0 }' changed)
	all=$((all + methods + refused)) left=$((left + other))
	if grep '^refused' changed | grep -vE ' : (it has subroutines|the JVM would no longer compile|a parameter to pass)'; then
		fail "methods are left alone for another reason"
	fi
	linked old was
	linked new is
	grep -c ' ok$' was
	[ "$(grep -c ' ok$' was)" -gt 10 ] || fail "hardly any class links as it is"
	# Lines of rewritten classes that do not link, although they did.
	awk 'NR == FNR { if ($2 == "ok") was[$1] = 1; next } $2 != "ok" && $1 in was' was is >broken
	if [ -s broken ]; then
		head -5 broken
		fail "$(wc -l <broken) classes no longer link"
	fi
	# All of the first jar, and some of each other: javap takes its time.
	find new -name '*.class' -print0 | sort -z | awk -v RS='\0' -v ORS='\0' -v n="$every" 'NR % n == 0' | xargs -0 -n 2000 "$JDK/bin/javap" -v -p >javap 2>javap.err ||
		{ head javap.err; fail "javap fails"; }
	[ ! -s javap.err ] || { head javap.err; fail "javap complains"; }
	every=7
	echo "javap: $(grep -c '^Classfile' javap) classes, $(grep -c 'Method java/lang/JProbe\$.exit' javap) exit calls"
done
echo "$left of $all methods are left alone"
[ $((left * 1000)) -le "$all" ] || fail "more than one in a thousand"
