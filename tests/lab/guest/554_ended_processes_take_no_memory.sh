#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: a flight recorder forgets processes that have ended.
# lab-timeout: 900
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 182_ended_processes_take_no_memory BACKEND=kmod FIRST=1040 BROOD=300
