#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Methods are chosen by patterns, annotations and classes above them, and library ones at top level only; what the
# dry run lists is what fires.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"

chosen() { # JAVA NAME LIST LINE...
	local java=$1 name=$2 list=$3
	shift 3
	echo "call 3" | "${RECORD[@]}" -q --methods "$list" -o "$name" -- "$java" -cp "$CLASSES" MethodsLive >out 2>err ||
		{ cat err; fail "$name: exit status $?"; }
	expect "$name" "$@"
	sed 's/ .*//' want >fired
	echo "call 3" | "${RECORD[@]}" -q --methods "$list" --methods-dry-run -o "$name-dry" -- "$java" -cp "$CLASSES" \
		MethodsLive >out 2>err || { cat err; fail "$name: dry: exit status $?"; }
	expect "$name-dry"
	sed -n 's/^\(.*\)(.*)[^ ]*  number .*/\1/p' out | sort -u >dry
	cmp -s fired dry || { diff fired dry; fail "$name: the dry run lists others"; }
	rm -rf "$name" "$name-dry"
}

one_jvm() { # JAVA
	local java=$1 v
	v=$(java_version "$java")
	echo "== $v"
	chosen "$java" "method$v" "${P}Whole.inner,**.two" "${P}Whole.inner 3" "${P}All.two 3"
	chosen "$java" "class$v" "${P}*,!${P}All,!**.<init>,!**.told" "${P}Whole.serve 3" "${P}Whole.outer 3" "${P}Whole.inner 3" \
		"${P}Service.helped 3" "${P}Other.marked 3" "${P}Other.plain 3"
	chosen "$java" "annotation$v" "annotation:**Traced,!**.<init>" "${P}Other.marked 3" "${P}All.one 3" "${P}All.two 3"
	chosen "$java" "subtypes$v" "subtypes:${P}Service,!**.<init>" "${P}Service.helped 3" "${P}Whole.serve 3" \
		"${P}Whole.outer 3" "${P}Whole.inner 3"
	echo "@nothing" >list
	printf '# comment\n%s\n' "${P}All.one" >list
	chosen "$java" "file$v" "@list" "${P}All.one 3"

	# a library method inside of another is not told
	echo "call 3" | "${RECORD[@]}" -q --methods "library:${P}Whole,library:${P}All,${P}Service.helped,!**.<init>" -o "library$v" -- \
		"$java" -cp "$CLASSES" MethodsLive >out 2>err || fail "library: exit status $?"
	expect "library$v" "${P}Whole.serve 3" "${P}All.two 3" "${P}Service.helped 3"
	rm -rf "library$v"

	# ... nor where the virtual thread was off its carrier in the outer one, and others were on it meanwhile
	[ "$v" = 17 ] || {
		"${RECORD[@]}" -q --methods 'library:LibraryRests$Lib' -o "rests$v" -- "$java" \
			-Djdk.virtualThreadScheduler.parallelism=1 -cp "$CLASSES" LibraryRests 20 10 >out 2>err || fail "rests: exit status $?"
		counts "rests$v" >got
		printf '%s\n' 'LibraryRests$Lib.outer 200' 'LibraryRests$Lib.top 200' | diff - got || fail "the calls are not those"
		[ "$("$JIS" dump --event method_exit "rests$v" | grep -c .)" = 400 ] || fail "exits are missing"
		rm -rf "rests$v"
	}
}

for java in "${JDKS[@]#* }"; do
	one_jvm "$java"
done
