// SPDX-License-Identifier: MIT

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import jis.Jis;
import jis.Span;

/**
 * LU reduction of a matrix by two threads that meet at a barrier after each column: the CPU-bound,
 * synchronising servlet of the demonstration. The answer holds the determinant's logarithm, so that a
 * wrong reduction is seen.
 */
public class LuServlet extends HttpServlet {
	private static final long serialVersionUID = 1L;
	private static final int THREADS = 2;

	@Override
	protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
		int n = size(request.getParameter("n"));
		double[][] a = matrix(n);
		try (Span span = Jis.begin("LU reduction")) {
			reduce(a);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
			return;
		}
		double logDeterminant = 0;
		for (int i = 0; i < n; i++)
			logDeterminant += Math.log(Math.abs(a[i][i]));
		response.setContentType("text/plain");
		response.getWriter().printf("n %d log|det| %.6f%n", n, logDeterminant);
	}

	private static int size(String text) {
		int n = text == null ? 200 : Integer.parseInt(text);
		return Math.max(2, Math.min(n, 1000));
	}

	/** A diagonally dominant matrix, the same for each n, so that no pivoting is needed. */
	private static double[][] matrix(int n) {
		Random random = new Random(n);
		double[][] a = new double[n][n];
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++)
				a[i][j] = random.nextDouble();
			a[i][i] += n;
		}
		return a;
	}

	private static void reduce(double[][] a) throws InterruptedException {
		CyclicBarrier columnDone = new CyclicBarrier(THREADS);
		Thread[] workers = new Thread[THREADS];
		for (int id = 0; id < THREADS; id++) {
			int self = id;
			workers[id] = new Thread(() -> reduceShare(a, self, columnDone), "LU worker " + id);
			workers[id].start();
		}
		for (Thread worker : workers)
			worker.join();
	}

	private static void reduceShare(double[][] a, int self, CyclicBarrier columnDone) {
		int n = a.length;
		try {
			for (int k = 0; k < n - 1; k++) {
				for (int i = k + 1; i < n; i++) {
					if (i % THREADS != self)
						continue;
					double factor = a[i][k] /= a[k][k];
					for (int j = k + 1; j < n; j++)
						a[i][j] -= factor * a[k][j];
				}
				columnDone.await();
			}
		} catch (InterruptedException | BrokenBarrierException e) {
			throw new IllegalStateException(e);
		}
	}
}
