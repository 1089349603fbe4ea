#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the agent costs a request of Tomcat's example servlet, and the module, with JDK 17 (bookworm) or 21: CPU time under wrk, arms in turn. Asserts
# nothing. With ICOUNT=1 SMP=1 a ns is a guest instruction, and nothing of the host is in it:
#   ICOUNT=1 SMP=1 ROUNDS=6 tests/lab/run.sh trixie i297
# lab-timeout: 14400

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
java=$(command -v java)
WARM=${WARM:-15} JAVA=$java /lab/job/tree/tests/bench/agent_cost.sh "$JIS_BUILD" "${ROUNDS:-6}" 3 2>"$LAB_OUT/progress" | tee "$LAB_OUT/cost" ||
	fail "$(tail -n 5 "$LAB_OUT/progress")"
