/* SPDX-License-Identifier: MIT */
/*
 * Walking a packet's records: what is only counted, by a loop of its own, is counted as it is when
 * each record is looked at, with and without a limit of times; of a packet that lies no byte behind
 * its end is read.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libjisctl/packet_walk.h"
#include "trace/event_info.h"
#include "trace/write.h"

#define PACKETS 300
#define NO_LIMIT UINT64_MAX
#define LIMIT (UINT64_MAX - 1)

static uint64_t seen[JIS_MAX_EVENT_ID], wanted_seen;

static void look(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	(void)time, (void)payload;
	ck_assert_uint_eq(size % 4, 0);
	++*(uint64_t *)ctx;
	seen[id]++;
}

struct result {
	int err;
	uint64_t counts[JIS_MAX_EVENT_ID], told[JIS_MAX_EVENT_ID];
	struct packet_walk walk;
};

/* Counts only, or looks at each. */
static struct result walk(const struct jis_packet_header *h, uint32_t end, uint64_t time_max,
			  bool each)
{
	struct result r = {.err = 0};
	uint64_t n = 0;

	packet_walk_begin(&r.walk, h, time_max);
	r.walk.told = r.told;
	if (each) {
		memset(seen, 0, sizeof(seen));
		r.walk.record = look;
		r.walk.ctx = &n;
	}
	r.err = packet_walk_run(&r.walk, h, end, r.counts);
	r.walk.told = NULL; /* it moves with the result */
	if (each) {
		ck_assert_uint_eq(n, r.walk.records);
		ck_assert_mem_eq(seen, r.counts, sizeof(seen));
	}
	return r;
}

/* Counts, and looks at records of one id. */
static struct result walk_for(const struct jis_packet_header *h, uint32_t end, uint32_t id)
{
	struct result r = {.err = 0};
	uint64_t n = 0;

	memset(seen, 0, sizeof(seen));
	packet_walk_begin(&r.walk, h, NO_LIMIT);
	r.walk.told = r.told;
	r.walk.record = look;
	r.walk.ctx = &n;
	r.walk.wanted = 1u << id;
	r.err = packet_walk_run(&r.walk, h, end, r.counts);
	r.walk.told = NULL;
	ck_assert_uint_eq(seen[id], r.counts[id]);
	wanted_seen += seen[id];
	return r;
}

static void same(const struct result *a, const struct result *b)
{
	ck_assert_int_eq(a->err, b->err);
	ck_assert_mem_eq(a->counts, b->counts, sizeof(a->counts));
	ck_assert_mem_eq(a->told, b->told, sizeof(a->told));
	ck_assert_uint_eq(a->walk.records, b->walk.records);
	ck_assert_uint_eq(a->walk.offset, b->walk.offset);
	ck_assert_int_eq(a->walk.lives, b->walk.lives);
}

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)random() % n;
}

/* Up to 60 records of any kinds; times go on by up to @step. */
static struct jis_packet_header *fill(struct packet_builder *b, uint32_t class, uint64_t step)
{
	uint32_t n = 1 + random_below(60), words[64], i;
	static uint64_t now = 1000;

	while (n) {
		const struct event_info *info =
			event_info_get(class, 1 + random_below(JIS_MAX_EVENT_ID - 1));

		if (!info)
			continue;
		for (i = 0; i < 64; i++)
			words[i] = random_below(8);
		now += (uint64_t)random() % step;
		if (packet_builder_add(b, info->id, now, words,
				       info->fixed_size - (info->has_string ? 4 : 0),
				       info->has_string ? "text" : NULL))
			break;
		n--;
	}
	return packet_builder_close(b, 0);
}

static void builder(struct packet_builder *b, uint32_t class)
{
	static const uint8_t uuid[16] = {1};

	ck_assert_int_eq(packet_builder_init(b, 1 << 16, class, 0, uuid), 0);
}

