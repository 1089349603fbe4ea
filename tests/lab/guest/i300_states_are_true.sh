#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: run and ready times and switches of each thread are those of the kernel's own books. Runs by
# name only, under -icount with one CPU (tests/run.sh): elsewhere the emulator itself is preempted between the
# scheduler's clock and the tracepoint, by milliseconds, and that is neither's fault.
# lab-timeout: 600
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
# Under emulation the way from the scheduler's clock to the tracepoint takes microseconds.
e2e 300_states_are_true BACKEND=kmod SCALE=0.5 PER_SWITCH=2000
