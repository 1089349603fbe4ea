#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording costs the kernel, in guest instructions: builds for trixie (or the suite named), runs i290 and i291
# under -icount, and prints their tables. Nothing here fails for being slow.
# Usage: tests/bench/lab.sh [SUITE]
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:-trixie}

scripts/lab/build.sh "$suite" >/dev/null
export ICOUNT=1 SMP=1
# erms, fsrm: the emulator counts each byte that one such instruction copies as one.
export APPEND="jis.icount clearcpuid=erms,fsrm nvme_core.io_timeout=1000000 sysctl.kernel.hung_task_timeout_secs=0"
status=0
tests/lab/run.sh "$suite" i290 i291 || status=$?
for table in build/lab-out/"$suite"-icount/i29*/cost; do
	printf '\n%s\n' "$table:"
	cat "$table"
done
exit $status
