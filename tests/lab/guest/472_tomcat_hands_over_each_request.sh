#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: Tomcat's threads have their names, its connections are the client's, by port, its hand-overs the access log's requests;
# of what its workers wait for inside of requests at least 99 % has a reason.
# lab-timeout: 900
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 275_tomcat_hands_over_each_request BACKEND=kmod
