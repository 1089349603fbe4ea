#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: locks of the VM have their names, and none of the program's waits has one; also in a snapshot of the module's own
# rings. Each JDK of the suite.
# lab-timeout: 1200
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 259_futexes_have_names BACKEND=kmod MS=8000
