/* SPDX-License-Identifier: MIT */
/*
 * Uprobes by perf_event_open(2), with the PMU "uprobe". All events of a thread share one ring.
 */
#include "uprobes.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PMU_TYPE "/sys/bus/event_source/devices/uprobe/type"
#define RING_BYTES (256u << 10)
#define SAMPLE_MAX 128u

static int pmu_type(uint32_t *type)
{
	FILE *f = fopen(PMU_TYPE, "re");
	int n;

	if (!f)
		return -ENODEV;
	n = fscanf(f, "%u", type);
	fclose(f);
	return n == 1 ? 0 : -ENODEV;
}

/* Registers ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define REGISTER(name, number)                                                                     \
	{                                                                                          \
		"%" name, PERF_REG_X86_##number                                                    \
	}
static const struct {
	const char *name;
	int number;
} registers[] = {
	REGISTER("rax", AX),  REGISTER("rbx", BX),  REGISTER("rcx", CX),  REGISTER("rdx", DX),
	REGISTER("rsi", SI),  REGISTER("rdi", DI),  REGISTER("rbp", BP),  REGISTER("rsp", SP),
	REGISTER("r8", R8),   REGISTER("r9", R9),   REGISTER("r10", R10), REGISTER("r11", R11),
	REGISTER("r12", R12), REGISTER("r13", R13), REGISTER("r14", R14), REGISTER("r15", R15),
};

int uprobes_register(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (strlen(registers[i].name) == n && !memcmp(registers[i].name, name, n))
			return registers[i].number;
	return UPROBES_NO_REGISTER;
}
#elif defined(__aarch64__)
int uprobes_register(const char *name, size_t n)
{
	unsigned int number;
	char text[8];
	int end = 0;

	if (n >= sizeof(text))
		return UPROBES_NO_REGISTER;
	memcpy(text, name, n);
	text[n] = 0;
	if (sscanf(text, "x%2u%n", &number, &end) != 1 || text[end] || number > 30)
		return UPROBES_NO_REGISTER;
	return (int)number;
}
#else
int uprobes_register(const char *name, size_t n)
{
	return UPROBES_NO_REGISTER;
}
#endif

/* Opening ------------------------------------------------------------------------------------ */

static int event_open(uint32_t type, const struct uprobes_config *config, uint64_t offset)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = type};
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", config->file);
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = offset;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	if (config->reg != UPROBES_NO_REGISTER) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = 1ull << config->reg;
	}
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	/* We look at the ring by time; nobody need wake us. */
	attr.watermark = 1;
	attr.wakeup_watermark = RING_BYTES;
	fd = (int)syscall(SYS_perf_event_open, &attr, config->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int ring_map(struct uprobes *u)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	u->map_bytes = page + RING_BYTES;
	u->map = mmap(NULL, u->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, u->fds[0], 0);
	if (u->map != MAP_FAILED)
		return 0;
	u->map = NULL;
	return -errno;
}

/* The first event's ring is that of all. */
static int event_add(struct uprobes *u, int fd, int unheard)
{
	uint32_t i = u->nr++;

	u->fds[i] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &u->ids[i]))
		return -errno;
	if (unheard)
		return 0;
	if (i == 0)
		return ring_map(u);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, u->fds[0]) ? -errno : 0;
}

int uprobes_open(struct uprobes *u, const struct uprobes_config *config)
{
	uint32_t type, i;
	int err, fd;

	memset(u, 0, sizeof(*u));
	u->reg = config->reg;
	err = config->nr && config->nr <= UPROBES_MAX ? pmu_type(&type) : -EINVAL;
	for (i = 0; !err && i < config->nr; i++) {
		fd = event_open(type, config, config->offsets[i]);
		err = fd < 0 ? fd : event_add(u, fd, config->unheard);
	}
	if (err)
		uprobes_close(u);
	return err;
}

static pthread_mutex_t closers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t closers_over = PTHREAD_COND_INITIALIZER;
static unsigned int closers;

static void closers_add(unsigned int n)
{
	pthread_mutex_lock(&closers_lock);
	closers += n;
	if (!closers)
		pthread_cond_broadcast(&closers_over);
	pthread_mutex_unlock(&closers_lock);
}

void uprobes_settle(void)
{
	pthread_mutex_lock(&closers_lock);
	while (closers)
		pthread_cond_wait(&closers_over, &closers_lock);
	pthread_mutex_unlock(&closers_lock);
}

static void *closer(void *events)
{
	struct uprobes *u = events;

	while (u->nr)
		close(u->fds[--u->nr]);
	free(u);
	closers_add(-1u);
	return NULL;
}

