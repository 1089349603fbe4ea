/* SPDX-License-Identifier: MIT */
/*
 * Rewrites class files on disk with the agent's own rewriter, without a JVM. Every method that has
 * code calls java.lang.JProbe$.enter(int) at entry and exit(int) at each exit; with `monitors` also
 * locked(Object, int) and unlock(Object, int), with `this` entered(Object, int) and
 * left(Object result, Object receiver, int). `product` has the agent's own calls of a traced method
 * in place of `entry` and `exit`, which tell its exits apart. The numbers count up from FIRST (0).
 * Usage: rewrite_classes FROM TO MODE [EVERY [FIRST]]: the class files of directory FROM, or each
 * EVERY-th of them, into TO under the same names. MODE: comma-separated of product, entry, exit,
 * monitors, this, intrinsics; `copy` puts nothing in, but takes each method apart and writes it
 * again. Prints "number class method descriptor" of each method changed on stderr, "refused ..." of
 * those left as they are, and in the end "classes N methods N refused N exempt N unchanged N
 * damaged N different N"; exempt are those that are never rewritten, different the copies that are
 * not equal.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/classfile.h"
#include "agent/methods_calls.h"

enum {
	MODE_ENTRY = 1,
	MODE_EXIT = 2,
	MODE_MONITORS = 4,
	MODE_THIS = 8,
	MODE_COPY = 16,
	MODE_PRODUCT = 32
};

static const char *from, *to;
static unsigned int mode, options, every = 1, seen;
static unsigned int classes, methods, refusals, exempt, unchanged, damaged, different;
static int32_t next_number;

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

static void say(const char *what, const struct jis_method *m, const char *why)
{
	size_t class, name, type;
	const char *c = jis_class_name(m->class, &class);
	const char *n = jis_class_utf8(m->class, m->name, &name);
	const char *d = jis_class_utf8(m->class, m->descriptor, &type);

	fprintf(stderr, "%s %.*s %.*s %.*s%s%s\n", what, c ? (int)class : 1, c ? c : "?",
		n ? (int)name : 1, n ? n : "?", d ? (int)type : 1, d ? d : "?", why ? " : " : "",
		why ? why : "");
}

static void call_add(struct jis_call *call, unsigned int places, const char *method,
		     const char *descriptor)
{
	call->places = places;
	call->class = PROBE_CLASS;
	call->method = method;
	call->descriptor = descriptor;
	call->nr_args = 0;
}

static void arg_add(struct jis_call *call, enum jis_arg_kind kind)
{
	call->args[call->nr_args++] = (struct jis_arg){.kind = kind, .value = next_number};
}

static unsigned int choose(void *context, const struct jis_method *m, struct jis_call *calls)
{
	unsigned int n = 0, i;
	char number[16];

	if (mode & MODE_ENTRY)
		call_add(&calls[n++], JIS_AT_ENTRY, "enter", "(I)V");
	if (mode & MODE_EXIT)
		call_add(&calls[n++], JIS_AT_EXIT, "exit", "(I)V");
	if (mode & MODE_MONITORS) {
		call_add(&calls[n], JIS_AT_LOCKED, "locked", "(Ljava/lang/Object;I)V");
		arg_add(&calls[n++], JIS_ARG_OBJECT);
		call_add(&calls[n], JIS_AT_UNLOCK, "unlock", "(Ljava/lang/Object;I)V");
		arg_add(&calls[n++], JIS_ARG_OBJECT);
	}
	if (mode & MODE_THIS) {
		call_add(&calls[n], JIS_AT_ENTRY, "entered", "(Ljava/lang/Object;I)V");
		arg_add(&calls[n++], JIS_ARG_THIS);
		call_add(&calls[n], JIS_AT_EXIT, "left",
			 "(Ljava/lang/Object;Ljava/lang/Object;I)V");
		arg_add(&calls[n], JIS_ARG_RESULT);
		arg_add(&calls[n++], JIS_ARG_THIS);
	}
	for (i = 0; i < n; i++)
		arg_add(&calls[i], JIS_ARG_NUMBER);
	if (mode & MODE_PRODUCT)
		n += methods_calls(&calls[n], PROBE_CLASS, (uint32_t)next_number, 0);
	snprintf(number, sizeof(number), "%d", next_number++);
	if (n)
		say(number, m, NULL);
	return n;
}

/* Reasons of the list that is never rewritten, and not for what the method's code is like. */
static int is_exempt(const char *why)
{
	return strstr(why, "marked") || strstr(why, "never") || strstr(why, "stacks") ||
	       strstr(why, "Mount") || strstr(why, "themselves");
}

static void refused(void *context, const struct jis_method *m, const char *why)
{
	say("refused", m, why);
	if (is_exempt(why))
		exempt++;
	else
		refusals++;
}

static void class_rewrite(const char *path, const void *data, size_t size)
{
	struct jis_plan plan = {.choose = choose, .refused = refused, .options = options};
	struct jis_bytes out = {0};
	char target[4096];
	int n = jis_class_rewrite(data, size, &plan, &out);

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(-n));
		damaged++;
		return;
	}
	methods += (unsigned int)n;
	if (!n) {
		unchanged++;
		return;
	}
	classes++;
	if (mode & MODE_COPY && (out.size != size || memcmp(out.data, data, size) != 0)) {
		fprintf(stderr, "different %s\n", path);
		different++;
	}
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
	data = malloc(size + !size);
	f = fopen(path, "rb");
	if (!data || !f || fread(data, 1, size, f) != size)
		die(path);
	fclose(f);
	class_rewrite(path, data, size);
	free(data);
	return 0;
}

static void mode_set(char *text)
{
	static const struct {
		const char *name;
		unsigned int mode, option;
	} modes[] = {{"product", MODE_PRODUCT, 0},
		     {"entry", MODE_ENTRY, 0},
		     {"exit", MODE_EXIT, 0},
		     {"monitors", MODE_MONITORS, 0},
		     {"this", MODE_THIS, 0},
		     {"copy", MODE_COPY, JIS_PLAN_ALL},
		     {"intrinsics", 0, JIS_PLAN_INTRINSICS},
		     {"huge", 0, JIS_PLAN_HUGE}};
	char *word;
	size_t i;

	for (word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
			if (strcmp(word, modes[i].name) != 0)
				continue;
			mode |= modes[i].mode;
			options |= modes[i].option;
			break;
		}
		if (i == sizeof(modes) / sizeof(*modes)) {
			fprintf(stderr, "rewrite_classes: no mode %s\n", word);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: rewrite_classes FROM TO MODE [EVERY [FIRST]]\n");
		return 2;
	}
	from = argv[1];
	to = argv[2];
	mode_set(argv[3]);
	if (argc > 4)
		every = (unsigned int)atoi(argv[4]);
	if (argc > 5)
		next_number = atoi(argv[5]);
	if (!every || nftw(from, visit, 32, FTW_PHYS) < 0)
		die(from);
	printf("classes %u methods %u refused %u exempt %u unchanged %u damaged %u different %u\n",
	       classes, methods, refusals, exempt, unchanged, damaged, different);
	return 0;
}
