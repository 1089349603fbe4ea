# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests of the class-file rewriter (20*.sh): the JDKs there are, and a class java.lang.JProbe$
# written in Java for the rewritten classes to call.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

JDK=$(dirname "$(dirname "$(readlink -f "$REAL_JAVA")")")
[ -x "$JDK/bin/javac" ] && [ -x "$JDK/bin/jimage" ] || skip "no javac and jimage beside $JAVA"

# jdk_run HOME ARGUMENT...: its java; that of an unpacked root of another Debian by that root's own C library, and
# with its files in /etc, for this process alone.
jdk_run() {
	local home=$1 root=${1%/usr/lib/jvm/*}
	shift
	if [ -z "$root" ] || [ ! -e "$root/lib64/ld-linux-x86-64.so.2" ]; then
		"$(check_jni "$home/bin/java")" "$@"
		return
	fi
	# shellcheck disable=SC2016 # for the shell in the other mount namespace
	unshare --mount sh -c 'root=$1 home=$2 lib=x86_64-linux-gnu && shift 2 &&
		mount -t overlay overlay -o "lowerdir=/etc:$root/etc" /etc &&
		exec "$root/lib64/ld-linux-x86-64.so.2" \
			--library-path "$root/usr/lib/$lib:$root/lib/$lib:$home/lib:$home/lib/server" "$home/bin/java" "$@"' \
		sh "$root" "$home" "$@"
}

# other_jdks: the homes of one JDK for each version from 17 that is not $JAVA's and can be run here.
other_jdks() {
	local home version seen
	seen=" $(jdk_version "$JDK") "
	for home in /usr/lib/jvm/* "${JIS_CACHE:-$HOME/.cache/jis}"/lab/*/buildroot/usr/lib/jvm/*; do
		[ -e "$home/lib/modules" ] && [ ! -L "$home" ] && [ -x "$home/bin/jimage" ] || continue
		version=$(jdk_version "$home")
		[ "${version:-0}" -ge 17 ] || continue
		case $seen in *" $version "*) continue ;; esac
		jdk_run "$home" -version >/dev/null 2>&1 || continue
		seen+="$version "
		echo "$home"
	done
}

jdk_version() {
	sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null
}

# probe_class JAVA-SOURCE: compiles it as java.lang.JProbe$ into ./patch, for --patch-module.
probe_class() {
	mkdir -p stub/java/lang patch
	cat >'stub/java/lang/JProbe$.java'
	"$JDK/bin/javac" -g --patch-module java.base=stub -d patch 'stub/java/lang/JProbe$.java'
}

# probe_class_idle: one that only takes the calls of all modes of rewrite_classes.
probe_class_idle() {
	probe_class <<'JAVA'
package java.lang;
public final class JProbe$ {
	public static long calls;
	public static void enter(int method) {
		calls++;
	}
	public static void exit(int method) {
		calls++;
	}
	public static void locked(Object monitor, int method) {
		calls++;
	}
	public static void unlock(Object monitor, int method) {
		calls++;
	}
	public static void entered(Object receiver, int method) {
		calls++;
	}
	public static void left(Object result, Object receiver, int method) {
		calls++;
	}
}
JAVA
}

# probe_class_counting: one that counts by method, and checks that exits match entries and that monitors are held.
probe_class_counting() {
	probe_class <<'JAVA'
package java.lang;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

public final class JProbe$ {
	private static final int MAX = 1000;
	private static final AtomicLongArray entered = new AtomicLongArray(MAX);
	private static final AtomicLongArray left = new AtomicLongArray(MAX);
	private static final AtomicLongArray locks = new AtomicLongArray(2);
	private static final AtomicLong errors = new AtomicLong();
	private static final AtomicLong repaired = new AtomicLong();
	private static final Object[] lastReceiver = new Object[MAX];
	private static final Object[] lastEntered = new Object[MAX];
	private static final Object[] lastResult = new Object[MAX];
	/** Per thread: depth, then the methods. */
	private static final ThreadLocal<int[]> stack = ThreadLocal.withInitial(() -> new int[MAX]);

	public static void enter(int method) {
		int[] s = stack.get();
		if (++s[0] < MAX) {
			s[s[0]] = method;
		}
		entered.incrementAndGet(method);
	}

	public static void exit(int method) {
		int[] s = stack.get();
		int at = Math.min(s[0], MAX - 1);
		while (at > 0 && s[at] != method && s[0] < MAX) {
			at--;
		}
		if (at == 0) {
			errors.incrementAndGet();
		} else {
			repaired.addAndGet(s[0] < MAX ? s[0] - at : 0);
			s[0] = s[0] < MAX ? at - 1 : s[0] - 1;
		}
		left.incrementAndGet(method);
	}

	private static void lock(Object monitor, int which) {
		if (!Thread.holdsLock(monitor)) {
			errors.incrementAndGet();
		}
		locks.incrementAndGet(which);
	}

	public static void locked(Object monitor, int method) {
		lock(monitor, 0);
	}

	public static void unlock(Object monitor, int method) {
		lock(monitor, 1);
	}

	public static void entered(Object receiver, int method) {
		lastEntered[method] = receiver;
	}

	public static void left(Object result, Object receiver, int method) {
		lastResult[method] = result;
		lastReceiver[method] = receiver;
	}

	public static long entered(int method) {
		return entered.get(method);
	}

	public static long left(int method) {
		return left.get(method);
	}

	public static long locks(int which) {
		return locks.get(which);
	}

	public static long errors(int unused) {
		return errors.get();
	}

	public static long repaired(int unused) {
		return repaired.get();
	}

	public static Object lastReceiver(int method) {
		return lastReceiver[method];
	}

	public static Object lastEntered(int method) {
		return lastEntered[method];
	}

	public static Object lastResult(int method) {
		return lastResult[method];
	}

	public static void forget(int method) {
		lastReceiver[method] = lastEntered[method] = lastResult[method] = null;
	}
}
JAVA
}

