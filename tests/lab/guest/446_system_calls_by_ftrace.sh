#!/bin/bash
# SPDX-License-Identifier: MIT
# The calls a program makes are in the trace of the ftrace backend too.
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
e2e 160_system_calls_are_recorded
