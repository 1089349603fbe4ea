#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs by name, everybody, and until exec as targets of the ftrace backend.
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
e2e 167_programs_and_everybody_by_ftrace
