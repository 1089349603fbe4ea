; SPDX-License-Identifier: MIT
; fib says itself how often it was called.
(ns told)
(def calls (atom 0))
(defn fib [n]
  (swap! calls inc)
  (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defn caught [n]
  (swap! calls inc)
  (try (if (zero? n) (throw (RuntimeException. "bottom")) (caught (dec n)))
       (finally (fib 1))))
(println "RESULT" (fib 12) (try (caught 9) (catch RuntimeException e (.getMessage e))))
(println "CALLS" @calls)
