#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The guest itself is what the other tests rely on: the TSC as clock source, tracefs, every JVM of the suite.

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
