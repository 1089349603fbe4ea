#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: a recorder that is stopped for a second loses records; all are counted by type and shown.
# lab-timeout: 600
# lab-suite: trixie
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 375_loss_is_shown BACKEND=kmod ROUNDS=8000
