#!/bin/bash
# SPDX-License-Identifier: MIT
# Single threads and cgroups as targets of the ftrace backend.
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
e2e 166_threads_and_cgroups_by_ftrace
