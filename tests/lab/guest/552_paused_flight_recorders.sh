#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: snapshots of a paused flight recorder.
# lab-timeout: 600
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 181_a_paused_recorder_gives_snapshots BACKEND=kmod
