// SPDX-License-Identifier: MIT
/*
 * jisflight: a flight recorder over this very thread, whose records are numbered: it renames itself
 * to n0, n1, n2... on one CPU. Checks that what is frozen is the newest without a gap, holds still
 * while writing goes on, can be read again after a thaw, and is all there at the stop. Ends with
 * status 0, or 1 and what is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "jis/abi.h"

typedef unsigned long long u64;

#define PACKET 4096u
#define PACKETS 16u
#define PER_RING (PACKET * PACKETS)

/* What one reading of the ring of our CPU gave. */
struct reading {
	u64 packets, first_seq, last_seq;
	long first, last; /* numbers of renames; -1: none */
};

static int fd, errors;
static const uint8_t *ring;
static uint32_t cpu;
static long next_number;

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *format, ...)
{
	va_list args;

	errors++;
	va_start(args, format);
	printf("wrong: ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static void call(const char *what, unsigned long request, void *arg)
{
	if (ioctl(fd, request, arg) == 0)
		return;
	printf("jisflight: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void renames(long n)
{
	char name[16];

	while (n--) {
		snprintf(name, sizeof(name), "n%ld", next_number++);
		prctl(PR_SET_NAME, name);
	}
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* Payload bytes of the record at @p, whose id is @id. */
static uint32_t payload(uint32_t id, const uint8_t *p)
{
	switch (id) {
#define FIXED(n, name)                                                                             \
	case n:                                                                                    \
		return sizeof(struct jis_ev_##name);
	case JIS_EV_task_rename:
	case JIS_EV_task_name:
		return 12 + get32(p + 8);
	case JIS_EV_thread_state:
		return 32 + get32(p + 28);
	case JIS_EV_cgroup_name:
		return 8 + get32(p + 4);
		FIXED(1, sched_switch)
		FIXED(2, sched_waking)
		FIXED(3, sched_wakeup)
		FIXED(4, sched_wakeup_new)
		FIXED(12, sched_migrate_task)
		FIXED(13, cpu_steal)
		FIXED(30, lost_records)
		FIXED(34, thread_attributes)
		FIXED(36, cgroup_attach)
	}
	wrong("record %u is not expected here", id);
	return PACKET;
}

static void packet(struct reading *r, const struct jis_packet_header *h)
{
	const uint8_t *p = (const uint8_t *)(h + 1),
		      *end = (const uint8_t *)h + h->content_size / 8;
	uint32_t id, n;

	if (r->packets && h->packet_seq != r->last_seq + 1)
		wrong("packet %llu follows %llu", (u64)h->packet_seq, r->last_seq);
	if (!r->packets++)
		r->first_seq = h->packet_seq;
	r->last_seq = h->packet_seq;
	while (p < end && !errors) {
		id = get32(p) & 31;
		p += id == JIS_ID_EXTENDED ? 16 : 4;
		if (id == JIS_ID_EXTENDED)
			id = get32(p - 12);
		n = payload(id, p);
		if (id == JIS_EV_task_rename && p[12] == 'n') {
			long number = atol((const char *)p + 13);

			if (r->last >= 0 && number != r->last + 1)
				wrong("rename %ld follows %ld", number, r->last);
			if (r->first < 0)
				r->first = number;
			r->last = number;
		}
		p += n;
	}
}

/* Reads the packets there are, at most @most. */
static struct reading read_ring(u64 most)
{
	struct reading r = {.first = -1, .last = -1};
	struct jis_get_packet got;

	while (r.packets < most) {
		memset(&got, 0, sizeof(got));
		got.size = sizeof(got);
		got.cpu = cpu;
		if (ioctl(fd, JIS_IOC_GET_PACKET, &got)) {
			if (errno != EAGAIN)
				wrong("GET_PACKET: %s", strerror(errno));
			break;
		}
		if (got.index >= PACKETS || got.bytes > PACKET) {
			wrong("packet %u of %u bytes", got.index, got.bytes);
			break;
		}
		packet(&r, (const void *)(ring + (size_t)got.index * PACKET));
	}
	printf("packets %llu: numbers %llu..%llu, renames %ld..%ld\n", r.packets, r.first_seq,
	       r.last_seq, r.first, r.last);
	return r;
}

static struct jis_status status(void)
{
	struct jis_status s = {.size = sizeof(s)};

	call("STATUS", JIS_IOC_STATUS, &s);
	return s;
}

static void open_session(void)
{
	struct jis_setup setup = {.size = sizeof(setup),
				  .abi_version = JIS_ABI_VERSION,
				  .flags = JIS_SETUP_FLIGHT_RECORDER,
				  .clock = JIS_CLOCK_RAW,
				  .packet_size = PACKET,
				  .buffer_bytes = (u64)sysconf(_SC_NPROCESSORS_ONLN) * PER_RING};
	struct jis_target target = {.size = sizeof(target), .pid = (uint32_t)getpid()};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	fd = open(JIS_DEVICE, O_RDWR);
	if (fd < 0) {
		perror(JIS_DEVICE);
		exit(1);
	}
	call("SETUP", JIS_IOC_SETUP, &setup);
	if (setup.packets_per_cpu != PACKETS || setup.ring_bytes != PER_RING)
		wrong("geometry: %u packets, %llu bytes", setup.packets_per_cpu,
		      (u64)setup.ring_bytes);
	call("TARGET_ADD", JIS_IOC_TARGET_ADD, &target);
	ring = mmap(NULL, PER_RING, PROT_READ, MAP_SHARED, fd, (off_t)JIS_MMAP_RING(0));
	if (ring == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	call("START", JIS_IOC_START, NULL);
}

int main(void)
{
	struct reading first, again;
	struct jis_status s;

	open_session();

	/* Many times around; nothing is to be had before a freeze, nothing is lost. */
	renames(20000);
	again = read_ring(UINT64_MAX);
	if (again.packets)
		wrong("%llu packets before the freeze", again.packets);
	s = status();
	if (s.lost || !s.overwritten)
		wrong("lost %llu, overwritten %llu", (u64)s.lost, (u64)s.overwritten);

	/* The newest, up to the last. */
	call("FREEZE", JIS_IOC_FREEZE, NULL);
	first = read_ring(UINT64_MAX);
	if (first.last != next_number - 1 || first.first <= 0 ||
	    first.packets < PACKETS - PACKETS / 8)
		wrong("frozen: renames %ld..%ld of %ld", first.first, first.last, next_number);

	/* Another round: what was frozen and not read holds still however much is written. */
	call("THAW", JIS_IOC_THAW, NULL);
	renames(10);
	call("FREEZE", JIS_IOC_FREEZE, NULL);
	again = read_ring(UINT64_MAX);
	if (again.first > first.last || again.last != next_number - 1)
		wrong("after a thaw: renames %ld..%ld, %ld were there already", again.first,
		      again.last, first.last);
	call("THAW", JIS_IOC_THAW, NULL);
	call("FREEZE", JIS_IOC_FREEZE, NULL);
	renames(20000);
	s = status();
	if (!s.lost)
		wrong("20,000 renames fit into an eighth of the ring");
	first = read_ring(UINT64_MAX);
	if (first.first < 0 || first.first > again.last || first.last < again.last)
		wrong("overrun: renames %ld..%ld, frozen were those up to %ld", first.first,
		      first.last, again.last);

	/* Cycling again, and at the stop all the ring holds. */
	call("THAW", JIS_IOC_THAW, NULL);
	renames(20000);
	call("STOP", JIS_IOC_STOP, NULL);
	first = read_ring(UINT64_MAX);
	if (first.last != next_number - 1 || first.packets < PACKETS)
		wrong("stopped: renames %ld..%ld of %ld in %llu packets", first.first, first.last,
		      next_number, first.packets);
	if (ioctl(fd, JIS_IOC_FREEZE, NULL) == 0 || errno != EBADFD)
		wrong("FREEZE after STOP: %s", strerror(errno));
	munmap((void *)ring, PER_RING);
	close(fd);
	return errors != 0;
}
