// SPDX-License-Identifier: MIT
package jis;

/**
 * Markers in a JIS recording: events with a number, and spans with a name.
 *
 * <p>Without the JIS agent in the JVM all of this does nothing, costs a load and a branch, and
 * allocates nothing. The class loads no library; the agent binds its natives and switches it on.
 */
public final class Jis {
	/**
	 * Set by the agent, in each copy of this class, once the natives are bound. Volatile so that a
	 * compiled loop sees an agent that comes later; on x86 such a load is an ordinary one.
	 */
	private static volatile boolean on;

	private Jis() {
	}

	/** Whether an agent records this JVM. */
	public static boolean isOn() {
		return on;
	}

	/**
	 * Marks this moment of the calling thread.
	 *
	 * @param type any number of the program's choice, by which tools group markers
	 * @param value any value
	 */
	public static void event(int type, long value) {
		if (on) {
			event0(Thread.currentThread().getId(), type, value);
		}
	}

	/**
	 * Begins a span on the calling thread; {@link Span#close} or {@link #end} ends it.
	 *
	 * <pre>{@code
	 * try (Span s = Jis.begin("parse")) {
	 *     ...
	 * }
	 * }</pre>
	 *
	 * @param name what is being done; keep the number of different names small
	 * @return the span; never null
	 */
	public static Span begin(String name) {
		if (!on) {
			return Span.OFF;
		}
		return new Span(begin0(Thread.currentThread().getId(), name));
	}

	/**
	 * Ends a span, on the thread that began it.
	 *
	 * @param span the span; null and a span that has ended already are ignored
	 */
	public static void end(Span span) {
		if (span != null) {
			span.close();
		}
	}

	static void end(int name) {
		if (on) {
			end0(Thread.currentThread().getId(), name);
		}
	}

	private static native void event0(long tid, int type, long value);

	private static native int begin0(long tid, String name);

	private static native void end0(long tid, int name);
}
