#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko, which tells what descriptors are: connections have their addresses, both traced ends of one find one
# another, and each request and answer is a message from end to end.
# lab-timeout: 600
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 270_connections_are_handed_over BACKEND=kmod