START_TEST(counted_as_looked_at)
{
	struct packet_builder b;
	uint64_t records = 0;

	builder(&b, (uint32_t)_i);
	for (int i = 0; i < PACKETS; i++) {
		const struct jis_packet_header *h = fill(&b, (uint32_t)_i, i % 2 ? 1000 : 1u << 28);
		uint32_t size = (uint32_t)(h->content_size / 8), end = size;

		for (int cut = 0; cut < 5; cut++) {
			/* no more than it may read: ASan sees what it reads behind it */
			struct jis_packet_header *own = malloc(end);
			struct result each, counted, timed, looked;

			ck_assert_ptr_nonnull(own);
			memcpy(own, h, end);
			each = walk(own, end, NO_LIMIT, true);
			counted = walk(own, end, NO_LIMIT, false);
			timed = walk(own, end, LIMIT, false);
			same(&counted, &each);
			same(&timed, &each);
			looked = walk_for(own, end, JIS_EV_syscall_futex);
			same(&looked, &each);
			ck_assert_uint_eq(timed.walk.last, each.walk.last);
			ck_assert_uint_le(counted.walk.last, each.walk.last);
			if (!cut) {
				ck_assert_int_eq(each.err, 0);
				ck_assert_uint_eq(each.walk.offset, size);
				ck_assert_uint_eq(each.walk.last, h->timestamp_end);
			}
			records += each.walk.records;
			end = JIS_PACKET_HEADER_SIZE + random_below(size - JIS_PACKET_HEADER_SIZE);
			free(own);
		}
	}
	ck_assert_uint_gt(records, 10 * PACKETS);
	if (_i == JIS_STREAM_KERNEL)
		ck_assert_uint_gt(wanted_seen, 0);
	packet_builder_fini(&b);
}
END_TEST

/* Taken up again where it stopped, it counts no record twice and none not at all. */
START_TEST(goes_on_where_it_stopped)
{
	struct packet_builder b;

	builder(&b, JIS_STREAM_KERNEL);
	for (int i = 0; i < PACKETS; i++) {
		const struct jis_packet_header *h = fill(&b, JIS_STREAM_KERNEL, 1000);
		uint32_t size = (uint32_t)(h->content_size / 8), end = JIS_PACKET_HEADER_SIZE;
		struct result whole = walk(h, size, NO_LIMIT, true), parts = {.err = 0};

		packet_walk_begin(&parts.walk, h, NO_LIMIT);
		parts.walk.told = parts.told;
		while (end < size) {
			end += 1 + random_below(size - end);
			parts.err = packet_walk_run(&parts.walk, h, end, parts.counts);
		}
		same(&parts, &whole);
	}
	packet_builder_fini(&b);
}
END_TEST

/* With one byte changed: with a limit of times all is seen that looking at each sees. */
START_TEST(lies_are_seen)
{
	struct packet_builder b;
	uint32_t refused = 0;

	builder(&b, (uint32_t)_i);
	for (int i = 0; i < PACKETS; i++) {
		const struct jis_packet_header *h = fill(&b, (uint32_t)_i, 1000);
		uint32_t size = (uint32_t)(h->content_size / 8);
		uint8_t *own = malloc(size);

		ck_assert_ptr_nonnull(own);
		for (int change = 0; change < 20; change++) {
			const struct jis_packet_header *packet = (const void *)own;
			struct result each, counted;

			memcpy(own, h, size);
			own[JIS_PACKET_HEADER_SIZE + random_below(size - JIS_PACKET_HEADER_SIZE)] ^=
				(uint8_t)(1u << random_below(8));
			each = walk(packet, size, h->timestamp_end, true);
			counted = walk(packet, size, h->timestamp_end, false);
			same(&counted, &each);
			refused += each.err == -EBADMSG;
			counted = walk(packet, size, NO_LIMIT, false);
			ck_assert(!counted.err || counted.err == -EBADMSG);
			ck_assert_uint_le(counted.walk.offset, size);
		}
		free(own);
	}
	ck_assert_uint_gt(refused, PACKETS);
	packet_builder_fini(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packet_walk");
	TCase *tc = tcase_create("walk");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, counted_as_looked_at, 0, JIS_NR_STREAM_CLASSES);
	tcase_add_test(tc, goes_on_where_it_stopped);
	tcase_add_loop_test(tc, lies_are_seen, 0, JIS_NR_STREAM_CLASSES);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
