#!/bin/bash
# SPDX-License-Identifier: MIT
#
# PID 1 of a lab guest (image.sh puts it into the guest's image as /lab/init).
# Mounts the usual file systems, unpacks the job from the raw drive with the
# serial "in" to /lab/job, runs /lab/job/run.sh, writes its exit status and what
# it left in /lab/out to the raw drive with the serial "out", as a tar with the
# status first, and powers off. The first serial port is the kernel's console,
# the second carries the job's output; boot.sh is at the other end of all four.

export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
ip link set lo up

modprobe -qa virtio_pci virtio_blk
# drive SERIAL: the block device with that serial number; virtio may still be finding it
drive()
{
	local dev tries

	for ((tries = 0; tries < 300; tries++)); do
		for dev in /sys/block/vd*; do
			if [ "$(cat "$dev/serial" 2>/dev/null)" = "$1" ]; then
				echo "/dev/${dev##*/}"
				return
			fi
		done
		sleep 0.1
	done
	echo "lab: the guest has no virtio drive with the serial '$1'" >&2
	return 1
}

mkdir -p /lab/out
stty -F /dev/ttyS1 raw
if in=$(drive in) && out=$(drive out) && tar -xf "$in" -C /lab; then
	chmod -R a+rX /lab/job	# for JVMs of other users
	read -r up _ </proc/uptime
	echo "lab: job starts at $up s, Linux $(uname -r), $(nproc) CPUs"
	cd /lab/job || exit
	bash ./run.sh </dev/null >/dev/ttyS1 2>&1
	rc=$?
	dmesg >/lab/out/dmesg
	echo "$rc" >/lab/status
	tar -cf "$out" -C /lab status -C /lab/out .
	sync
	read -r up _ </proc/uptime
	echo "lab: job ended at $up s with status $rc"
fi
echo o >/proc/sysrq-trigger
while :; do
	sleep 1
done
