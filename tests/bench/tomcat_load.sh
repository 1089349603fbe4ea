# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by benches: a mixed load of Tomcat's examples, of its servlets and JSPs in turn, or of PAGES (below /examples), in
# eight sessions.

# pages_make PORT FILE: the script for wrk.
pages_make() {
	local port=$1 page pages servlets jsps
	servlets=(HelloWorldExample RequestInfoExample RequestHeaderExample RequestParamExample CookieExample SessionExample)
	jsps=(dates/date snp/snoop jsp2/el/basic-arithmetic num/numguess jsp2/tagfiles/hello forward/forward
		jsp2/simpletag/hello sessions/carts)
	read -ra pages <<<"${PAGES:-${servlets[*]/#/servlets/servlet/} $(printf 'jsp/%s.jsp ' "${jsps[@]}")}"
	{
		echo 'local pages = {'
		printf '"/examples/%s",\n' "${pages[@]}"
		echo '}; local sessions = {'
		for _ in 1 2 3 4 5 6 7 8; do
			curl -fsS -o /dev/null -D - "http://127.0.0.1:$port/examples/servlets/servlet/SessionExample" |
				sed -n 's/^Set-Cookie: \(JSESSIONID=[0-9A-F.]*\);.*/"\1",/p'
		done
		echo '}; local n = 0'
		echo 'request = function() n = n + 1; return wrk.format("GET", pages[n % #pages + 1], {Cookie = sessions[n % #sessions + 1]}) end'
	} >"$2"
	[ "$(grep -c JSESSIONID "$2")" = 8 ] || { echo "no sessions" >&2; return 1; }
	for page in "${pages[@]}"; do
		curl -fsS -o /dev/null "http://127.0.0.1:$port/examples/$page" || { echo "no $page" >&2; return 1; }
	done
}

# load PORT FILE SECONDS: prints the requests made.
load() {
	wrk -t1 -c8 --timeout 60s -d"$3s" -s "$2" "http://127.0.0.1:$1" |
		awk '/requests in/ { print n = $1 } /Non-2xx|Socket errors/ { print "wrk: " $0 >"/dev/stderr"; exit 1 }
			END { if (!n) { print "wrk made no request" >"/dev/stderr"; exit 1 } }'
}

# cpu_of PID: its CPU time in microseconds, by its own clock (clock_getcpuclockid), of threads that live and that have ended.
cpu_of() { python3 -c "import time; print(time.clock_gettime_ns((~$1 << 3) | 2) / 1000)"; }

# jit_of PID: CPU time of its compiler threads that live, in microseconds.
jit_of() {
	{ cat /proc/"$1"/task/*/stat 2>/dev/null || true; } | sed -n 's/.*(C[12] CompilerThre[^)]*) //p' |
		awk -v hz="$(getconf CLK_TCK)" '{ t += $12 + $13 } END { print t / hz * 1e6 }'
}

# records_of TRACE: of the kernel's, of the agent's, and those lost; of no trace zeros.
records_of() {
	[ -d "$1" ] || { echo 0 0 0; return; }
	python3 - "$1/manifest.json" <<'PY'
import json, sys
m = json.load(open(sys.argv[1]))
kernel = java = lost = 0
for s in m["streams"]:
    n = sum(s["stored"].values())
    lost += sum(s["lost"].values())
    if s["path"].startswith("jvm-"): java += n
    else: kernel += n
print(kernel, java, lost)
PY
}
