#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: run and ready times and switches of each thread are those of the kernel's own books.
# lab-timeout: 600
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 300_states_are_true BACKEND=kmod SCALE=0.5
