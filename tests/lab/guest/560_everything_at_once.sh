#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Twenty seconds of everything at once: sessions and recorders that come, are killed and go, threads by the thousand,
# pipes and futexes at full speed, CPUs off and on, the module out and in. The kernel stays well, nothing is left,
# and of the loads that count for themselves all is recorded or counted as lost. The long one is s560.
# lab-timeout: 600

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lab/guest/stress.lib.sh
. "$(dirname "$0")/stress.lib.sh"

stress 5 20 60000 14
