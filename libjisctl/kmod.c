// SPDX-License-Identifier: MIT
/*
 * Backend kmod: sessions of the kernel module, over /dev/jis. Packets come out of read-only
 * mappings as the module wrote them; nothing is converted or copied here.
 *
 * The mappings belong to the process that opened the backend: no child inherits them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.h"

struct backend {
	int fd;
	struct jis_setup setup;
	const uint8_t **rings; /* setup.nr_cpus of them; NULL: not mapped yet */
};

static int kmod_ioctl(const struct backend *b, unsigned long request, void *arg)
{
	return ioctl(b->fd, request, arg) < 0 ? -errno : 0;
}

static struct jis_setup setup_request(const struct backend_config *config)
{
	struct jis_setup setup = {
		.size = sizeof(setup),
		.abi_version = JIS_ABI_VERSION,
		.clock = config->clock,
		.base = config->base,
		.buffer_bytes = config->buffer_bytes,
		.families = config->families,
	};

	if (config->all_switches)
		setup.flags |= JIS_SETUP_ALL_SWITCHES;
	if (config->flight_recorder)
		setup.flags |= JIS_SETUP_FLIGHT_RECORDER;
	memcpy(setup.uuid, config->uuid, sizeof(setup.uuid));
	return setup;
}

/* What stands in the way, and what to do about it. */
static void explain(int err, char *why, size_t n)
{
	switch (-err) {
	case 0:
		snprintf(why, n, "%s works", JIS_DEVICE);
		break;
	case ENOENT:
	case ENXIO:
	case ENODEV:
		snprintf(why, n, "there is no %s: the kernel module is not loaded (modprobe jis)",
			 JIS_DEVICE);
		break;
	case EPERM:
	case EACCES:
		snprintf(why, n,
			 "no permission for %s: recording needs root, or CAP_PERFMON and access "
			 "to the device",
			 JIS_DEVICE);
		break;
	case EPROTO:
		snprintf(why, n,
			 "the kernel module that is loaded is of another version of JIS: "
			 "rmmod jis, and load the one installed with this tool");
		break;
	default:
		snprintf(why, n, "%s cannot be used: %s", JIS_DEVICE, strerror(-err));
	}
}

/* Opens a session that records nothing and lets it go. */
static int kmod_probe(char *why, size_t n)
{
	const struct backend_config config = {.clock = JIS_CLOCK_RAW};
	struct backend *b;
	int err = backend_kmod.open(&config, &b);

	if (!err)
		backend_kmod.close(b);
	if (why && n)
		explain(err, why, n);
	return err;
}

static void kmod_close(struct backend *b)
{
	uint32_t cpu;

	for (cpu = 0; b->rings && cpu < b->setup.nr_cpus; cpu++)
		if (b->rings[cpu])
			munmap((void *)b->rings[cpu], b->setup.ring_bytes);
	if (b->fd >= 0)
		close(b->fd);
	free(b->rings);
	free(b);
}

/* The ring of a CPU: mapped when it first has a packet, as CPUs may come online at any time. */
static int map_ring(struct backend *b, uint32_t cpu)
{
	void *ring = mmap(NULL, b->setup.ring_bytes, PROT_READ, MAP_SHARED, b->fd,
			  (off_t)JIS_MMAP_RING(cpu));

	if (ring == MAP_FAILED)
		return -errno;
	b->rings[cpu] = ring;
	return 0;
}

static int kmod_open(const struct backend_config *config, struct backend **out)
{
	struct backend *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	if (b->fd < 0) {
		err = -errno;
		goto err_close;
	}
	b->setup = setup_request(config);
	err = kmod_ioctl(b, JIS_IOC_SETUP, &b->setup);
	if (!err && b->setup.schema_version != JIS_SCHEMA_VERSION)
		err = -EPROTO;
	if (!err && config->syscalls)
		err = kmod_ioctl(b, JIS_IOC_SYSCALLS, (void *)config->syscalls);
	if (err)
		goto err_close;
	b->rings = calloc(b->setup.nr_cpus, sizeof(*b->rings));
	if (!b->rings) {
		err = -ENOMEM;
		goto err_close;
	}
	*out = b;
	return 0;

err_close:
	kmod_close(b);
	return err;
}

static uint32_t kmod_nr_cpus(const struct backend *b)
{
	return b->setup.nr_cpus;
}

static int target_call(const struct backend *b, unsigned long request, pid_t pid, uint32_t flags)
{
	struct jis_target target = {.size = sizeof(target), .flags = flags, .pid = (uint32_t)pid};

	return kmod_ioctl(b, request, &target);
}

static int kmod_target_add(struct backend *b, pid_t pid, uint32_t flags)
{
	return target_call(b, JIS_IOC_TARGET_ADD, pid, flags);
}

static int kmod_target_remove(struct backend *b, pid_t pid)
{
	return target_call(b, JIS_IOC_TARGET_REMOVE, pid, 0);
}

