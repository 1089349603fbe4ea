/* SPDX-License-Identifier: MIT */
/* Exports a fed model into files of a directory of their own. */
#ifndef TEST_PRV_FILES_H
#define TEST_PRV_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "paraver-export/prv_int.h"
#undef NONE
#include "test_model_feed.h"

struct files {
	char dir[64], base[80];
	struct paraver *p;
};

static inline struct files files_new(void)
{
	struct files x = {.dir = "/tmp/jis-prv-XXXXXX"};

	ck_assert_ptr_nonnull(mkdtemp(x.dir));
	snprintf(x.base, sizeof(x.base), "%s/t", x.dir);
	return x;
}

/* What BASE + @ending holds, also when it is gzip; "" where there is no such file. To be freed. */
static inline char *content(const struct files *x, const char *ending)
{
	char path[128], *text = calloc(1, 1 << 20);
	gzFile f;

	snprintf(path, sizeof(path), "%s%s", x->base, ending);
	f = gzopen(path, "rb");
	if (f) {
		ck_assert_int_ge(gzread(f, text, (1 << 20) - 1), 0);
		gzclose(f);
	}
	return text;
}

static inline void files_are(const struct files *x, const char *ending, const char *expected)
{
	char *text = content(x, ending);

	ck_assert_str_eq(text, expected);
	free(text);
}

static inline void files_free(struct files *x)
{
	static const char *const endings[] = {".prv", ".prv.gz", ".pcf", ".row"};
	char path[128];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", x->base, endings[i]);
		unlink(path);
	}
	/* Fails where anything else was left there. */
	ck_assert_int_eq(rmdir(x->dir), 0);
}

static inline void start_model(struct feed *f)
{
	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
}

static inline void start_export(struct feed *f, struct files *x,
				const struct paraver_options *options)
{
	struct paraver_options o = *options;

	o.base = x->base;
	f->nr_sinks = 0;
	ck_assert_int_eq(paraver_open(f->m, &o, &x->p), 0);
	f->sinks[f->nr_sinks++] = paraver_sink(x->p);
}

/* The model is made before the export, which needs it, and begun after. */
static inline void start(struct feed *f, struct files *x, const struct paraver_options *options)
{
	start_model(f);
	start_export(f, x, options);
}

static inline void begin(struct feed *f)
{
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
}

static inline void finish(struct feed *f, struct files *x)
{
	ck_assert_int_eq(model_finish(f->m), 0);
	paraver_close(x->p);
}

static inline uint64_t line_begin(const char *line)
{
	uint64_t begin = 0;
	int colons = 0;

	for (; *line && colons < 5; line++)
		colons += *line == ':';
	sscanf(line, "%" SCNu64, &begin);
	return begin;
}

#endif /* TEST_PRV_FILES_H */