void uprobes_close(struct uprobes *u)
{
	struct uprobes *events = u->nr ? malloc(sizeof(*events)) : NULL;
	pthread_t thread;

	if (u->map)
		munmap(u->map, u->map_bytes);
	u->map = NULL;
	if (events) {
		*events = *u;
		u->nr = 0;
		closers_add(1);
		if (pthread_create(&thread, NULL, closer, events))
			closer(events);
		else
			pthread_detach(thread);
	}
	while (u->nr)
		close(u->fds[--u->nr]);
}

void uprobes_enable(const struct uprobes *u, int on)
{
	for (uint32_t i = 0; i < u->nr; i++)
		ioctl(u->fds[on ? i : u->nr - 1 - i],
		      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Reading ------------------------------------------------------------------------------------ */

/* The kernel writes data_head, we write data_tail: perf_event_mmap_page in linux/perf_event.h. */
static uint64_t ring_head(const struct uprobes *u)
{
	const struct perf_event_mmap_page *page = u->map;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

int uprobes_any(const struct uprobes *u)
{
	const struct perf_event_mmap_page *page = u->map;

	return page && ring_head(u) != page->data_tail;
}

/* Bytes of the ring from @at on, which may go round its end. */
static void ring_copy(const struct uprobes *u, uint64_t at, void *out, size_t n)
{
	const char *data = (const char *)u->map + (u->map_bytes - RING_BYTES);
	size_t from = (size_t)(at % RING_BYTES), first = RING_BYTES - from;

	if (first > n)
		first = n;
	memcpy(out, data + from, first);
	memcpy((char *)out + first, data, n - first);
}

/* IDENTIFIER, IP, TIME, and of REGS_USER the ABI and one register: all of 64 bits. */
static bool sample_parse(const struct uprobes *u, const uint64_t *body, size_t bytes,
			 struct uprobe_hit *hit)
{
	if (bytes < 3 * sizeof(*body))
		return false;
	for (hit->probe = 0; hit->probe < u->nr; hit->probe++)
		if (u->ids[hit->probe] == body[0])
			break;
	hit->address = body[1];
	hit->time = body[2];
	hit->value = 0;
	if (u->reg != UPROBES_NO_REGISTER && bytes >= 5 * sizeof(*body) &&
	    body[3] != PERF_SAMPLE_REGS_ABI_NONE)
		hit->value = body[4];
	return hit->probe < u->nr;
}

void uprobes_read(struct uprobes *u, void (*hit)(void *ctx, const struct uprobe_hit *hit),
		  void (*lost)(void *ctx, uint64_t n), void *ctx)
{
	struct perf_event_mmap_page *page = u->map;
	uint64_t head, tail, body[SAMPLE_MAX / sizeof(uint64_t)];
	struct perf_event_header h;
	struct uprobe_hit found;
	size_t n;

	if (!page)
		return;
	head = ring_head(u);
	for (tail = page->data_tail; tail < head; tail += h.size) {
		ring_copy(u, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		n = h.size - sizeof(h) < sizeof(body) ? h.size - sizeof(h) : sizeof(body);
		ring_copy(u, tail + sizeof(h), body, n);
		if (h.type == PERF_RECORD_SAMPLE && sample_parse(u, body, n, &found))
			hit(ctx, &found);
		else if (h.type == PERF_RECORD_LOST && n >= 2 * sizeof(*body))
			lost(ctx, body[1]); /* body[0]: by which event it was found out */
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/* Trying ------------------------------------------------------------------------------------- */

static volatile int tried;

/* A function of its own that the compiler neither inlines nor leaves out. */
__attribute__((noinline)) static void try_here(void)
{
	tried++;
}

/* Where @address of this program is in its file; 0: nowhere. */
static uint64_t own_offset(uintptr_t address)
{
	unsigned long long from, to, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 &&
		    address >= from && address < to)
			found = offset + (address - from);
	if (maps)
		fclose(maps);
	return found;
}

static void try_hit(void *ctx, const struct uprobe_hit *hit)
{
	++*(int *)ctx;
}

static void try_lost(void *ctx, uint64_t n)
{
}

int uprobes_try(char *why, size_t n)
{
	uint64_t offset = own_offset((uintptr_t)try_here);
	struct uprobes_config config = {.nr = 1, .offsets = &offset, .reg = UPROBES_NO_REGISTER};
	struct uprobes u;
	int hits = 0, err;

	config.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	err = config.file < 0 ? -errno : uprobes_open(&u, &config);
	if (config.file >= 0)
		close(config.file);
	if (err) {
		snprintf(why, n, "%s",
			 err == -ENODEV ? "the kernel has no uprobes for perf events"
					: strerror(-err));
		return err;
	}
	try_here();
	uprobes_read(&u, try_hit, try_lost, &hits);
	uprobes_close(&u);
	snprintf(why, n, "%s", hits == 1 ? "" : "a probe was set and was not hit");
	return hits == 1 ? 0 : -EIO;
}
