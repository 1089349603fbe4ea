/* SPDX-License-Identifier: MIT */
/*
 * A cursor over damaged files: whatever is done to a file, reading ends, time never goes back,
 * nothing before the damage is lost, and what is whole behind it is delivered.
 */
#include <check.h>

#include "test_trace_gen.h"

static struct gen *g;
static uint32_t damages;
static bool repeats;

static void setup(void)
{
	g = gen_new(400, 7, 42);
}

static void teardown(void)
{
	gen_free(g);
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	ck_assert_uint_le(begin, end);
	ck_assert_ptr_nonnull(reason);
	damages++;
}

struct result {
	struct gen_event events[GEN_MAX_EVENTS];
	uint32_t nr;
};

static void read_all(const struct gen_stream *s, struct result *r)
{
	const struct stream_observer observer = {.damage = on_damage};
	struct stream_cursor c;
	uint64_t last = 0;

	r->nr = 0;
	damages = 0;
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, s->path, &s->id, &observer), 0);
	while (stream_cursor_next(&c)) {
		struct gen_event *e = &r->events[r->nr++];

		ck_assert_uint_lt(r->nr, GEN_MAX_EVENTS);
		ck_assert_uint_ge(c.time, last);
		ck_assert_ptr_nonnull(event_info_get(c.stream_class, c.id));
		last = c.time;
		*e = (struct gen_event){.time = c.time,
					.id = c.id,
					.size = c.payload_size,
					.sum = gen_sum(c.payload, c.payload_size)};
	}
	ck_assert_int_eq(stream_cursor_next(&c), 0);
	stream_cursor_close(&c);
}

static bool same(const struct gen_event *a, const struct gen_event *b)
{
	return a->time == b->time && a->id == b->id && a->size == b->size && a->sum == b->sum;
}

/* All events of @s whose end is at most @offset come first and as they were. */
static void prefix_is_there(const struct gen_stream *s, const struct result *r, size_t offset)
{
	for (uint32_t i = 0; i < s->nr && s->events[i].end <= offset; i++) {
		ck_assert_uint_lt(i, r->nr);
		ck_assert(same(&s->events[i], &r->events[i]));
	}
}

/* Each event of a packet that begins at @offset or later is delivered as it was. */
static void suffix_is_there(const struct gen_stream *s, const struct result *r, size_t offset)
{
	uint32_t n = 0;

	for (uint32_t i = s->nr; i-- > 0 && s->events[i].packet >= offset; n++) {
		ck_assert_uint_lt(n, r->nr);
		ck_assert(same(&s->events[i], &r->events[r->nr - 1 - n]));
	}
}

START_TEST(whole_streams_are_read_to_the_letter)
{
	struct result *r = malloc(sizeof(*r));

	for (int i = 0; i < GEN_STREAMS; i++) {
		read_all(&g->s[i], r);
		ck_assert_uint_eq(r->nr, g->s[i].nr);
		prefix_is_there(&g->s[i], r, SIZE_MAX);
		ck_assert_uint_eq(damages, 0);
	}
	free(r);
}
END_TEST

START_TEST(cut_at_every_byte)
{
	const struct gen_stream *s = &g->s[_i];
	struct result *r = malloc(sizeof(*r));
	size_t size;
	uint8_t *bytes = gen_load(g, s->path, &size);

	for (size_t n = 0; n < size; n++) {
		gen_store(g, s->path, bytes, n);
		read_all(s, r);
		prefix_is_there(s, r, n);
	}
	free(bytes);
	free(r);
}
END_TEST

START_TEST(random_cuts_and_flips)
{
	uint64_t random = 77;
	struct result *r = malloc(sizeof(*r));

	for (int round = 0; round < 2000; round++) {
		const struct gen_stream *s = &g->s[gen_random(&random, GEN_STREAMS)];
		size_t size, at;
		uint8_t *bytes = gen_load(g, s->path, &size), *copy = malloc(size);

		memcpy(copy, bytes, size);
		at = gen_random(&random, (uint32_t)size);
		if (round % 2)
			gen_store(g, s->path, copy, at);
		copy[at] ^= (uint8_t)(1 + gen_random(&random, 255));
		if (round % 2 == 0) {
			gen_store(g, s->path, copy, size);
			read_all(s, r);
			ck_assert_uint_gt(damages, 0);
			suffix_is_there(s, r, at + 1);
		} else {
			read_all(s, r);
		}
		prefix_is_there(s, r, at);
		gen_store(g, s->path, bytes, size);
		free(bytes);
		free(copy);
	}
	free(r);
}
END_TEST

