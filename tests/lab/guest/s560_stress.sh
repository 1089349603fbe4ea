#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The stress test: 560 for STRESS_SECONDS (1500) and STRESS_EVENTS recorded events (100 million), whichever takes
# longer, with 100 reloads of the module. By name only (make lab-debug).
# lab-timeout: 7200

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/stress.lib.sh
. "$(dirname "$0")/stress.lib.sh"

stress "${STRESS_ROUND:-60}" "${STRESS_SECONDS:-1500}" "${STRESS_EVENTS:-100000000}" 100
