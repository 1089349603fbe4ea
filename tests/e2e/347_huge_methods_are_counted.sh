#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Methods that HotSpot never compiles, up to the most a class file holds, with far branches, handlers and exceptions that
# leave them: each call is there once. What the probes would make too large is left alone and listed with the reason.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"
JDK=$(dirname "$(dirname "$(readlink -f "$REAL_JAVA")")")
[ -x "$JDK/bin/javac" ] || skip "no javac beside $JAVA"

# Of a method "int f(int x)" x = x * 31 + N takes 9 bytes, x++ 3, count(N) 4, and the return 2.
python3 - <<'PY'
def body(size, indent="\t\t"):
    n = size - 2
    assert n % 3 == 0
    lines = [f"{indent}x = x * 31 + {1000 + i % 20000};" for i in range(n // 9)]
    return "\n".join(lines + [f"{indent}x++;"] * (n % 9 // 3))
sizes = [7941, 7995, 8010, 40002, 65403, 65526]
methods = "\n".join(f"\tstatic int of{s}(int x) {{\n\t\tcount({i});\n{body(s - 4)}\n\t\treturn x;\n\t}}" for i, s in enumerate(sizes))
open("Huge.java", "w").write(f"""
public class Huge {{
	static final int[] COUNTS = new int[20];
	static void count(int i) {{ COUNTS[i]++; }}
{methods}
	/** Branches over more than 32 KiB. */
	static int far(int x) {{
		count(10);
		for (int i = 0; i < 3; i++) {{
			if (x % 2 == i % 2) {{
{body(36002, chr(9) * 4)}
			}}
		}}
		return x;
	}}
	/** Left by an exception of its own, and of those inside. */
	static int thrower(int x, int depth) {{
		count(11);
		try {{
{body(9002, chr(9) * 3)}
			if (depth == 0 && x % 2 != 12345)
				throw new IllegalStateException();
			return depth == 0 ? x : thrower(x, depth - 1);
		}} catch (ArithmeticException e) {{
			return 0;
		}}
	}}
	public static void main(String[] a) {{
		int x = 1;
		for (int i = 0; i < 40; i++) {{
{chr(10).join(f"			x += of{s}(x);" for s in sizes)}
			x += far(x);
			try {{
				thrower(x, 10);
				throw new AssertionError();
			}} catch (IllegalStateException e) {{
				x++;
			}}
		}}
{chr(10).join(f'''		System.out.println("Huge.of{s} " + COUNTS[{i}]);''' for i, s in enumerate(sizes))}
		System.out.println("Huge.far " + COUNTS[10] + "\\nHuge.thrower " + COUNTS[11] + "\\nHuge.main 1");
	}}
}}
""")
PY
mkdir huge
"$JDK/bin/javac" --release 17 -d huge Huge.java || fail "javac"
for java in "${JDKS[@]#* }"; do
	v=$(java_version "$java")
	for how in -Xint -Xbatch; do
		"${RECORD[@]}" -q --methods-budget 0 --methods 'Huge,!**.count,!**.<init>,!**.<clinit>' -o "huge$v" -- "$java" $how -cp huge Huge \
			>out 2>err || { cat err; fail "$v $how: exit status $?"; }
		counts "huge$v" >got
		grep -E '^Huge\.' out | awk '{ print $1, $2 }' | grep -v 'of7995\|of65526' | sort >want
		diff want got || fail "$v $how: the calls are not those"
		echo "$v $how: $(wc -l <want) methods"
		"$JIS" methods --list "huge$v" >list
		grep -q '^Huge.of7995.*8000 bytecodes' list || { cat list; fail "$v: of7995 has no reason"; }
		grep -q '^Huge.of65526.*65535 bytes' list || { cat list; fail "$v: of65526 has no reason"; }
		"$JIS" stats -q --csv "huge$v" >csv
		awk -F, '$1 ~ /Huge.thrower/ { n++; bad += $2 != 440 || $4 != 440 || $3 != 0 } END { exit n != 1 || bad }' csv || { cat csv; fail "$v $how: exits by exception"; }
		rm -rf "huge$v"
	done
done
