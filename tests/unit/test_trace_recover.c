/* SPDX-License-Identifier: MIT */
/*
 * Recovery: after any damage the session can be opened and is whole, what stood before the damage
 * is still there, babeltrace2 reads it, and a second recovery finds nothing to do.
 */
#include <check.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "merger/merge.h"
#include "test_trace_gen.h"

static struct gen *g;

static void setup(void)
{
	g = gen_new(400, 7, 4242);
}

static void teardown(void)
{
	gen_free(g);
}

static bool same(const struct gen_event *e, const struct stream_cursor *c)
{
	return e->time == c->time && e->id == c->id && e->size == c->payload_size &&
	       e->sum == gen_sum(c->payload, c->payload_size);
}

/* All events of @s in [0, before) and in packets from @behind on are in the recovered trace, in
 * order.
 */
static void events_are_kept(const struct gen_stream *s, size_t before, size_t behind)
{
	struct stream_cursor c;
	int err = stream_cursor_open(&c, g->dirfd, s->path, &s->id, NULL);

	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->events[i].end > before && s->events[i].packet < behind)
			continue;
		ck_assert_int_eq(err, 0);
		do
			ck_assert_msg(stream_cursor_next(&c), "%s: event %u is lost", s->path, i);
		while (!same(&s->events[i], &c));
	}
	if (!err)
		stream_cursor_close(&c);
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	if (strcmp(reason, "packets are missing"))
		ck_abort_msg("%s", reason);
}

/* Opens, merges to the end without a damage told, and has the tables of the undamaged parts. */
static void session_is_whole(void)
{
	const struct stream_observer observer = {.damage = on_damage};
	struct trace *t;
	struct merge *m;

	ck_assert_int_eq(trace_open(g->path, &observer, &t), 0);
	ck_assert(t->manifest->complete);
	ck_assert_uint_le(t->manifest->begin, t->manifest->end);
	ck_assert_int_eq(merge_open(t->streams, t->nr_streams, &m), 0);
	while (merge_next(m))
		;
	ck_assert_uint_eq(merge_backward_steps(m), 0);
	merge_close(m);
	trace_close(t);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), -EALREADY);
}

static void babeltrace2_reads_it(void)
{
	char command[256];

	if (system("command -v babeltrace2 >/dev/null"))
		return;
	snprintf(command, sizeof(command), "babeltrace2 %s >%s/.bt.out 2>%s/.bt.err", g->path,
		 g->path, g->path);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void damage(uint32_t stream, size_t at, bool cut)
{
	size_t size;
	uint8_t *bytes = gen_load(g, g->s[stream].path, &size);

	at = at % size;
	bytes[at] ^= 0x41;
	gen_store(g, g->s[stream].path, bytes, cut ? at : size);
	free(bytes);
}

START_TEST(a_whole_session_is_left_alone)
{
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), -EALREADY);
	session_is_whole();
}
END_TEST

/* The round's number decides what is done, so that a failure can be had again. */
static void damaged_round(uint64_t seed, bool external)
{
	uint64_t random = seed * 2654435761u + 1;
	uint32_t stream = gen_random(&random, GEN_STREAMS);
	size_t at = gen_random(&random, 1u << 30), size;
	bool cut = gen_random(&random, 2);
	int err;

	free(gen_load(g, g->s[stream].path, &size));
	at %= size;
	damage(stream, at, cut);
	err = trace_recover(g->path, NULL, NULL);
	/* A cut between two packets cannot be seen in the file. */
	ck_assert_msg(!err || (cut && err == -EALREADY), "seed %d: %d", (int)seed, err);
	session_is_whole();
	events_are_kept(&g->s[stream], at, cut ? SIZE_MAX : at + 1);
	for (uint32_t i = 0; i < GEN_STREAMS; i++)
		if (i != stream)
			events_are_kept(&g->s[i], SIZE_MAX, SIZE_MAX);
	if (external)
		babeltrace2_reads_it();
}

START_TEST(damage_is_recovered)
{
	for (int k = 0; k < 10; k++) {
		damaged_round((uint64_t)_i * 10 + (uint64_t)k, k == 0);
		teardown();
		setup();
	}
}
END_TEST

