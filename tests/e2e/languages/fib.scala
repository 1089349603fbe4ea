// SPDX-License-Identifier: MIT

/** fib says itself how often it was called. */
object Told {
  var calls = 0

  def fib(n: Int): Int = {
    calls += 1
    n match {
      case 0 | 1 => n
      case _ => fib(n - 1) + fib(n - 2)
    }
  }

  def caught(n: Int): Int = {
    calls += 1
    try {
      if (n == 0) throw new IllegalStateException("bottom") else caught(n - 1)
    } finally {
      fib(1)
    }
  }

  def main(args: Array[String]): Unit = {
    val result = fib(12)
    try {
      caught(9)
    } catch {
      case e: IllegalStateException => println(s"RESULT $result ${e.getMessage}")
    }
    println(s"CALLS $calls")
  }
}