static bool kmod_is_target(struct backend *b, pid_t pid)
{
	return target_call(b, JIS_IOC_TARGET_TEST, pid, 0) == 0;
}

static int kmod_filter(struct backend *b, unsigned long request, const struct jis_target *target)
{
	return kmod_ioctl(b, request, (void *)(uintptr_t)target);
}

static int kmod_pool_create(struct backend *b, uint32_t pid, uint64_t bytes, uint64_t words_offset,
			    uint32_t nr_words)
{
	struct jis_pool_create pool = {
		.size = sizeof(pool),
		.pid = pid,
		.bytes = bytes,
		.words_offset = words_offset,
		.nr_words = nr_words,
	};
	int err = kmod_ioctl(b, JIS_IOC_POOL_CREATE, &pool);

	return err ? err : pool.fd;
}

static int kmod_start(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_START, NULL);
}

static int kmod_pause(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_PAUSE, NULL);
}

static int kmod_resume(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_RESUME, NULL);
}

static int kmod_stop(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_STOP, NULL);
}

static int kmod_flush(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_FLUSH, NULL);
}

static int kmod_freeze(struct backend *b, bool freeze)
{
	return kmod_ioctl(b, freeze ? JIS_IOC_FREEZE : JIS_IOC_THAW, NULL);
}

static int kmod_dump(struct backend *b)
{
	return kmod_ioctl(b, JIS_IOC_DUMP, NULL);
}

static uint64_t kmod_cycled(struct backend *b)
{
	struct jis_status status = {.size = sizeof(status)};

	if (kmod_ioctl(b, JIS_IOC_STATUS, &status) || !b->setup.packets_per_cpu)
		return 0;
	return status.overwritten * 256 / b->setup.packets_per_cpu;
}

static int kmod_get_packet(struct backend *b, uint32_t cpu, const struct jis_packet_header **packet)
{
	struct jis_get_packet got = {.size = sizeof(got), .cpu = cpu};
	uint64_t offset;
	int err;

	if (cpu >= b->setup.nr_cpus)
		return -EINVAL;
	err = kmod_ioctl(b, JIS_IOC_GET_PACKET, &got);
	if (err) /* none closed, no ring, no such CPU: their numbers may have gaps */
		return err == -EAGAIN || err == -ENXIO || err == -EINVAL ? 0 : err;
	err = b->rings[cpu] ? 0 : map_ring(b, cpu);
	if (err)
		return err;
	offset = (uint64_t)got.index * b->setup.packet_size;
	if (got.bytes < JIS_PACKET_HEADER_SIZE || got.bytes > b->setup.packet_size ||
	    offset > b->setup.ring_bytes - b->setup.packet_size)
		return -EBADMSG;
	*packet = (const struct jis_packet_header *)(b->rings[cpu] + offset);
	return 1;
}

static int kmod_counts(struct backend *b, uint32_t cpu, struct backend_counts *out)
{
	struct jis_counters counters = {.size = sizeof(counters), .cpu = cpu};
	struct jis_status status = {.size = sizeof(status)};
	int err;

	memset(out, 0, sizeof(*out));
	if (cpu >= b->setup.nr_cpus)
		return -EINVAL;
	err = kmod_ioctl(b, JIS_IOC_COUNTERS, &counters);
	if (err) /* numbers of possible CPUs may have gaps */
		return err == -EINVAL ? 0 : err;
	memcpy(out->produced, counters.produced, sizeof(out->produced));
	memcpy(out->lost, counters.lost, sizeof(out->lost));
	/* The module counts them for all CPUs together: told with the first. */
	if (cpu == 0) {
		err = kmod_ioctl(b, JIS_IOC_STATUS, &status);
		out->clock_steps = status.clock_steps;
		out->threads_refused = status.threads_refused;
		out->queues_refused = status.queues_refused;
	}
	return err;
}

static int kmod_poll_fd(const struct backend *b)
{
	return b->fd;
}

static uint32_t kmod_features(const struct backend *b)
{
	return b->setup.features;
}

static const char *const kmod_missing[] = {NULL};

const struct backend_ops backend_kmod = {
	.name = "kmod",
	.probe = kmod_probe,
	.open = kmod_open,
	.close = kmod_close,
	.nr_cpus = kmod_nr_cpus,
	.target_add = kmod_target_add,
	.target_remove = kmod_target_remove,
	.start = kmod_start,
	.pause = kmod_pause,
	.resume = kmod_resume,
	.stop = kmod_stop,
	.flush = kmod_flush,
	.freeze = kmod_freeze,
	.dump = kmod_dump,
	.cycled = kmod_cycled,
	.get_packet = kmod_get_packet,
	.counts = kmod_counts,
	.poll_fd = kmod_poll_fd,
	.is_target = kmod_is_target,
	.pool_create = kmod_pool_create,
	.filter = kmod_filter,
	.features = kmod_features,
	.missing = kmod_missing,
};