/* Many damages at once: reading ends and time does not go back; read_all() asserts that. */
START_TEST(heavy_damage)
{
	uint64_t random = 99;
	struct result *r = malloc(sizeof(*r));

	for (int round = 0; round < 1000; round++) {
		const struct gen_stream *s = &g->s[gen_random(&random, GEN_STREAMS)];
		size_t size, piece;
		uint8_t *bytes = gen_load(g, s->path, &size), *copy = malloc(size);

		memcpy(copy, bytes, size);
		for (int k = 0; k < 6; k++) {
			size_t from = gen_random(&random, (uint32_t)size) & ~3u,
			       to = gen_random(&random, (uint32_t)size) & ~3u;

			piece = gen_random(&random, 300);
			if (piece > size - from)
				piece = size - from;
			if (piece > size - to)
				piece = size - to;
			if (k % 2)
				memmove(copy + to, copy + from, piece);
			else
				memset(copy + to, k % 4 ? 0xff : 0, piece);
		}
		gen_store(g, s->path, copy, size);
		read_all(s, r);
		gen_store(g, s->path, bytes, size);
		free(bytes);
		free(copy);
	}
	free(r);
}
END_TEST

static void on_repeat(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	repeats |= strstr(reason, "repeated") != NULL;
}

START_TEST(a_repeated_packet_is_told_and_not_delivered)
{
	const struct stream_observer observer = {.damage = on_repeat};
	const struct gen_stream *s = &g->s[GEN_CPU0];
	size_t size, first = s->events[0].packet, second;
	uint8_t *bytes = gen_load(g, s->path, &size), *twice = malloc(2 * size);
	struct stream_cursor c;
	uint32_t nr = 0;

	for (second = 1; s->events[second].packet == first; second++)
		;
	second = s->events[second].packet;
	memcpy(twice, bytes, second);
	memcpy(twice + second, bytes + first, size - first);
	gen_store(g, s->path, twice, size + second - first);
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, s->path, &s->id, &observer), 0);
	while (stream_cursor_next(&c))
		nr++;
	stream_cursor_close(&c);
	ck_assert(repeats);
	ck_assert_uint_eq(nr, s->nr);
	free(bytes);
	free(twice);
}
END_TEST

START_TEST(seek_skips_only_what_ends_before)
{
	const struct gen_stream *s = &g->s[GEN_SLOT1];

	for (uint32_t i = 0; i < s->nr; i++) {
		struct stream_cursor c;
		uint32_t nr = 0;
		bool found = false;

		ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, s->path, &s->id, NULL), 0);
		stream_cursor_seek(&c, s->events[i].time);
		while (stream_cursor_next(&c)) {
			found |= c.time == s->events[i].time;
			nr++;
		}
		stream_cursor_close(&c);
		ck_assert(found);
		ck_assert_uint_ge(nr, s->nr - i);
		ck_assert_uint_le(nr, s->nr - i + 40);
	}
}
END_TEST

START_TEST(no_stream_file)
{
	const struct gen_stream *s = &g->s[0];
	struct stream_identity id = s->id;
	struct stream_cursor c;

	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, "kernel/nothing", &id, NULL), -ENOENT);
	ck_assert_int_eq(stream_cursor_next(&c), 0);
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, "kernel", &id, NULL), -EINVAL);
	ck_assert_int_eq(symlinkat("cpu-0", g->dirfd, "kernel/link"), 0);
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, "kernel/link", &id, NULL), -ELOOP);
	id.stream_class = 4;
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, s->path, &id, NULL), -EINVAL);
	/* Another trace's stream: all of it is damage. */
	id = s->id;
	id.uuid[3] ^= 1;
	damages = 0;
	ck_assert_int_eq(stream_cursor_open(&c, g->dirfd, s->path, &id,
					    &(struct stream_observer){.damage = on_damage}),
			 0);
	ck_assert_int_eq(stream_cursor_next(&c), 0);
	ck_assert_uint_eq(damages, 1);
	stream_cursor_close(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_cursor");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, whole_streams_are_read_to_the_letter);
	tcase_add_loop_test(t, cut_at_every_byte, 0, GEN_STREAMS);
	tcase_add_test(t, random_cuts_and_flips);
	tcase_add_test(t, heavy_damage);
	tcase_add_test(t, a_repeated_packet_is_told_and_not_delivered);
	tcase_add_test(t, seek_skips_only_what_ends_before);
	tcase_add_test(t, no_stream_file);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
