#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs in Clojure, Groovy, JRuby, Kotlin and Scala: all methods of the program are recorded, and those that say
# themselves how often they were called have been recorded as often, with their exits, ten frames of which an exception
# leaves. A language that is not installed is left out; JRuby, Kotlin and Scala, which are slow to begin, are run with
# JIS_TEST_LANGUAGES=all only (make languages).
# Runs beside others.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR"

jars=/usr/share/java
sources=$here/languages
ran=0

# run NAME PATTERN METHODS COMMAND...: METHODS is an extended regular expression for those whose calls are told.
run() {
	local name=$1 pattern=$2 methods=$3 told seen left unwound
	shift 3
	"${RECORD[@]}" -q --pool 16M --methods-budget 0 --methods "$pattern" -o "$name" -- "$@" >"$name.out" 2>"$name.err" ||
		{ cat "$name.err"; fail "$name: exit status $?"; }
	grep -q '^RESULT 144 bottom$' "$name.out" || { cat "$name.out" "$name.err"; fail "$name: the program has another result"; }
	told=$(sed -n 's/^CALLS //p' "$name.out")
	"$JIS" dump "$name" >dump
	seen=$(grep -cE "method_enter \{ method = [0-9]+ \(($methods)\)" dump || true)
	left=$(grep -cE "method_exit \{ method = [0-9]+ \(($methods)\)" dump || true)
	unwound=$(grep -E "method_exit \{ method = [0-9]+ \(($methods)\)" dump | grep -c unwound || true)
	echo "$name: $told calls told, $seen recorded, $left exits, $unwound by exceptions; $("$JIS" methods --list "$name" | grep -vc '^#') methods"
	[ "$seen" = "$told" ] && [ "$left" = "$told" ] || fail "$name: the calls are not those"
	[ "$unwound" = 10 ] || fail "$name: $unwound exits by exceptions, not 10"
	rm -rf "$name" dump
	ran=$((ran + 1))
}

have() {
	local jar
	for jar; do [ -e "$jars/$jar.jar" ] || return 1; done
}

have clojure spec.alpha core.specs.alpha &&
	run clojure 'told$*' 'told\$(fib|caught)\.invokeStatic' \
		"$JAVA" -cp "$jars/clojure.jar:$jars/spec.alpha.jar:$jars/core.specs.alpha.jar" clojure.main "$sources/fib.clj"
have groovy-all && run groovy 'Told' 'Told\.(fib|caught)' "$JAVA" -cp "$jars/groovy-all.jar" groovy.ui.GroovyMain "$sources/fib.groovy"
if [ "${JIS_TEST_LANGUAGES:-}" = all ]; then
	if command -v jruby >/dev/null; then
		run jruby '**.RUBY$*' '[^)]*\.RUBY\$method\$(fib|caught)[^)]*' env JAVACMD="$JAVA" jruby -X+C "$sources/fib.rb"
	fi
	if command -v scalac >/dev/null; then
		scalac -d . "$sources/fib.scala"
		run scala 'Told,Told$' 'Told\$\.(fib|caught)' "$JAVA" -cp ".:$jars/scala-library.jar" Told
	fi
	if command -v kotlinc >/dev/null; then
		kotlinc -d kotlin.jar "$sources/fib.kt"
		run kotlin 'Told,FibKt' 'Told\.(fib|caught)' "$JAVA" -cp "kotlin.jar:$jars/kotlin-stdlib.jar" FibKt
	fi
fi
[ $ran != 0 ] || skip "no other language is installed: clojure, groovy"
