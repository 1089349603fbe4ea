#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is called between pause and resume is nowhere, all that is called before and after is, and what is called in the
# next recording of the JVM.
# Runs beside others.
. "$(dirname "$0")/lib_methods.sh"
need_root

said() { grep -q "^$1" out; }
round=0
ask() { # CALLS
	echo "$1" >&9
	round=$((round + 1))
	wait_for 60 said "DONE $round"
}
attached() { "$JIS" attach -q -o "$1" "$jvm" 2>/dev/null; }
begin() { # TRACE
	"${RECORD[@]}" -q --pool 64M --methods 'PausedCalls.work' --methods-budget 0 -o "$1" -p $jvm 2>rec &
	host=$!
	wait_for 60 attached "$1"
}
end() {
	kill -INT $host
	wait $host || [ $? = 130 ] || { cat rec; fail "jis record ended with $?"; }
}
expect_calls() { # TRACE CALLS
	"$JIS" stats --json "$1" >stats.json
	python3 - stats.json "$2" <<-'PY'
		import json, sys
		told = json.load(open(sys.argv[1]))
		print(told["calls"], told["lines"])
		assert told["calls"] == int(sys.argv[2]), sys.argv[2]
		assert [m["method"] for m in told["lines"]] == ["PausedCalls.work"]
		assert sum(m["repaired"] + m["lost"] + m["inside"] for m in told["lines"]) == 0
	PY
}

one_jvm() { # VERSION JAVA
	rm -rf in out t1 t2
	round=0
	mkfifo in
	"$2" -cp "$CLASSES" -Xbatch PausedCalls <in >out 2>err &
	jvm=$!
	exec 9>in
	wait_for 60 said UP
	begin t1
	ask 200000
	expect_status 0 "$JIS" pause t1
	ask 3
	ask 50000
	expect_status 0 "$JIS" resume t1
	ask 7
	expect_status 0 "$JIS" pause t1
	expect_status 0 "$JIS" resume t1
	ask 30000
	expect_status 0 "$JIS" pause t1
	ask 11
	end
	ask 40000
	expect_calls t1 230007
	begin t2
	ask 5000
	end
	ask 100
	expect_calls t2 5000
	exec 9>&-
	wait $jvm || { cat err; fail "the JVM ended with $?"; }
}

while read -r version java; do
	echo "== $version"
	one_jvm "$version" "$java"
done < <(jdks)
