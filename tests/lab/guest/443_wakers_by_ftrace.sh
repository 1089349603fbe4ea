#!/bin/bash
# SPDX-License-Identifier: MIT
# What woke a thread, by the ftrace backend.
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
e2e 169_wakers_by_ftrace
