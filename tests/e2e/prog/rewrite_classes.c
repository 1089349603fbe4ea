/* SPDX-License-Identifier: MIT */
/*
 * Rewrites class files on disk with the agent's own rewriter, without a JVM: each method that has
 * code calls java.lang.JProbe$.enter(int) first.
 * Usage: rewrite_classes FROM TO [EVERY]: the class files of directory FROM, or each EVERY-th of
 * them, into TO under the same names. Prints "classes N methods N refused N unchanged N damaged N".
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The agent's objects are in no library. */
#include "agent/classfile.c"
#include "agent/classfile_code.c"
#include "agent/classfile_entry.c"

static const char *from, *to;
static unsigned int every = 1, seen, classes, methods, refusals, unchanged, damaged;

static void die(const char *what)
{
	fprintf(stderr, "rewrite_classes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void file_write(const char *path, const struct jis_bytes *b)
{
	char part[4096];
	FILE *f;
	char *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = part + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(part, 0777);
	}
	f = fopen(path, "wb");
	if (!f || fwrite(b->data, 1, b->size, f) != b->size || fclose(f))
		die(path);
}

static void class_rewrite(const char *path, const void *data, size_t size)
{
	struct jis_entry_hook hook = {.probe_class = "java/lang/JProbe$",
				      .probe_method = "enter",
				      .probe_descriptor = "(I)V",
				      .numbered = 1,
				      .next_number = (int32_t)methods};
	struct jis_bytes out = {0};
	char target[4096];
	int n = jis_class_hook_entries(data, size, &hook, &out);

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(-n));
		damaged++;
		return;
	}
	if (hook.refused)
		fprintf(stderr, "%s: %u refused: %s\n", path, hook.refused, hook.why);
	refusals += hook.refused;
	methods += (unsigned int)n;
	if (!n) {
		unchanged++;
		return;
	}
	classes++;
	snprintf(target, sizeof(target), "%s%s", to, path + strlen(from));
	file_write(target, &out);
	jis_bytes_free(&out);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t length = strlen(path), size = (size_t)st->st_size;
	void *data;
	FILE *f;

	if (type != FTW_F || length < 6 || strcmp(path + length - 6, ".class") != 0 ||
	    strstr(path, "module-info") || strstr(path, "JProbe$") || seen++ % every)
		return 0;
	data = malloc(size);
	f = fopen(path, "rb");
	if (!data || !f || fread(data, 1, size, f) != size)
		die(path);
	fclose(f);
	class_rewrite(path, data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: rewrite_classes FROM TO [EVERY]\n");
		return 2;
	}
	from = argv[1];
	to = argv[2];
	if (argc > 3)
		every = (unsigned int)atoi(argv[3]);
	if (!every || nftw(from, visit, 32, FTW_PHYS) < 0)
		die(from);
	printf("classes %u methods %u refused %u unchanged %u damaged %u\n", classes, methods,
	       refusals, unchanged, damaged);
	return 0;
}
