#!/bin/bash
# SPDX-License-Identifier: MIT
# The demo with jis.ko: Tomcat under load; trace and Paraver files come out. No test of its own: it is
# run by name only (scripts/lab/demo.sh).
# lab-timeout: 900
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
cd /lab/job/tree || exit 1
DEMO_JVM_OPTIONS="-Xmx256m ${jvm_fast[*]}" bash scripts/demo.sh "$JIS_BUILD" 20 6 || fail "the demo failed"
grep -q 'with the kmod backend' "$JIS_BUILD/demo/record.log" || fail "the demo was not recorded by the module"
cp -r "$JIS_BUILD"/demo/{trace,cfg,report.txt,record.log,tomcat.prv,tomcat.pcf,tomcat.row} "$LAB_OUT/"
uname -r >"$LAB_OUT/kernel"
