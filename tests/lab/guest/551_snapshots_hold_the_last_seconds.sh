#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko, whose rings cycle by themselves: a snapshot holds the last seconds, from both sides.
# lab-timeout: 600
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 180_snapshots_hold_the_last_seconds BACKEND=kmod
