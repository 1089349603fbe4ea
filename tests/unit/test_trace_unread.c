/* SPDX-License-Identifier: MIT */
/* Streams that cannot be read: all are told, why is known, and the others are read. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merger/model.h"
#include "trace/read.h"
#include "trace/write.h"

#define CPUS 200u

static char directory[64];
static uint8_t uuid[16] = "unread-uuid-----";

struct told {
	uint32_t nr, of_cpu[CPUS];
	uint64_t last;
};

static int on_damage(void *ctx, const struct model_damage *d)
{
	struct told *t = ctx;

	t->nr++;
	ck_assert_uint_lt(d->cpu, CPUS);
	t->of_cpu[d->cpu]++;
	ck_assert_uint_eq(d->begin, 0);
	ck_assert_uint_eq(d->end, 1000);
	return 0;
}

static void write_file(int dirfd, const char *path, const char *text)
{
	int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* CPU 0 has nothing to tell, CPU 1 is another's file, 2 a link, 3 a directory; of the others there
 * is no file. */
static void make_trace(void)
{
	struct manifest *m = manifest_new();
	int dirfd;

	strcpy(directory, "/tmp/jis-unread-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dirfd, 0);
	ck_assert_int_eq(mkdirat(dirfd, "kernel", 0700), 0);
	write_file(dirfd, "kernel/cpu-0", "");
	write_file(dirfd, "kernel/cpu-1", "this is no packet of that stream");
	ck_assert_int_eq(symlinkat("cpu-0", dirfd, "kernel/cpu-2"), 0);
	ck_assert_int_eq(mkdirat(dirfd, "kernel/cpu-3", 0700), 0);
	m->complete = true;
	m->frequency = 1000000000;
	m->end = 1000;
	m->nr_cpus = CPUS;
	memcpy(m->kernel_uuid, uuid, sizeof(uuid));
	m->streams = calloc(CPUS, sizeof(*m->streams));
	ck_assert_ptr_nonnull(m->streams);
	for (m->nr_streams = 0; m->nr_streams < CPUS; m->nr_streams++) {
		struct stream_entry *s = &m->streams[m->nr_streams];

		ck_assert_int_gt(asprintf(&s->path, "kernel/cpu-%u", m->nr_streams), 0);
		s->instance = m->nr_streams;
		s->packets = s->next_seq = m->nr_streams > 0;
	}
	ck_assert_int_eq(manifest_save(dirfd, m), 0);
	manifest_free(m);
	close(dirfd);
}

static void remove_trace(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static int why(uint32_t cpu)
{
	return cpu == 0	  ? 0
	       : cpu == 1 ? -EBADMSG
	       : cpu == 2 ? -ELOOP
	       : cpu == 3 ? -EINVAL
			  : -ENOENT;
}

START_TEST(every_stream_that_cannot_be_read_is_told)
{
	struct told told = {0};
	const struct model_sink sink = {.damage = on_damage, .ctx = &told};
	const struct model_sink *sinks[] = {&sink};
	const struct manifest *man;
	struct model *m;

	make_trace();
	ck_assert_int_eq(model_open(directory, NULL, &m), 0);
	ck_assert_int_eq(model_run(m, sinks, 1), 0);
	man = model_info(m)->manifest;
	ck_assert_uint_eq(man->nr_streams, CPUS);
	for (uint32_t i = 0; i < CPUS; i++) {
		uint32_t cpu = (uint32_t)man->streams[i].instance;

		ck_assert_int_eq(man->streams[i].unread, why(cpu));
		ck_assert_uint_eq(told.of_cpu[cpu], cpu > 0);
	}
	ck_assert_uint_eq(told.nr, CPUS - 1);
	model_close(m);
	remove_trace();
}
END_TEST

/* For observers that look at the trace from its first report on. */
struct seen {
	struct trace *t;
	uint32_t nr;
};

static void on_unread(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	struct seen *s = ctx;

	ck_assert_uint_eq(s->t->manifest->streams[c - s->t->streams].unread, why(c->instance));
	s->nr++;
}

START_TEST(the_reason_is_known_when_it_is_reported)
{
	struct seen seen = {0};
	const struct stream_observer observer = {.damage = on_unread, .ctx = &seen};

	make_trace();
	ck_assert_int_eq(trace_open(directory, &observer, &seen.t), 0);
	ck_assert_uint_eq(seen.nr, CPUS - 2);
	trace_close(seen.t);
	remove_trace();
}
END_TEST

START_TEST(a_stream_that_is_listed_twice_is_refused)
{
	struct manifest *m;
	struct trace *t;
	int dirfd;

	make_trace();
	dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dirfd, 0);
	ck_assert_int_eq(manifest_load(dirfd, &m), 0);
	free(m->streams[7].path);
	m->streams[7].path = strdup(m->streams[150].path);
	ck_assert_ptr_nonnull(m->streams[7].path);
	m->streams[7].instance = m->streams[150].instance;
	ck_assert_int_eq(manifest_save(dirfd, m), 0);
	manifest_free(m);
	close(dirfd);
	ck_assert_int_eq(trace_open(directory, NULL, &t), -EBADMSG);
	remove_trace();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_unread");
	TCase *t = tcase_create("unread");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, every_stream_that_cannot_be_read_is_told);
	tcase_add_test(t, the_reason_is_known_when_it_is_reported);
	tcase_add_test(t, a_stream_that_is_listed_twice_is_refused);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
