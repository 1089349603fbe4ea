// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Calls a method as often as each line of its input says, and then says so. */
public class PausedCalls {
	static int sum;

	static int work(int n) {
		return n * 31 + 7;
	}

	static void calls(int n) {
		for (int i = 0; i < n; i++) {
			sum = work(sum);
		}
	}

	public static void main(String[] args) throws IOException {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		int all = 0;
		System.out.println("UP");
		for (String line; (line = in.readLine()) != null;) {
			calls(Integer.parseInt(line));
			all++;
			System.out.println("DONE " + all);
		}
	}
}
