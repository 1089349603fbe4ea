// SPDX-License-Identifier: MIT

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * An agent of ByteBuddy's that counts the calls of the methods of Calls by code it puts into them, and says so when
 * the JVM ends: lines "BUDDY class method descriptor number". It may retransform, so it stands with JIS in the second
 * of the JVM's two rows of agents.
 */
public class BuddyAgent {
	/** What the code put in calls. */
	public static class Counts {
		static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();

		public static void hit(String method) {
			CALLS.computeIfAbsent(method, k -> new LongAdder()).increment();
		}
	}

	/** The code put in. */
	static class Entered {
		@Advice.OnMethodEnter
		static void enter(@Advice.Origin("#t #m #d") String method) {
			Counts.hit(method);
		}
	}

	/** Besides, with a handler of exceptions, which constructors cannot have. */
	static class EnteredAndLeft {
		@Advice.OnMethodEnter
		static void enter(@Advice.Origin("#t #m #d") String method) {
			Counts.hit(method);
		}

		@Advice.OnMethodExit(onThrowable = Throwable.class)
		static void exit(@Advice.Origin("left #t #m #d") String method) {
			Counts.hit(method);
		}
	}

	public static void premain(String args, Instrumentation instrumentation) {
		new AgentBuilder.Default(new ByteBuddy().ignore(ElementMatchers.none())).disableClassFormatChanges()
				.with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
				.with(AgentBuilder.Listener.StreamWriting.toSystemError().withErrorsOnly())
				.type(ElementMatchers.named("Calls").or(ElementMatchers.nameStartsWith("Calls$")
						.and(ElementMatchers.not(ElementMatchers.named("Calls$Own")))))
				.transform((builder, type, loader, module, domain) -> builder
						.visit(Advice.to(Entered.class).on(ElementMatchers.isConstructor()))
						.visit(Advice.to(EnteredAndLeft.class).on(ElementMatchers.isMethod()
								.and(ElementMatchers.not(ElementMatchers.nameStartsWith("$jacoco")))
								.and(ElementMatchers.not(ElementMatchers.named("overflow"))))))
				.installOn(instrumentation);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> Counts.CALLS
				.forEach((k, n) -> System.out.println("BUDDY " + k + " " + n))));
	}
}
