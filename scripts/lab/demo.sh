#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make lab-demo: the demo in the guest lab, with jis.ko. Leaves trace and Paraver files in
# build/lab-demo/KERNEL/ for each suite's kernel. Usage: scripts/lab/demo.sh [SUITE...]
set -euo pipefail
cd "$(dirname "$0")/../.."

[ $# -gt 0 ] || set -- bookworm trixie
make --no-print-directory demo-classes
for suite in "$@"; do
	scripts/lab/image.sh "$suite"
	scripts/lab/build.sh "$suite"
	tests/lab/run.sh "$suite" demo
	kernel=$(cat "build/lab-out/$suite/demo/kernel")
	out=build/lab-demo/$kernel
	rm -rf "$out"
	mkdir -p "$out"
	cp -r "build/lab-out/$suite/demo/." "$out/"
	cat "$out/report.txt"
	echo "lab-demo: kernel $kernel: $out/tomcat.prv .pcf .row, trace in $out/trace"
done
