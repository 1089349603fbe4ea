#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Constructors of Java 25, which may have try, loops, monitors and field assignments before super(): rewritten, they
# link, and their exits are all there but those by an exception of super() itself, which no handler may see.
. "$(dirname "$0")/lib_classes.sh"

cd "$TESTDIR"
home=
for h in "$JDK" $(other_jdks); do [ "$(jdk_version "$h")" -lt 25 ] || home=$h; done
[ -n "$home" ] || skip "no JDK 25 or later"
probe_class_counting
mkdir old
cat >Flexible.java <<'JAVA'
import java.nio.file.*;

public class Flexible {
	static int constructed, superFailed;

	static class Base {
		Base(int n) {
			if (n == 3) {
				superFailed++;
				throw new IllegalStateException();
			}
		}
	}

	static class Derived extends Base {
		final int kept;

		Derived(int n, boolean strict) {
			int m;
			constructed++;
			try {
				m = Integer.parseInt(n == 1 ? "x" : "" + n);
			} catch (NumberFormatException e) {
				m = -1;
				if (strict) {
					throw new IllegalArgumentException(e);
				}
			} finally {
				constructed += 0;
			}
			for (int i = 0; i < n; i++) {
				m += i % 2 == 0 ? 0 : new Base(0).hashCode() & 0;
			}
			kept = m;
			super(switch (m) {
			case 5 -> new Derived(2, false).kept;
			case 6 -> throw new IllegalStateException();
			default -> m;
			});
			if (m == 4) {
				throw new IllegalStateException();
			}
		}
	}

	static class Locking extends Base {
		Locking(Object o) {
			synchronized (o) {
				constructed += 0;
			}
			super(0);
		}
	}

	static long probe(String method, String line) throws Exception {
		return (long) Class.forName("java.lang.JProbe$").getMethod(method, int.class).invoke(null,
				Integer.parseInt(line.split(" ")[0]));
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 2000; i++) {
			try {
				new Derived(i % 10, i % 20 < 10);
			} catch (IllegalStateException | IllegalArgumentException e) {
			}
			new Locking(args);
		}
		for (String line : Files.readAllLines(Path.of(args[0]))) {
			if (line.contains("Flexible$Derived <init>")) {
				System.out.println("entered " + (probe("entered", line) - constructed) + " left "
						+ (probe("left", line) - constructed + superFailed) + " of " + constructed + " errors "
						+ probe("errors", "0"));
			}
		}
	}
}
JAVA
jdk_run "$home" -m jdk.compiler/com.sun.tools.javac.Main -d old Flexible.java
rewrite old new entry,exit
[ "$refused" = 0 ] || fail "$refused methods refused"
cp changed list
jdk_run "$home" -Xverify:all --patch-module java.base=patch -cp new:old Flexible list | tee out
grep -qx 'entered 0 left 0 of 2200 errors 0' out || fail "exits are missing"
# With monitors: the one before super() is refused, and only that.
rm -rf new
rewrite old new entry,exit,monitors
[ "$(grep -c '^refused' changed)" = 1 ] && grep -qF 'refused Flexible$Locking <init>' changed ||
	fail "not the one with a monitor before super()"
jdk_run "$home" -Xverify:all --patch-module java.base=patch -cp new:old Flexible list >out
grep -qx 'entered 0 left 0 of 2200 errors 0' out || { cat out; fail "with monitors exits are missing"; }
