#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: babeltrace2 reads the raw trace without a complaint and agrees with jis dump.
# lab-timeout: 600
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 310_babeltrace_agrees BACKEND=kmod SCALE=0.3 LEAST=5000
