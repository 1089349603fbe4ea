#!/bin/bash
# SPDX-License-Identifier: MIT
#
# boot.sh SUITE JOBDIR OUTDIR: boots the lab guest of SUITE (kasan, kcsan: trixie's, with that kernel of
# debug-kernel.sh) under QEMU, has it run
# JOBDIR/run.sh (as /lab/job/run.sh), shows what that prints and puts what it left
# in /lab/out into OUTDIR, with `log` (the job's output), `console` and `dmesg`.
#
# Exit status: the job's; 124 it took longer than TIMEOUT; 125 the guest ended
# without a status or complete results; 126 the kernel complained about itself (complaints.sh), unless
# JOBDIR/dmesg.allow lists the complaint; 127 the guest could not be started.
#
# Environment: SMP (2), NODES (1, NUMA nodes that share CPUs and memory evenly), MEM (3072, MiB), TIMEOUT (600,
# seconds), APPEND (more kernel parameters), SILENCE (seconds without output after which the guest counts as hung and
# is stopped, also with status 124; off), ICOUNT=1 (the guest's clock counts instructions: 1 ns each, or
# two to the power of ICOUNT_SHIFT; repeats to a fraction of a per cent, but CPUs run in turn, and 6.1 needs SMP=1), KERNEL
# (another bzImage, with ext4 and nvme built in), OUT_MB (1024, most that comes out).

set -uo pipefail
# shellcheck source=scripts/lab/lib.sh
. "$(dirname "$0")/lib.sh"

fail()
{
	local status=$1

	shift
	say "$@"
	exit "$status"
}

[ $# = 3 ] || fail 127 "usage: boot.sh SUITE JOBDIR OUTDIR"
lab_suite "$1"
job=$2 out=$3
[ -f "$job/run.sh" ] || fail 127 "$job/run.sh is missing: it is what the guest runs"
lab_need qemu-system-x86_64=qemu-system-x86 flock=util-linux timeout=coreutils setpriv=util-linux
"$lab_dir/image.sh" "$lab_image" || fail 127 "there is no image of $lab_image to boot"
if [ -n "$lab_debug" ]; then
	"$lab_dir/debug-kernel.sh" "$suite" || fail 127 "there is no kernel $suite to boot"
	KERNEL=${KERNEL:-$lab_kernel}
fi

smp=${SMP:-2} nodes=${NODES:-1}
[ $((smp % nodes)) = 0 ] && [ $((${MEM:-3072} % nodes)) = 0 ] ||
	fail 127 "SMP=$smp CPUs and MEM=${MEM:-3072} MiB cannot be shared evenly by NODES=$nodes"
# QEMU 7.2 with a thread for each CPU loses the patching of code that another CPU runs: switching
# tracepoints under load ends in "Oops: int3" without any module of ours; 10.0 does not.
thread=multi
[ "$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9]*\).*/\1/p;q')" -ge 10 ] || thread=single
accel=tcg,thread=$thread,tb-size=512
icount=()
append=${APPEND:-}
if [ "${ICOUNT:-}" = 1 ]; then
	accel=tcg,thread=single,tb-size=512
	icount=(-icount "shift=${ICOUNT_SHIFT:-0},sleep=off")
	if [ "$suite" = bookworm ] && [ "$smp" != 1 ]; then
		fail 127 "ICOUNT=1 needs SMP=1 on bookworm: its kernel hangs when it starts a second CPU that way"
	fi
fi
# warnings on the console too, for a guest that dies; the driver's marks are never dropped
append="loglevel=5 printk.devkmsg=on log_buf_len=4M oops=panic panic=-1 $append"
# 6.1 takes QEMU's TSCs for unsynchronised and falls back to a slow clock
[ "$suite" != bookworm ] || append="tsc=reliable $append"
# all that KASAN finds is told; who waits long for a CPU of a slow guest is not stuck
[ -z "$lab_debug" ] || append="tsc=reliable kasan_multi_shot rcupdate.rcu_cpu_stall_timeout=300 $append"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ tar -cf "$work/in" -C "$job" --transform 's,^\.,job,S' . &&
	truncate -s %1M "$work/in" && truncate -s "${OUT_MB:-1024}M" "$work/out"; } ||
	fail 127 "cannot write the guest's drives in $work: is the disk full? (TMPDIR names another place)"
