/* SPDX-License-Identifier: MIT */
/*
 * Mutates the files of small sessions and opens, merges and recovers them: nothing may crash, hang
 * or go back in time, and what has been recovered must open. Meant for SAN=address,undefined
 * builds. Usage: fuzz_reader ITERATIONS SEED
 */
#include <inttypes.h>

#include "merger/merge.h"
#include "tests/unit/test_trace_gen.h"

static const char *const files[] = {
	"kernel/cpu-0",		 "kernel/cpu-1",	  "kernel/recorder", GEN_DIRECTORY "/dict",
	GEN_DIRECTORY "/slot-1", GEN_DIRECTORY "/slot-2", MANIFEST_FILE};
#define NR_FILES (sizeof(files) / sizeof(*files))

/* A number that programs trip over. */
static uint64_t nasty(uint64_t *random)
{
	static const uint64_t values[] = {0,	    1,		31,	   32,	       0x7fffffff,
					  1u << 31, UINT32_MAX, INT64_MAX, UINT64_MAX, 768};

	return values[gen_random(random, sizeof(values) / sizeof(*values))];
}

static void mutate_once(uint8_t *bytes, size_t *size, uint64_t *random)
{
	size_t at = gen_random(random, (uint32_t)*size), n = gen_random(random, 64) + 1;
	size_t from = gen_random(random, (uint32_t)*size);
	uint64_t value = nasty(random);

	if (n > *size - at)
		n = *size - at;
	if (n > *size - from)
		n = *size - from;
	switch (gen_random(random, 6)) {
	case 0:
		bytes[at] ^= (uint8_t)(1u << gen_random(random, 8));
		break;
	case 1:
		at &= ~(size_t)3;
		memcpy(bytes + at, &value, *size - at < 8 ? *size - at : 8);
		break;
	case 2:
		memmove(bytes + at, bytes + from, n);
		break;
	case 3:
		memset(bytes + at, (int)value, n);
		break;
	case 4: /* a number of the JSON, or a byte of a packet */
		bytes[at] = (uint8_t)('0' + gen_random(random, 10));
		break;
	default:
		*size = at;
	}
}

/* Gives every packet a checksum that fits, so that what is behind it is looked at. */
static void mend_checksums(uint8_t *bytes, size_t size)
{
	struct jis_packet_header h;

	for (size_t at = 0; at + sizeof(h) <= size; at += h.packet_size / 8) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.magic != JIS_PACKET_MAGIC || h.content_size / 8 < sizeof(h) ||
		    h.content_size / 8 > size - at || h.packet_size / 8 < sizeof(h) ||
		    h.packet_size / 8 > size - at)
			return;
		h.crc32c = 0;
		h.crc32c = crc32c(crc32c(0, &h, sizeof(h)), bytes + at + sizeof(h),
				  h.content_size / 8 - sizeof(h));
		memcpy(bytes + at, &h, sizeof(h));
	}
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	GEN_CHECK(begin <= end && reason);
}

static uint32_t read_session(const char *path, uint64_t *events)
{
	const struct stream_observer observer = {.damage = on_damage};
	struct stream_cursor *c;
	uint64_t last = 0;
	struct trace *t;
	struct merge *m;
	uint32_t sum = 0;

	if (trace_open(path, &observer, &t))
		return 1;
	GEN_CHECK(!merge_open(t->streams, t->nr_streams, &m));
	while ((c = merge_next(m))) {
		const struct event_info *info = event_info_get(c->stream_class, c->id);

		GEN_CHECK(info && c->time >= last);
		GEN_CHECK(event_payload_size(info, c->payload, c->payload_size) ==
			  (int)c->payload_size);
		sum = crc32c(sum, c->payload, c->payload_size);
		last = c->time;
		++*events;
	}
	merge_close(m);
	trace_close(t);
	return 0;
}

static void one(struct gen *g, uint64_t seed, uint64_t *events)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;
	uint32_t rounds = 1 + gen_random(&random, 4);
	int err;

	for (uint32_t i = 0; i < rounds; i++) {
		const char *path = files[gen_random(&random, NR_FILES)];
		size_t size;
		uint8_t *bytes = gen_load(g, path, &size);

		for (uint32_t k = gen_random(&random, 6); size && k--;)
			mutate_once(bytes, &size, &random);
		if (gen_random(&random, 2))
			mend_checksums(bytes, size);
		gen_store(g, path, bytes, size);
		free(bytes);
	}
	read_session(g->path, events);
	err = trace_recover(g->path, NULL, NULL);
	if (err && err != -EALREADY) {
		GEN_CHECK(err == -ENODATA || err == -EPROTONOSUPPORT);
		return;
	}
	GEN_CHECK(!read_session(g->path, events));
	GEN_CHECK(trace_recover(g->path, NULL, NULL) == -EALREADY);
}

int main(int argc, char **argv)
{
	uint64_t iterations = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, events = 0;
	struct gen *g = gen_new(300, 7, seed);
	size_t sizes[NR_FILES];
	uint8_t *original[NR_FILES];

	for (size_t i = 0; i < NR_FILES; i++)
		original[i] = gen_load(g, files[i], &sizes[i]);
	for (uint64_t i = 0; i < iterations; i++) {
		for (size_t k = 0; k < NR_FILES; k++)
			gen_store(g, files[k], original[k], sizes[k]);
		if (i % 1000 == 0)
			fprintf(stderr,
				"fuzz_reader: %" PRIu64 " of %" PRIu64 ", seed %" PRIu64 "\n", i,
				iterations, seed);
		one(g, seed * 1000003 + i, &events);
	}
	printf("%" PRIu64 " sessions, %" PRIu64 " events read\n", iterations, events);
	for (size_t i = 0; i < NR_FILES; i++)
		free(original[i]);
	gen_free(g);
	return 0;
}