# reasons FILE: why methods were refused, with their numbers.
reasons() {
	sed -n 's/^refused .* : //p' "$1" | sort | uniq -c
}

# rewrite FROM TO MODE: sets classes, methods, refused and exempt; no class may be damaged or come out different.
rewrite() {
	local damaged different
	"$TESTPROG/rewrite_classes" "$@" 2>changed | tee rewritten
	reasons changed
	read -r _ classes _ methods _ refused _ exempt _ _ _ damaged _ different <rewritten
	[ "$damaged" = 0 ] && [ "$different" = 0 ] || fail "$damaged classes damaged, $different copies not equal"
}

verify_prepare() {
	probe_class_idle
	printf 'Premain-Class: AgentVerifyAll\nCan-Retransform-Classes: true\n' >manifest
	"$JDK/bin/jar" --create --file agent.jar --manifest manifest -C "$CLASSES" AgentVerifyAll.class
}

# verify_modules HOME MODE MODULE...: rewrites their classes so, and copies them; HOME's JVM links all of them. At most
# one method in a thousand may be refused, and without MODE `this` none.
verify_modules() {
	local home=$1 mode=$2 module
	shift 2
	echo "JDK $(jdk_version "$home"): $*"
	rm -rf old new copy
	jdk_run "$home" -m jdk.jlink/jdk.tools.jimage.Main extract --dir old \
		--include "regex:/($(IFS='|'; echo "$*"))/.*\.class" "$home/lib/modules"
	for module; do
		rewrite "old/$module" copy copy
		rewrite "old/$module" new "$mode"
		case $mode in
		*this*) [ $((refused * 1000)) -lt "$methods" ] ;;
		*) [ "$refused" = 0 ] ;;
		esac || fail "$refused methods refused"
		[ "$module" != java.base ] || { [ "$classes" -gt 5000 ] && [ "$methods" -gt 50000 ]; } ||
			fail "only $classes classes, $methods methods"
	done
	jdk_run "$home" -Xverify:all --add-modules ALL-SYSTEM --patch-module java.base=patch \
		-javaagent:agent.jar=new -cp agent.jar AgentVerifyAll "$@" | tee out
	grep -qE "^retransformed [0-9]{3,} served [0-9]{4,} linked [0-9]{4,} failed 0 fired [0-9]{6,}$" out || fail "see above"
}
