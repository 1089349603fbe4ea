// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Calls methods of all shapes, each of which says by itself that it was called, and compares with what
 * java.lang.JProbe$ was told by the rewritten code. Usage: Calls LIST ROUNDS THREADS; LIST has lines "number
 * class method descriptor". Prints "methods N calls N locks N repaired N", or what differs and exits with 1.
 */
public class Calls {
	/** What the methods say by themselves. Not rewritten. */
	static class Own {
		static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();
		static final LongAdder LOCKS = new LongAdder();
		static final LongAdder FAILED_SUPERS = new LongAdder();
		private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
		static boolean differs;

		/** The calling method has been called. */
		static int count() {
			String key = WALKER.walk(s -> s.skip(1).findFirst()
					.map(f -> f.getClassName() + " " + f.getMethodName() + " " + f.getDescriptor()).get());
			CALLS.computeIfAbsent(key, k -> new LongAdder()).increment();
			return 1;
		}

		static void check(boolean good, String what) {
			if (!good) {
				System.out.println("differs: " + what);
				differs = true;
			}
		}
	}

	// Recursion, exceptions ------------------------------------------------------------------------

	static int fib(int n) {
		Own.count();
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static void down(int n) throws IOException {
		Own.count();
		if (n == 0) {
			throw new IOException("bottom");
		}
		down(n - 1);
	}

	static int caught(int depth) {
		Own.count();
		try {
			down(depth);
			return 0;
		} catch (IOException e) {
			return e.getMessage().length();
		}
	}

	@SuppressWarnings("finally")
	static int overruled(int n) {
		Own.count();
		try {
			return nested(n);
		} finally {
			if (n % 2 == 0) {
				return -1;
			}
		}
	}

	static int nested(int n) {
		Own.count();
		try {
			try {
				if (n % 3 == 0) {
					throw new IllegalStateException();
				}
				return n / (n % 5);
			} catch (ArithmeticException e) {
				throw new IllegalArgumentException(e);
			} finally {
				Own.check(n >= 0, "argument");
			}
		} catch (IllegalStateException | IllegalArgumentException e) {
			return -2;
		}
	}

	static void runtime(int[] array, int at) {
		Own.count();
		array[at]++; // null, or out of bounds: no throw instruction
	}

	static int throwers() {
		Own.count();
		int n = 0;
		int[][] arrays = {null, {}, {1}};
		for (int[] a : arrays) {
			try {
				runtime(a, 0);
			} catch (RuntimeException e) {
				n++;
			}
		}
		return n;
	}

	static int endless(int n) {
		while (true) {
			if (n-- == 0) {
				Own.count();
				return n;
			}
		}
	}

	static void overflow(int n) {
		overflow(n + 1);
	}

	static void overflowing() {
		Own.count();
		try {
			overflow(0);
		} catch (StackOverflowError e) {
			// as it must
		}
	}

	// Constructors ------------------------------------------------------------------------------------

	static class Base {
		final int n;

		Base(int n) {
			Own.count();
			if (n < 0) {
				throw new IllegalArgumentException();
			}
			this.n = n;
		}

		Base(Base a, Base b) {
			this(a.n + b.n);
			Own.count();
		}
	}

	static class Derived extends Base {
		Object extra = new Object();

		Derived(int n) {
			super(n > 10 ? n + Own.count() - 1 : n + Own.count() - 1 + new Base(n).n);
			try {
				extra = new Object[n % 4 - 1]; // -1: fails after super()
			} catch (NegativeArraySizeException e) {
				if (n % 8 == 0) {
					throw e;
				}
			}
		}

		Derived(boolean choose) {
			super(choose ? new Base(1) : new Derived(21), new Base(new Base(2), new Base(3)));
			Own.count();
		}
	}

	/** Its superclass's constructor throws: no handler can see that exit. */
	static class Failing extends Base {
		Failing() {
			super(-Own.count());
		}
	}

	/** Throws before it calls super(). */
	static class Early extends Base {
		Early(Object o) {
			super(Own.count() + o.hashCode() * 0);
		}
	}

	enum Shape {
		ROUND, SQUARE {
			@Override
			int corners() {
				Own.count();
				return 4;
			}
		};

		int corners() {
			Own.count();
			return 0;
		}
	}

	record Point(int x, long y) {
		Point {
			Own.count();
			if (x < 0) {
				throw new IllegalArgumentException();
			}
		}
	}

	static class Unlucky {
		static {
			Own.count();
			fail();
		}

		static void fail() {
			Own.count();
			throw new IllegalStateException();
		}
	}

	private static boolean fails(Supplier<?> s) {
		Own.count();
		try {
			s.get();
			return false;
		} catch (RuntimeException | LinkageError e) {
			return true;
		}
	}

	void constructors() {
		Own.count();
		int fixed = 5;
		Base anonymous = new Base(3) {
			@Override
			public String toString() {
				Own.count();
				return "anonymous" + fixed;
			}
		};
		Own.check(anonymous.toString().equals("anonymous5"), "anonymous");
		Own.check(new Derived(true).n == 6 && new Derived(false).n == 26, "derived");
		for (int i = 1; i < 16; i++) {
			int n = i;
			Own.check(fails(() -> new Derived(n)) == (i % 8 == 0), "derived " + i);
		}
		Own.check(fails(() -> new Derived(-11)), "negative");
		Own.check(fails(() -> {
			Own.FAILED_SUPERS.increment();
			return new Failing();
		}), "failing");
		Own.check(fails(() -> new Early(null)) && !fails(() -> new Early("")), "early");
		Own.check(fails(() -> new Point(-1, 2)) && new Point(1, 2).y() == 2, "record");
		Own.check(fails(Unlucky::new), "class initializer");
		for (Shape s : Shape.values()) {
			switch (s) {
			case ROUND -> Own.check(s.corners() == 0, "round");
			case SQUARE -> Own.check(s.corners() == 4, "square");
			}
		}
	}

	// Switches, types -----------------------------------------------------------------------------------

	static int dense(int n) {
		Own.count();
		switch (n) {
		case 0:
			return 7;
		case 1:
			n += 2;
		case 2:
			return n;
		case 3:
			throw new IllegalArgumentException();
		default:
			return -n;
		}
	}

	static String sparse(int n, String s) {
		switch (n) {
		case -100000:
			Own.count();
			return "low" + s;
		case 77:
			Own.count();
			break;
		case 1 << 30:
			Own.count();
			return null;
		default:
			Own.count();
			return switch (s) {
			case "a" -> "A";
			case "b" -> "B";
			default -> dense(n) + s;
			};
		}
		return s;
	}

	static double wide(long a, double b, float c, long d) {
		Own.count();
		return a * b + c + d;
	}

	static long longs(byte b, short s, char c, boolean z, long... more) {
		Own.count();
		long sum = b + s + c + (z ? 1 : 0);
		for (long l : more) {
			sum += l;
		}
		return sum;
	}

	static float single(float f) {
		Own.count();
		return f / 2;
	}

	static void types() {
		Own.count();
		for (int i = -1; i < 6; i++) {
			int n = i;
			Own.check(fails(() -> dense(n)) == (i == 3), "dense");
		}
		Own.check(dense(0) == 7 && dense(1) == 3 && dense(9) == -9, "dense values");
		Own.check("lowx".equals(sparse(-100000, "x")) && "y".equals(sparse(77, "y")), "sparse");
		Own.check(sparse(1 << 30, "") == null && "A".equals(sparse(5, "a")), "sparse");
		Own.check("-5q".equals(sparse(5, "q")), "sparse");
		Own.check(wide(1L << 40, 2.0, 1.5f, -1) == 0x1p41 + 0.5, "wide");
		Own.check(longs((byte) 1, (short) 2, 'a', true, 1L << 33, 5) == 106 + (1L << 33), "longs");
		Own.check(single(3) == 1.5f, "single");
	}

	// Monitors --------------------------------------------------------------------------------------------

	private final Object lock = new Object();
	private int shared;

	synchronized int instance(int n) {
		Own.LOCKS.increment();
		Own.count();
		return n == 0 ? shared : instance(n - 1);
	}

	static synchronized void ofClass(boolean fail) {
		Own.LOCKS.increment();
		Own.count();
		if (fail) {
			throw new IllegalStateException();
		}
	}

	int blocks(int n) {
		Own.count();
		synchronized (lock) {
			Own.LOCKS.increment();
			synchronized (this) {
				Own.LOCKS.increment();
				shared++;
				if (n == 0) {
					throw new IllegalStateException();
				}
				if (n == 1) {
					return 1;
				}
			}
		}
		for (int i = 0; i < 3; i++) {
			synchronized (lock) {
				Own.LOCKS.increment();
				if (i == 1) {
					continue;
				}
				shared--;
			}
		}
		return n;
	}

	void monitors() {
		Own.count();
		instance(3);
		ofClass(false);
		Own.check(fails(() -> {
			ofClass(true);
			return null;
		}), "synchronized throws");
		Own.check(fails(() -> blocks(0)) && blocks(1) == 1 && blocks(2) == 2, "blocks");
	}

	// Lambdas, interfaces -----------------------------------------------------------------------------------

	interface Greeter<T> {
		T greet(T t);

		default T twice(T t) {
			Own.count();
			return again(greet(t));
		}

		private T again(T t) {
			Own.count();
			return greet(t);
		}

		static int sum(int n) {
			Own.count();
			return IntStream.range(0, n).map(i -> {
				Own.count();
				IntUnaryOperator inner = k -> {
					Own.count();
					return k + i;
				};
				return inner.applyAsInt(i);
			}).sum();
		}
	}

	static class Polite implements Greeter<String> {
		@Override
		public String greet(String s) { // with a bridge for Object
			Own.count();
			return "dear " + s;
		}
	}

	static void lambdas() {
		Own.count();
		Greeter<String> g = new Polite();
		Own.check(g.twice("x").equals("dear dear x"), "default method");
		Own.check(Greeter.sum(10) == 90, "streams");
		Supplier<Supplier<String>> nested = () -> {
			Own.count();
			return () -> {
				Own.count();
				return "in";
			};
		};
		Own.check(nested.get().get().equals("in"), "nested lambda");
	}

	// What is passed on ---------------------------------------------------------------------------------------

	Object give(Object o) {
		Own.count();
		return o;
	}

	static Object giveStatic(Object o) {
		Own.count();
		return o;
	}

	int giveInt(Object o) {
		Own.count();
		if (o == null) {
			throw new IllegalArgumentException();
		}
		return 1;
	}

	static class Made {
		Made() {
			Own.count();
		}
	}

	private static Object last(String what, String method) throws ReflectiveOperationException {
		return probe("last" + what, number(method));
	}

	void identities() throws ReflectiveOperationException {
		Own.count();
		Object o = new Object();
		Own.check(give(o) == o && last("Result", "Calls give") == o && last("Receiver", "Calls give") == this
				&& last("Entered", "Calls give") == this, "instance");
		Own.check(giveStatic(o) == o && last("Result", "Calls giveStatic") == o
				&& last("Receiver", "Calls giveStatic") == null, "static");
		Own.check(giveInt(o) == 1 && last("Result", "Calls giveInt") == null
				&& last("Receiver", "Calls giveInt") == this, "int");
		probe("forget", number("Calls giveInt"));
		Own.check(fails(() -> giveInt(null)) && last("Receiver", "Calls giveInt") == this, "thrown");
		Object made = new Made();
		Own.check(last("Receiver", "Calls$Made <init>") == made && last("Entered", "Calls$Made <init>") == null,
				"constructor");
	}

	// The comparison --------------------------------------------------------------------------------------------

	private static final Map<String, Integer> NUMBERS = new ConcurrentHashMap<>();

	private static int number(String start) {
		for (Map.Entry<String, Integer> e : NUMBERS.entrySet()) {
			if (e.getKey().startsWith(start + " ")) {
				return e.getValue();
			}
		}
		throw new IllegalStateException(start);
	}

	static Object probe(String method, int number) throws ReflectiveOperationException {
		for (Method m : Class.forName("java.lang.JProbe$").getMethods()) {
			if (m.getName().equals(method) && m.getParameterCount() == 1) {
				try {
					return m.invoke(null, number);
				} catch (InvocationTargetException e) {
					throw new IllegalStateException(e.getCause());
				}
			}
		}
		throw new NoSuchMethodException(method);
	}

	static void all() {
		Own.count();
		Calls c = new Calls();
		Own.check(fib(10) == 55 && caught(10) == 6 && throwers() == 2 && endless(4) == -1, "recursion");
		for (int i = 0; i < 12; i++) {
			overruled(i);
		}
		c.constructors();
		types();
		c.monitors();
		lambdas();
	}

	private static void run(int rounds, int threads) throws Exception {
		new Calls().identities();
		List<Thread> list = new ArrayList<>();
		for (int t = 0; t < threads; t++) {
			list.add(new Thread(() -> {
				for (int i = 0; i < rounds; i++) {
					all();
				}
			}));
		}
		list.add(new Thread(Calls::overflowing));
		for (Thread t : list) {
			t.start();
		}
		for (Thread t : list) {
			t.join();
		}
	}

	/** Not counted by themselves: those that only the compiler knows, and those at work just now. */
	private static void compare() throws ReflectiveOperationException {
		long calls = 0;
		int methods = 0;
		for (Map.Entry<String, Integer> e : NUMBERS.entrySet()) {
			String name = e.getKey();
			long entered = (long) probe("entered", e.getValue());
			long left = (long) probe("left", e.getValue());
			LongAdder own = Own.CALLS.remove(name);
			if (name.matches("Calls (main|compare|probe|overflow|number) .*")) {
				continue;
			}
			long lost = name.startsWith("Calls$Failing <init>") ? Own.FAILED_SUPERS.sum() : 0;
			Own.check(own == null || entered == own.sum(), name + " entered " + entered + " own " + own);
			Own.check(left == entered - lost, name + " entered " + entered + " left " + left + " lost " + lost);
			calls += entered;
			methods += entered > 0 ? 1 : 0;
		}
		Own.CALLS.keySet().forEach(k -> Own.check(false, k + " was not rewritten"));
		long locked = (long) probe("locks", 0);
		long unlocked = (long) probe("locks", 1);
		Own.check(locked == Own.LOCKS.sum() && unlocked == locked, "locked " + locked + " unlocked " + unlocked
				+ " own " + Own.LOCKS.sum());
		Own.check((long) probe("errors", 0) == 0, "errors: " + probe("errors", 0));
		System.out.println("methods " + methods + " calls " + calls + " locks " + locked + " repaired "
				+ probe("repaired", 0));
	}

	public static void main(String[] args) throws Exception {
		for (String line : Files.readAllLines(Path.of(args[0]))) {
			int space = line.indexOf(' ');
			NUMBERS.put(line.substring(space + 1).replace('/', '.').replaceFirst("^(\\S+ \\S+) .*", "$1 ")
					+ line.substring(line.lastIndexOf(' ') + 1), Integer.valueOf(line.substring(0, space)));
		}
		run(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
		compare();
		if (Own.differs) {
			System.exit(1);
		}
	}
}
