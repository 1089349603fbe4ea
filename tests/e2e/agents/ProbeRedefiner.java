// SPDX-License-Identifier: MIT

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.concurrent.CountDownLatch;

/**
 * An agent that has a class, its argument, retransformed again and again while CallsTold runs: the JVM then gives up the
 * code it has made of it, and for it to call natives. Says how often in the end: "REDEFINED N".
 */
public class ProbeRedefiner {
	private static final CountDownLatch begun = new CountDownLatch(1);
	private static volatile int rounds;

	public static void premain(String args, Instrumentation instrumentation) {
		instrumentation.addTransformer(new ClassFileTransformer() {
			@Override
			public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain,
					byte[] bytes) {
				if ("CallsTold".equals(name)) {
					begun.countDown(); // the JVM is up, and so is JIS
				}
				return args.replace('.', '/').equals(name) ? bytes.clone() : null;
			}
		}, true);
		Thread thread = new Thread(() -> {
			while (true) {
				try {
					begun.await();
					instrumentation.retransformClasses(Class.forName(args));
					rounds++;
					System.gc();
					Thread.sleep(20);
				} catch (ReflectiveOperationException | UnmodifiableClassException e) {
					throw new IllegalStateException(e);
				} catch (InterruptedException e) {
					return;
				}
			}
		});
		thread.setDaemon(true);
		thread.start();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("REDEFINED " + rounds)));
	}
}
