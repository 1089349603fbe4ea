#!/bin/bash
# SPDX-License-Identifier: MIT
# With jis.ko: kill -9 of a JVM loses no marker it had printed; kill -9 of the recorder keeps what is older
# than the flush interval, and leaves nothing in the kernel.
# lab-timeout: 600
# lab-suite: bookworm
# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"
load_module
e2e 340_killed_jvm_loses_nothing BACKEND=kmod KILLS=1 PRINTED=1000 || exit $?
ok "killed JVM"
rm -rf "${LAB_TMP:?}"/*
e2e 350_killed_recorder_keeps_what_was_flushed BACKEND=kmod || exit $?
ok "killed recorder"
wait_for 10 "the module to be free" rmmod jis
