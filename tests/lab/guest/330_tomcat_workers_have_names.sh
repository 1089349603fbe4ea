#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: a Tomcat trace shows each worker, acceptor and poller by its full name.
# lab-timeout: 900
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 330_tomcat_workers_have_names BACKEND=kmod