rm -rf "$out"
mkdir -p "$out" || fail 127 "cannot make the folder $out"

# Opened under the lock, image and kernel belong together and stay, whatever image.sh does.
exec 6<"$lab_cache/lock"
flock -s 6
[ -r "${KERNEL:-$lab_cache/vmlinuz}" ] || fail 127 "cannot read the kernel KERNEL=$KERNEL"
exec 7<"$lab_cache/guest.ext4" 8<"${KERNEL:-$lab_cache/vmlinuz}"
exec 6<&-

drive()	# ID FILE DEVICE OPTIONS
{
	qemu+=(-drive "if=none,id=$1,format=raw,file=$2,cache=unsafe$4" -device "$3,drive=$1,serial=$1")
}

# One nvme drive only: with several their order is random. The rest are found by serial.
qemu=(qemu-system-x86_64 -accel "$accel" "${icount[@]}" -M q35 -cpu max -smp "$smp,sockets=$nodes" -m "${MEM:-3072}"
	-nodefaults -no-user-config -display none -no-reboot -device virtio-rng-pci -pidfile "$work/pid"
	-serial "file:$out/console" -serial stdio -kernel /proc/self/fd/8
	-append "root=/dev/nvme0n1 rw rootfstype=ext4 init=/lab/init console=ttyS0 quiet $append")
for ((i = 0; nodes > 1 && i < nodes; i++)); do
	qemu+=(-object "memory-backend-ram,id=node$i,size=$((${MEM:-3072} / nodes))M"
		-numa "node,nodeid=$i,memdev=node$i,cpus=$((smp / nodes * i))-$((smp / nodes * (i + 1) - 1))")
done
drive root /proc/self/fd/7 nvme ,snapshot=on
drive in "$work/in" virtio-blk-pci ,readonly=on
drive out "$work/out" virtio-blk-pci ""

# Stops a guest that hangs: neither console nor log grew for SILENCE seconds.
watch()
{
	local last

	while sleep 1; do
		last=$(stat -c %Y "$out/console" "$out/log" 2>/dev/null | sort -n | tail -n 1)
		[ $((EPOCHSECONDS - ${last:-EPOCHSECONDS})) -ge "$SILENCE" ] || continue
		touch "$work/silent"
		kill "$(cat "$work/pid")"
		return
	done
}
[ -z "${SILENCE:-}" ] || watch &
watcher=$!

# --pdeathsig: no guest outlives this script
setpriv --pdeathsig TERM timeout --foreground --kill-after=10 "${TIMEOUT:-600}" "${qemu[@]}" </dev/null 2>"$work/qemu" | tee "$out/log"
rc=${PIPESTATUS[0]}
kill "$watcher" 2>/dev/null
cat "$work/qemu" >&2
[ -f "$out/console" ] || fail 127 "QEMU did not start (status $rc, see above): is qemu-system-x86 7.2 or newer?"
tar -xf "$work/out" -C "$out" 2>"$work/tar" || { [ -s "$out/status" ] &&
	say "the results in /lab/out did not all fit in OUT_MB=${OUT_MB:-1024} MiB: $out is incomplete" &&
	rm "$out/status"; }

logs=("$out/console")
[ ! -f "$out/dmesg" ] || logs+=("$out/dmesg")
complaints=$(cat "${logs[@]}" | "$lab_dir/complaints.sh" "$job/dmesg.allow") || {
	say "the guest's kernel complained (whole log: ${logs[*]: -1}):"
	printf '    %s\n' "${complaints//$'\n'/$'\n    '}" >&2
	complained=1
}
stopped=
case $rc in
124|137) stopped="after TIMEOUT=${TIMEOUT:-600} s" ;;
esac
[ ! -e "$work/silent" ] || stopped="after SILENCE=$SILENCE s without output"
[ -z "$stopped" ] || {
	say "the guest was stopped $stopped; the end of $out/console:"
	tail -n 5 "$out/console" >&2
}
[ -z "${complained:-}" ] || exit 126
[ -z "$stopped" ] || exit 124
[ -s "$out/status" ] || {
	say "the guest ended without a status (QEMU's: $rc); the end of $out/console:"
	tail -n 20 "$out/console" >&2
	exit 125
}
exit "$(cat "$out/status")"
