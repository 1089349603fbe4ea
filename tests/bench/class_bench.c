/* SPDX-License-Identifier: MIT */
/*
 * Rewriting of class files in memory: CPU time of this one thread, entry and exit calls in each
 * method, memory for the result allocated and freed each time, as in the agent. Usage: class_bench
 * DIRECTORY [ROUNDS]: all class files below it.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/classfile.h"

#define MAX_ROUNDS 1000

static struct file {
	unsigned char *bytes;
	size_t size;
} * files;
static size_t nr_files, capacity, bytes_in;
static int32_t next_number;

static void die(const char *what)
{
	fprintf(stderr, "class_bench: %s\n", what);
	exit(1);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t length = strlen(path);
	struct file *file;
	FILE *f;

	if (type != FTW_F || length < 6 || strcmp(path + length - 6, ".class") != 0 || !st->st_size)
		return 0;
	if (nr_files == capacity) {
		capacity = capacity ? 2 * capacity : 1024;
		files = realloc(files, capacity * sizeof(*files));
		if (!files)
			die("no memory");
	}
	file = &files[nr_files++];
	file->size = (size_t)st->st_size;
	file->bytes = malloc(file->size);
	f = fopen(path, "rb");
	if (!file->bytes || !f || fread(file->bytes, 1, file->size, f) != file->size)
		die(path);
	fclose(f);
	bytes_in += file->size;
	return 0;
}

static unsigned int choose(void *context, const struct jis_method *m, struct jis_call *calls)
{
	static const char *const names[] = {"enter", "exit"};
	int i;

	for (i = 0; i < 2; i++)
		calls[i] = (struct jis_call){.places = i ? JIS_AT_EXIT : JIS_AT_ENTRY,
					     .class = "java/lang/JProbe$",
					     .method = names[i],
					     .descriptor = "(I)V",
					     .nr_args = 1,
					     .args = {{JIS_ARG_NUMBER, next_number}}};
	next_number++;
	return 2;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double rewrite_all(size_t *classes, size_t *methods, size_t *bytes_out)
{
	struct jis_plan plan = {.choose = choose};
	struct jis_bytes out = {0};
	double begin = cpu_seconds();
	size_t i;
	int n;

	*classes = *methods = *bytes_out = 0;
	next_number = 0;
	for (i = 0; i < nr_files; i++) {
		n = jis_class_rewrite(files[i].bytes, files[i].size, &plan, &out);
		*classes += n > 0;
		*methods += n > 0 ? (size_t)n : 0;
		*bytes_out += out.size ? out.size : files[i].size;
		jis_bytes_free(&out);
	}
	return cpu_seconds() - begin;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 7, i;
	size_t classes = 0, methods = 0, bytes_out = 0;
	double seconds[MAX_ROUNDS], median;

	if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS)
		die("usage: class_bench DIRECTORY [ROUNDS]");
	if (nftw(argv[1], visit, 32, FTW_PHYS) < 0 || !nr_files)
		die("no class files there");
	for (i = 0; i < rounds; i++)
		seconds[i] = rewrite_all(&classes, &methods, &bytes_out);
	qsort(seconds, (size_t)rounds, sizeof(*seconds), compare);
	median = seconds[rounds / 2];
	printf("rewrite %zu classes %zu methods median %.1f us a class (%.1f to %.1f), %.2f us a "
	       "method, "
	       "%.0f MB/s, grown %.1f %%\n",
	       classes, methods, median / (double)nr_files * 1e6,
	       seconds[0] / (double)nr_files * 1e6, seconds[rounds - 1] / (double)nr_files * 1e6,
	       median / (double)methods * 1e6, (double)bytes_in / median / 1e6,
	       ((double)bytes_out / (double)bytes_in - 1) * 100);
	for (i = 0; i < (int)nr_files; i++)
		free(files[i].bytes);
	free(files);
	return 0;
}
