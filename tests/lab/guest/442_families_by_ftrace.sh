#!/bin/bash
# SPDX-License-Identifier: MIT
# Families of events by the ftrace backend.
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
e2e 165_families_by_ftrace
