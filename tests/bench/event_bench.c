/* SPDX-License-Identifier: MIT */
/*
 * What one C event into a user buffer costs: jis_write() of a marker against the least that any
 * tracer can do, one clock read and one 8-byte store. Both run in turn in one process; the figure
 * is the median over the rounds of (CPU time of the round) and of the ratio within a round. Each
 * record of each round is checked afterwards, so that nothing can have been optimized away. Usage:
 * event_bench [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libjisctl/writer.h"

#define EVENTS 200000u
#define PACKET 65536u
#define PACKETS 64u
#define MAX_ROUNDS 1000

static unsigned char *pool;
static size_t pool_size;
static struct jis_writer writer = JIS_WRITER_INITIALIZER(writer);
static __u64 ring[EVENTS];

static void die(const char *what)
{
	fprintf(stderr, "event_bench: %s\n", what);
	exit(1);
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void pool_make(void)
{
	struct jis_pool_header *h;
	__u64 packets = 65536;

	pool_size = packets + (size_t)PACKETS * PACKET;
	pool = mmap(NULL, pool_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pool == MAP_FAILED)
		die("no memory for the pool");
	memset(pool, 0, pool_size);
	h = (struct jis_pool_header *)(void *)pool;
	h->magic = JIS_POOL_MAGIC;
	h->abi_version = JIS_ABI_VERSION;
	h->schema_version = JIS_SCHEMA_VERSION;
	h->total_size = pool_size;
	h->clock = JIS_CLOCK_TSC;
	h->base = 0;
	h->nr_slots = 4;
	h->slot_size = sizeof(struct jis_slot);
	h->nr_packets = PACKETS;
	h->packet_size = PACKET;
	h->slots_offset = 4096;
	h->states_offset = 32768;
	h->packets_offset = packets;
	h->dict_packets = 1;
	h->event_mask = ~0ull;
	if (jis_writer_init(&writer, pool, pool_size, (__u32)getpid()) < 0)
		die("the writer refuses the pool");
}

/* The limit: one clock read, one store. */
static __attribute__((noinline)) void limit_round(void)
{
	__u32 i;

	for (i = 0; i < EVENTS; i++)
		__atomic_store_n(&ring[i], __builtin_ia32_rdtsc(), __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void event_round(struct jis_slot *slot, __u32 start)
{
	__u32 i;

	for (i = 0; i < EVENTS; i++) {
		struct jis_ev_marker m = {7, (__s64)start + i};

		jis_write(&writer, slot, JIS_EV_marker, &m, sizeof(m));
	}
}

/* Reads one packet back: counts markers, checks values and times. Returns the time of the last. */
static __u64 packet_check(const unsigned char *packet, __u64 time, __s64 *expect)
{
	const struct jis_packet_header *h = (const void *)packet;
	size_t at = JIS_PACKET_HEADER_SIZE;
	struct jis_ev_marker m;
	__u32 word;

	if (h->magic != JIS_PACKET_MAGIC || h->timestamp_begin < time)
		die("a packet header is wrong");
	for (time = h->timestamp_begin; at + 4 <= PACKET; at += 4 + sizeof(m)) {
		memcpy(&word, packet + at, 4);
		if (!word)
			break;
		if ((word & 31) == JIS_ID_EXTENDED) {
			memcpy(&time, packet + at + 8, 8);
			at += 12;
		} else {
			time += ((word >> 5) - (__u32)time) & JIS_TIME_MASK;
		}
		memcpy(&m, packet + at + 4, sizeof(m));
		if (m.type != 7 || m.value != *expect)
			die("a record is wrong");
		++*expect;
	}
	return time;
}

/* Checks all records of a round and gives the packets back, as a recorder does. */
static void round_check(struct jis_slot *slot, __u32 start)
{
	static __u64 sequence, last;
	__s64 expect = start;
	__u32 n, i;

	for (n = 0; n < PACKETS; n++) {
		for (i = 0; i < PACKETS; i++) {
			unsigned char *p = pool + writer.packets_offset + (size_t)i * PACKET;
			struct jis_packet_header *h = (void *)p;

			if (JIS_PACKET_STATE(writer.states[i]) != JIS_PACKET_FULL ||
			    h->packet_seq != sequence)
				continue;
			last = packet_check(p, last, &expect);
			if (last != h->timestamp_end)
				die("a packet's end time is wrong");
			sequence++;
			memset(p, 0, PACKET);
			writer.states[i] = JIS_PACKET_FREE;
		}
	}
	if (expect != (__s64)start + EVENTS || slot->lost_total)
		die("records are missing");
}

static void limit_check(void)
{
	__u32 i;

	for (i = 1; i < EVENTS; i++)
		if (ring[i] < ring[i - 1] || !ring[i])
			die("a time of the limit loop steps back");
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return n & 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int main(int argc, char **argv)
{
	static double limit[MAX_ROUNDS], event[MAX_ROUNDS], ratio[MAX_ROUNDS];
	int rounds = argc > 1 ? atoi(argv[1]) : 51, r;
	struct jis_slot *slot;
	double t0, t1, t2;
	double ratio_median;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		die("1 to 1000 rounds");
	pool_make();
	slot = jis_slot_take(&writer, (__u32)syscall(SYS_gettid));
	for (r = -3; r < rounds; r++) {
		__u32 start = (__u32)(r + 3) * EVENTS;

		t0 = cpu_ns();
		limit_round();
		t1 = cpu_ns();
		event_round(slot, start);
		t2 = cpu_ns();
		jis_packet_close(&writer, slot, jis_ticks(&writer));
		limit_check();
		round_check(slot, start);
		if (r < 0)
			continue;
		limit[r] = (t1 - t0) / EVENTS;
		event[r] = (t2 - t1) / EVENTS;
		ratio[r] = event[r] / limit[r];
	}
	ratio_median = median(ratio, rounds);
	printf("limit %.2f ns, event %.2f ns, ratio %.3f (bar 1.15; median of %d rounds of %u, "
	       "quartiles %.3f %.3f)\n",
	       median(limit, rounds), median(event, rounds), ratio_median, rounds, EVENTS,
	       ratio[rounds / 4], ratio[rounds * 3 / 4]);
	return 0;
}