START_TEST(many_damages_at_once)
{
	uint64_t random = (uint64_t)_i + 7;

	for (int k = 0; k < 20; k++)
		damage(gen_random(&random, GEN_STREAMS), gen_random(&random, 1u << 30),
		       gen_random(&random, 10) == 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	session_is_whole();
	babeltrace2_reads_it();
}
END_TEST

/* Without a manifest or with the one of a recorder that died, the tables are made anew. */
static void tables_are_made(void)
{
	struct manifest *m;

	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	ck_assert_int_eq(manifest_load(g->dirfd, &m), 0);
	ck_assert(m->complete && m->recovered);
	ck_assert_uint_eq(m->nr_streams, GEN_STREAMS);
	ck_assert_uint_eq(m->nr_processes, 1);
	ck_assert_str_eq(m->processes[0].directory, GEN_DIRECTORY);
	ck_assert_uint_eq(m->nr_threads, 2);
	ck_assert_str_eq(m->threads[1].name, "worker");
	ck_assert_uint_eq(m->begin, 1000);
	ck_assert_uint_eq(m->nr_cpus, 2);
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		for (uint32_t k = 0; k < GEN_STREAMS; k++)
			if (!strcmp(g->s[k].path, m->streams[i].path))
				ck_assert_mem_eq(m->streams[i].stored, g->s[k].b.stored,
						 sizeof(g->s[k].b.stored));
		ck_assert(!m->streams[i].clean);
	}
	manifest_free(m);
	session_is_whole();
	babeltrace2_reads_it();
}

START_TEST(no_manifest)
{
	ck_assert_int_eq(unlinkat(g->dirfd, MANIFEST_FILE, 0), 0);
	tables_are_made();
}
END_TEST

START_TEST(broken_manifest)
{
	gen_store(g, MANIFEST_FILE, (const uint8_t *)"{\"format\": 1, \"proc", 19);
	tables_are_made();
}
END_TEST

START_TEST(provisional_manifest)
{
	struct manifest *m = gen_manifest(g, false);

	ck_assert_int_eq(manifest_save(g->dirfd, m), 0);
	manifest_free(m);
	unlinkat(g->dirfd, "kernel/metadata", 0);
	unlinkat(g->dirfd, GEN_DIRECTORY "/metadata", 0);
	tables_are_made();
}
END_TEST

/* Also of a process of which nothing else is in the manifest yet. */
START_TEST(given_names_are_kept)
{
	struct manifest *m = gen_manifest(g, false);

	m->processes[0].given_name = strdup("s1");
	if (_i) {
		free(m->processes[0].directory);
		m->processes[0].directory = NULL;
		memset(m->processes[0].uuid, 0, sizeof(m->processes[0].uuid));
	}
	ck_assert_int_eq(manifest_save(g->dirfd, m), 0);
	manifest_free(m);
	tables_are_made();
	ck_assert_int_eq(manifest_load(g->dirfd, &m), 0);
	ck_assert_str_eq(m->processes[0].given_name, "s1");
	manifest_free(m);
}
END_TEST

