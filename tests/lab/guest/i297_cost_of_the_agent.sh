#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the module and the agent cost a request of a Tomcat under wrk, as tests/bench/agent_cost.sh measures it, but in
# instructions: a ns is one of anybody's, and nothing of the host is in it. JDK 17 on bookworm, 21 on trixie. By name only:
#   ICOUNT=1 SMP=1 AGENT_ROUNDS=6 PAGES=servlets/servlet/HelloWorldExample \
#     APPEND="jis.icount clearcpuid=erms,fsrm nvme_core.io_timeout=1000000 sysctl.kernel.hung_task_timeout_secs=0" \
#     tests/lab/run.sh bookworm i297
# Asserts that each request was answered, and that nothing was lost; what it costs it prints (docs/benchmarks.md).
# lab-timeout: 14400

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

grep -q jis.icount /proc/cmdline || skip "only under -icount, where instructions are time"
load_module
JAVA=$(command -v java) WARM=30 SETTLE=15 /lab/job/tree/tests/bench/agent_cost.sh "$JIS_BUILD" "${AGENT_ROUNDS:-6}" 4 \
	>"$LAB_OUT/cost" 2>"$LAB_OUT/progress" || fail "$(tail -n 5 "$LAB_OUT/progress")"
cat "$LAB_OUT/cost"
grep -q '^the agent: median' "$LAB_OUT/cost" || fail "no figure"
! grep 'were lost' "$LAB_OUT/cost" || fail "what is lost costs less"
ok "$(grep '^the agent: ' "$LAB_OUT/cost")"
