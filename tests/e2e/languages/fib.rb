# SPDX-License-Identifier: MIT
# fib says itself how often it was called.
$calls = 0

def fib(n)
  $calls += 1
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

def caught(n)
  $calls += 1
  raise "bottom" if n == 0
  caught(n - 1)
ensure
  fib(1)
end

result = fib(12)
begin
  caught(9)
rescue => e
  puts "RESULT #{result} #{e.message}"
end
puts "CALLS #{$calls}"