START_TEST(missing_metadata_is_made)
{
	unlinkat(g->dirfd, GEN_DIRECTORY "/metadata", 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	session_is_whole();
	babeltrace2_reads_it();
}
END_TEST

/* A packet with a right checksum that begins a tick too early. */
START_TEST(a_clock_that_steps_back_loses_nothing)
{
	struct gen_stream *s = &g->s[GEN_CPU0];
	size_t size, at = s->events[20].packet;
	uint8_t *bytes = gen_load(g, s->path, &size), *copy;
	struct jis_packet_header h;
	struct trace *t;
	uint32_t nr = 0;

	memcpy(&h, bytes + at, sizeof(h));
	copy = malloc(h.content_size / 8);
	memcpy(copy, bytes + at, h.content_size / 8);
	h.timestamp_begin = h.timestamp_end = s->events[0].time;
	memcpy(copy, &h, sizeof(h));
	h.crc32c = packet_crc32c((void *)copy);
	memcpy(bytes + at, &h, sizeof(h));
	free(copy);
	gen_store(g, s->path, bytes, size);
	free(bytes);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	session_is_whole();
	babeltrace2_reads_it();
	ck_assert_int_eq(trace_open(g->path, NULL, &t), 0);
	while (stream_cursor_next(&t->streams[0]))
		nr++;
	trace_close(t);
	ck_assert_uint_eq(nr, s->nr);
}
END_TEST

START_TEST(counters_of_a_clean_stop_are_kept)
{
	struct gen_stream *s = &g->s[GEN_CPU0];
	struct manifest *m = gen_manifest(g, true);
	const struct stream_entry *e;
	uint64_t cut = 0;

	m->streams[GEN_CPU0].produced[1] += 5;
	m->streams[GEN_CPU0].lost[1] = 5;
	ck_assert_int_eq(manifest_save(g->dirfd, m), 0);
	manifest_free(m);
	for (uint32_t i = 0; i < s->nr; i++)
		cut += s->events[i].packet >= s->events[20].packet && s->events[i].id == 1;
	damage(GEN_CPU0, s->events[20].packet - 1, true);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	ck_assert_int_eq(manifest_load(g->dirfd, &m), 0);
	for (e = m->streams; strcmp(e->path, s->path); e++)
		;
	ck_assert(e->clean);
	ck_assert_uint_eq(e->produced[1], s->b.stored[1] + 5);
	ck_assert_uint_ge(e->lost[1], cut + 5);
	ck_assert_uint_eq(e->produced[1], e->stored[1] + e->lost[1]);
	manifest_free(m);
}
END_TEST

/* Without a manifest the clock follows from the readings of all clocks. */
START_TEST(the_clock_is_found)
{
	const uint64_t base = 5ull << 40, frequency = 2500000000ull;
	struct packet_builder b;
	struct stream_writer *w;
	struct manifest *m;

	unlinkat(g->dirfd, MANIFEST_FILE, 0);
	unlinkat(g->dirfd, "kernel/recorder", 0);
	ck_assert_int_eq(stream_writer_create(g->dirfd, "kernel/recorder", &w), 0);
	ck_assert_int_eq(packet_builder_init(&b, 4096, JIS_STREAM_RECORDER, 0, g->s[0].id.uuid), 0);
	for (uint64_t s = 1; s < 4; s++) {
		struct jis_ev_clock_sync sync = {.tsc = base + s * frequency,
						 .monotonic_raw = 777 + s * 1000000000,
						 .realtime =
							 1700000000000000000ull + s * 1000000000};

		ck_assert_int_eq(packet_builder_add(&b, JIS_EV_clock_sync, s * frequency, &sync,
						    sizeof(sync), NULL),
				 0);
	}
	ck_assert_int_eq(stream_writer_append(w, packet_builder_close(&b, 0)), 0);
	ck_assert_int_eq(stream_writer_close(w), 0);
	packet_builder_fini(&b);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	ck_assert_int_eq(manifest_load(g->dirfd, &m), 0);
	ck_assert_uint_eq(m->clock, JIS_CLOCK_TSC);
	ck_assert_uint_eq(m->base, base);
	ck_assert_uint_eq(m->frequency, frequency);
	ck_assert_int_eq(m->realtime_offset, 1700000000000000000);
	manifest_free(m);
}
END_TEST

START_TEST(what_is_no_stream_is_moved_aside)
{
	struct stat st;

	unlinkat(g->dirfd, MANIFEST_FILE, 0);
	gen_store(g, "kernel/README", (const uint8_t *)"stray", 5);
	gen_store(g, GEN_DIRECTORY "/slot-9", (const uint8_t *)"", 0);
	ck_assert_int_eq(mkdirat(g->dirfd, "kernel/cpu-7", 0755), 0);
	ck_assert_int_eq(symlinkat("/etc/passwd", g->dirfd, "kernel/cpu-8"), 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	ck_assert_int_eq(fstatat(g->dirfd, "kernel/.README.damaged", &st, 0), 0);
	session_is_whole();
	babeltrace2_reads_it();
}
END_TEST

START_TEST(a_recording_under_way_is_refused)
{
	ck_assert_int_eq(unlinkat(g->dirfd, MANIFEST_FILE, 0), 0);
	ck_assert_int_eq(flock(g->dirfd, LOCK_EX | LOCK_NB), 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), -EBUSY);
	flock(g->dirfd, LOCK_UN);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
}
END_TEST

START_TEST(nothing_to_recover)
{
	gen_remove(g->dirfd, "kernel");
	gen_remove(g->dirfd, GEN_DIRECTORY);
	unlinkat(g->dirfd, MANIFEST_FILE, 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), -ENODATA);
	ck_assert_int_eq(trace_recover("/nonexistent", NULL, NULL), -ENOENT);
	ck_assert_int_eq(trace_recover("/etc/passwd", NULL, NULL), -ENOTDIR);
}
END_TEST

