#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko, whose rings are overwritten: names of foreign threads and of descriptors are in snapshots.
# lab-timeout: 600
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 183_snapshots_tell_the_names_they_use BACKEND=kmod WAIT=15
