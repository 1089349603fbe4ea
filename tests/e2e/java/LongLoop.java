// SPDX-License-Identifier: MIT

/**
 * A loop whose only calls are of methods that may be traced, of a kind in which a compiler keeps no other place to stop
 * at, goes on while the JVM stops all threads, STOPS times, by collections that are asked for. Prints "stopped" after
 * each, and how often the loop has called.
 */
public class LongLoop {
    static long calls;

    public static class Told {
        static void step() {
            calls++;
        }
    }

    /** Calls another method of its own kind again and again, in one call that does not end. */
    public static class Library {
        static void nested() {
            calls++;
        }

        static void loop() {
            long i = 0;
            do {
                i += 2;
                nested();
            } while (i < 100_000_000_000L);
        }
    }

    static void loop() {
        long i = 0;
        do {
            i += 2;
            Told.step();
        } while (i < 100_000_000_000L);
    }

    /** "told" or "library", STOPS. */
    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(args[0].equals("told") ? LongLoop::loop : Library::loop);
        thread.setDaemon(true);
        thread.start();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            Thread.sleep(200);
            System.gc();
            System.out.println("stopped " + calls);
        }
    }
}