START_TEST(opening_says_what_is_wrong)
{
	struct manifest *m = gen_manifest(g, false);
	struct trace *t;

	ck_assert_int_eq(trace_open("/nonexistent", NULL, &t), -ENOENT);
	ck_assert_int_eq(trace_open("/etc/passwd", NULL, &t), -ENOTDIR);
	ck_assert_int_eq(manifest_save(g->dirfd, m), 0);
	manifest_free(m);
	ck_assert_int_eq(trace_open(g->path, NULL, &t), -EUCLEAN);
	gen_store(g, MANIFEST_FILE, (const uint8_t *)"{}", 2);
	ck_assert_int_eq(trace_open(g->path, NULL, &t), -EBADMSG);
	gen_store(g, MANIFEST_FILE, (const uint8_t *)"{\"format\": 2}", 13);
	ck_assert_int_eq(trace_open(g->path, NULL, &t), -EPROTONOSUPPORT);
	unlinkat(g->dirfd, MANIFEST_FILE, 0);
	ck_assert_int_eq(trace_open(g->path, NULL, &t), -ENODATA);
}
END_TEST

static void count(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end, uint64_t offset,
		  uint64_t length, const char *reason)
{
	(*(uint32_t *)ctx)++;
}

START_TEST(a_missing_stream_is_told)
{
	uint32_t damages = 0;
	const struct stream_observer observer = {.damage = count, .ctx = &damages};
	struct trace *t;

	unlinkat(g->dirfd, "kernel/cpu-1", 0);
	ck_assert_int_eq(trace_open(g->path, &observer, &t), 0);
	ck_assert_uint_eq(damages, 1);
	trace_close(t);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	session_is_whole();
}
END_TEST

static void note_reason(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
			uint64_t offset, uint64_t length, const char *reason)
{
	uint64_t *seen = ctx;

	ck_assert_str_eq(reason, "packets are missing");
	ck_assert_uint_eq(end, TIME_NONE);
	ck_assert_uint_eq(c->instance, 0);
	seen[0]++;
	seen[1] = begin;
}

/* Reads all; returns how often something was told to be missing at the end, and from when on. */
static uint64_t missing_at_end(uint64_t *begin)
{
	uint64_t seen[2] = {0};
	const struct stream_observer observer = {.damage = note_reason, .ctx = seen};
	struct trace *t;

	ck_assert_int_eq(trace_open(g->path, &observer, &t), 0);
	for (uint32_t i = 0; i < t->nr_streams; i++)
		while (stream_cursor_next(&t->streams[i]))
			;
	trace_close(t);
	*begin = seen[1];
	return seen[0];
}

START_TEST(a_cut_between_two_packets_is_told)
{
	struct gen_stream *s = &g->s[GEN_CPU0];
	uint64_t begin, last = 0;
	struct manifest *m;
	size_t size, cut = 0;
	uint8_t *bytes = gen_load(g, s->path, &size);

	ck_assert_uint_gt(s->packets, 2);
	ck_assert_uint_eq(missing_at_end(&begin), 0);
	for (uint32_t i = s->nr; i-- > 0;) {
		if (s->events[i].packet == cut)
			continue; /* not the first event of its packet, seen from behind */
		cut = s->events[i].packet;
		gen_store(g, s->path, bytes, cut);
		last = 0;
		for (uint32_t k = 0; k < s->nr && s->events[k].end <= cut; k++)
			last = s->events[k].time;
		ck_assert_uint_eq(missing_at_end(&begin), 1);
		ck_assert_uint_ge(begin, last);
	}
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), -EALREADY); /* nothing to mend */
	cut = s->events[s->nr - 1].packet;
	gen_store(g, s->path, bytes, cut);
	free(bytes);
	unlinkat(g->dirfd, "kernel/metadata", 0);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	ck_assert_uint_eq(missing_at_end(&begin), 0); /* the manifest says it now */
	ck_assert_int_eq(manifest_load(g->dirfd, &m), 0);
	ck_assert_uint_eq(m->nr_damages, 1);
	ck_assert_str_eq(m->damages[0].path, s->path);
	ck_assert_str_eq(m->damages[0].reason, "packets are missing");
	ck_assert_uint_eq(m->damages[0].end, TIME_NONE);
	manifest_free(m);
}
END_TEST

