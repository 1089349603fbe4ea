#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: of a Tomcat under load, run and ready times and switches of each thread are those of the
# kernel's own books. Runs by name only, under -icount with one CPU (see i300).
# lab-timeout: 900
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 305_tomcat_states_are_true BACKEND=kmod PER_SWITCH=2000 JVM_OPTIONS="-Xmx256m ${jvm_fast[*]}"
