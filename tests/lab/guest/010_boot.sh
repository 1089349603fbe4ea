#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The guest itself is what the other tests rely on: the TSC as clock source, tracefs,
# every JVM of the suite, and (bookworm) a Tomcat that answers a servlet and a JSP request.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
[ "$clock" = tsc ] || fail "the clock source is $clock, not tsc"
ok "clock source tsc"

[ -e /sys/kernel/tracing/events/sched/sched_switch/id ] || fail "tracefs is not mounted with its events"
ok "tracefs"

for jvm in /usr/lib/jvm/java-*; do
	[ -L "$jvm" ] || "$jvm/bin/java" -version || fail "$jvm/bin/java does not run"
done
ok "java"

# shellcheck disable=SC2119 # no JVM options
# Of the two guests of a lab run the other one's Tomcat is looked at as a whole (472).
! grep -q '^VERSION_CODENAME=trixie' /etc/os-release || exit 0
start_tomcat
ok "servlet after $SECONDS s"
curl -sf -m 120 "$tomcat_url/jsp/jsp2/el/basic-arithmetic.jsp" >"$LAB_OUT/jsp.html" ||
	fail "no answer to a JSP request; Tomcat's log ends: $(tail -n 20 "$LAB_OUT/tomcat.log")"
grep -q '<td>3.0</td>' "$LAB_OUT/jsp.html" || grep -q '<td>3</td>' "$LAB_OUT/jsp.html" ||
	fail "the JSP did not compute 1 + 2: $(head -c 2000 "$LAB_OUT/jsp.html")"
ok "JSP after $SECONDS s"
stop_tomcat
