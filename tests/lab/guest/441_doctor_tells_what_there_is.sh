#!/bin/bash
# SPDX-License-Identifier: MIT
# What doctor says of both backends is what the documentation has, and what there is.
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 107_doctor_tells_what_there_is
