#!/bin/bash
# SPDX-License-Identifier: MIT
# What woke a thread, by the ftrace backend.
# shellcheck source=tests/lab/guest/lib.sh
# lab-suite: bookworm
. "$(dirname "$0")/lib.sh"
e2e 169_wakers_by_ftrace