#define HOLE ((off_t)1 << 40)

/* Makes a hole of HOLE bytes in @s at @offset. */
static void make_hole(const struct gen_stream *s, size_t offset)
{
	int fd = openat(g->dirfd, s->path, O_RDWR | O_CLOEXEC);
	size_t size;
	uint8_t *bytes = gen_load(g, s->path, &size);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)offset), 0);
	ck_assert_int_eq(pwrite(fd, bytes + offset, size - offset, HOLE + (off_t)offset),
			 size - offset);
	if (offset == size)
		ck_assert_int_eq(ftruncate(fd, HOLE + (off_t)offset), 0);
	close(fd);
	free(bytes);
}

/* To look at each page of a hole of that size would outlast the test's time by far. */
static void hole_is_stepped_over(const struct gen_stream *s, size_t offset)
{
	uint32_t damages = 0;
	const struct stream_observer observer = {.damage = count, .ctx = &damages};
	struct trace *t;
	struct stat st;

	make_hole(s, offset);
	ck_assert_int_eq(trace_open(g->path, &observer, &t), 0);
	for (uint32_t i = 0; i < t->nr_streams; i++)
		while (stream_cursor_next(&t->streams[i]))
			;
	trace_close(t);
	ck_assert_uint_ge(damages, 1);
	events_are_kept(s, offset, offset);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	events_are_kept(s, offset, offset);
	session_is_whole();
	ck_assert_int_eq(fstatat(g->dirfd, s->path, &st, 0), 0);
	ck_assert_int_lt(st.st_size, HOLE);
	ck_assert_int_eq(fstatat(g->dirfd, "kernel/.cpu-0.damaged", &st, 0), 0);
	ck_assert_int_lt(st.st_blocks, 1 << 20); /* what was a hole is one there too */
}

START_TEST(a_hole_between_packets)
{
	const struct gen_stream *s = &g->s[GEN_CPU0];

	hole_is_stepped_over(s, s->events[s->nr / 2].packet);
}
END_TEST

START_TEST(a_hole_at_the_end)
{
	size_t size;

	free(gen_load(g, g->s[GEN_CPU0].path, &size));
	hole_is_stepped_over(&g->s[GEN_CPU0], size);
}
END_TEST

START_TEST(a_hole_within_a_packet)
{
	const struct gen_stream *s = &g->s[GEN_CPU0];
	size_t offset = s->events[s->nr / 2].packet;

	make_hole(s, offset + JIS_PACKET_HEADER_SIZE);
	ck_assert_int_eq(trace_recover(g->path, NULL, NULL), 0);
	events_are_kept(s, offset, SIZE_MAX);
	session_is_whole();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_recover");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_whole_session_is_left_alone);
	tcase_add_loop_test(t, damage_is_recovered, 0, 40);
	tcase_add_loop_test(t, many_damages_at_once, 0, 20);
	tcase_add_test(t, no_manifest);
	tcase_add_test(t, broken_manifest);
	tcase_add_test(t, provisional_manifest);
	tcase_add_loop_test(t, given_names_are_kept, 0, 2);
	tcase_add_test(t, missing_metadata_is_made);
	tcase_add_test(t, a_cut_between_two_packets_is_told);
	tcase_add_test(t, a_hole_between_packets);
	tcase_add_test(t, a_hole_at_the_end);
	tcase_add_test(t, a_hole_within_a_packet);
	tcase_add_test(t, a_clock_that_steps_back_loses_nothing);
	tcase_add_test(t, counters_of_a_clean_stop_are_kept);
	tcase_add_test(t, the_clock_is_found);
	tcase_add_test(t, what_is_no_stream_is_moved_aside);
	tcase_add_test(t, a_recording_under_way_is_refused);
	tcase_add_test(t, nothing_to_recover);
	tcase_add_test(t, opening_says_what_is_wrong);
	tcase_add_test(t, a_missing_stream_is_told);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
