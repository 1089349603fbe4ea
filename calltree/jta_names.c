/* SPDX-License-Identifier: MIT */
#include "jta_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "jis/jta.h"
#include "map64.h"

struct jta_names {
	struct jta_jvm_name *jvms;
	struct jta_thread_name *threads; /* from 1 */
	uint32_t nr_jvms, nr_threads;
	char **methods;
	uint32_t nr_methods;
	struct map64 by_method; /* number + 1: index */
	uint64_t most;		/* numbers of each kind: it has no room for more lines */
};

/* Room for element @index of an array of @nr; new ones are zero. */
static int array_reach(void **array, uint32_t *nr, uint32_t index, size_t size)
{
	char *grown;
	uint32_t room;

	if (index < *nr)
		return 0;
	for (room = *nr ? *nr : 64; room <= index; room *= 2)
		;
	grown = realloc(*array, room * size);
	if (!grown)
		return -ENOMEM;
	memset(grown + *nr * size, 0, (room - *nr) * size);
	*array = grown;
	*nr = room;
	return 0;
}

/* The next field, ended and with its escapes undone; NULL: there is none. */
static char *field(char **rest)
{
	char *from = *rest, *to = from, *begin = from;

	if (!from)
		return NULL;
	for (; *from && *from != '\t' && *from != '\n'; from++) {
		if (*from == '\\' && from[1]) {
			from++;
			*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
		} else {
			*to++ = *from;
		}
	}
	*rest = *from == '\t' ? from + 1 : NULL;
	*to = 0;
	return begin;
}

static bool number(char **rest, uint64_t *out)
{
	char *text = field(rest), *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end;
}

static int take_jvm(struct jta_names *n, char *rest)
{
	uint64_t jvm, pid;
	char *name, *program;
	int err;

	if (!number(&rest, &jvm) || !number(&rest, &pid) || !(name = field(&rest)) ||
	    !(program = field(&rest)) || jvm > n->most)
		return -EBADMSG;
	err = array_reach((void **)&n->jvms, &n->nr_jvms, (uint32_t)jvm, sizeof(*n->jvms));
	if (err || n->jvms[jvm].name)
		return err ? err : -EBADMSG;
	n->jvms[jvm] = (struct jta_jvm_name){strdup(name), strdup(program), (uint32_t)pid};
	return n->jvms[jvm].name && n->jvms[jvm].program ? 0 : -ENOMEM;
}

static int take_thread(struct jta_names *n, char *rest)
{
	uint64_t thread, jvm, tid, java_tid;
	char *name;
	int err;

	if (!number(&rest, &thread) || !number(&rest, &jvm) || !number(&rest, &tid) ||
	    !number(&rest, &java_tid) || !(name = field(&rest)) || thread > n->most)
		return -EBADMSG;
	err = array_reach((void **)&n->threads, &n->nr_threads, (uint32_t)thread,
			  sizeof(*n->threads));
	if (err || n->threads[thread].name)
		return err ? err : -EBADMSG;
	n->threads[thread] =
		(struct jta_thread_name){strdup(name), (uint32_t)jvm, (uint32_t)tid, java_tid};
	return n->threads[thread].name ? 0 : -ENOMEM;
}

static int take_method(struct jta_names *n, char *rest)
{
	uint32_t room = n->nr_methods;
	uint64_t method;
	char *name;
	int err;

	if (!number(&rest, &method) || !(name = field(&rest)) || method > UINT32_MAX)
		return -EBADMSG;
	if (!(room & (room + 1))) { /* the next power of two */
		char **grown;

		if (room > n->most)
			return -EBADMSG;
		grown = realloc(n->methods, (room * 2 + 1ull) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		n->methods = grown;
	}
	n->methods[n->nr_methods] = strdup(name);
	if (!n->methods[n->nr_methods])
		return -ENOMEM;
	err = map64_put(&n->by_method, method + 1, n->nr_methods++);
	return err;
}

static int take_line(struct jta_names *n, char *line)
{
	char *rest = line, *what = field(&rest);

	if (!strcmp(what, "jvm"))
		return take_jvm(n, rest);
	if (!strcmp(what, "thread"))
		return take_thread(n, rest);
	if (!strcmp(what, "method"))
		return take_method(n, rest);
	return -EBADMSG;
}

int jta_names_open(const char *jta_path, struct jta_names **out)
{
	size_t length = strlen(jta_path), room = 0;
	struct jta_names *n;
	char *path, *line = NULL;
	struct stat st;
	FILE *f;
	int err = 0;

	if (length < 4 || strcmp(jta_path + length - 4, ".jta") != 0)
		return -EINVAL;
	path = strdup(jta_path);
	if (!path)
		return -ENOMEM;
	memcpy(path + length - 4, ".mth", 4);
	f = fopen(path, "re");
	free(path);
	if (!f)
		return -errno;
	n = calloc(1, sizeof(*n));
	if (!n)
		err = -ENOMEM;
	if (!err && !fstat(fileno(f), &st))
		n->most = (uint64_t)st.st_size / 8; /* bytes of the shortest line */
	while (!err && getline(&line, &room, f) >= 0)
		err = take_line(n, line);
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	fclose(f);
	if (err) {
		jta_names_close(n);
		return err;
	}
	*out = n;
	return 0;
}

void jta_names_close(struct jta_names *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->nr_jvms; i++) {
		free(n->jvms[i].name);
		free(n->jvms[i].program);
	}
	for (uint32_t i = 0; i < n->nr_threads; i++)
		free(n->threads[i].name);
	for (uint32_t i = 0; i < n->nr_methods; i++)
		free(n->methods[i]);
	free(n->jvms);
	free(n->threads);
	free(n->methods);
	map64_free(&n->by_method);
	free(n);
}

const struct jta_jvm_name *jta_jvm_name(const struct jta_names *n, uint32_t jvm)
{
	return jvm < n->nr_jvms && n->jvms[jvm].name ? &n->jvms[jvm] : NULL;
}

const struct jta_thread_name *jta_thread_name(const struct jta_names *n, uint32_t thread)
{
	return thread < n->nr_threads && n->threads[thread].name ? &n->threads[thread] : NULL;
}

const char *jta_method_name(const struct jta_names *n, uint32_t method)
{
	const uint64_t *index = map64_get(&n->by_method, method + 1ull);

	return index ? n->methods[*index] : "?";
}
