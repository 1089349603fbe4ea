// SPDX-License-Identifier: MIT
package jis;

/** A named span of a thread's time, from {@link Jis#begin} to {@link #close}. Not for sharing between threads. */
public final class Span implements AutoCloseable {
	/** What {@link Jis#begin} gives while nothing is recorded. */
	static final Span OFF = new Span(0, true);

	private final int name;
	private boolean ended;

	Span(int name) {
		this(name, false);
	}

	private Span(int name, boolean ended) {
		this.name = name;
		this.ended = ended;
	}

	/** Ends the span. A second call does nothing. */
	@Override
	public void close() {
		if (!ended) {
			ended = true;
			Jis.end(name);
		}
	}
}
