/* SPDX-License-Identifier: MIT */
/*
 * JaViz's profiles, as text: what each JVM's threads entered and left (.prf), its remote calls as a
 * client (.clp) and as a server (.svp), and the first with links to the other JVMs' (.mrg).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree_int.h"

enum { PRF, CLP, SVP, MRG, NR_FILES };

static const char *const suffixes[NR_FILES] = {"prf", "clp", "svp", "mrg"};
static const char *const headings[NR_FILES] = {
	"#enter S, exit E, thrown X\ttime_ns\tthread\tmethod\n",
	"#begin_ns\tend_ns\tthread\tserver\tobject\tmethod\tclient's port\tuid\n",
	"#begin_ns\tend_ns\tthread\tclient\tobject\tmethod\tclient's port\tuid\n",
	"#as .prf; called C, served V\tbegin_ns\tthread\tmethod\tend_ns\tother's .mrg\tits thread\t"
	"its begin_ns\tits end_ns\n",
};

struct profiles {
	FILE *(*files)[NR_FILES]; /* [processes] */
	uint32_t nr;
};

int profiles_begin(struct calltree *t)
{
	t->profiles = calloc(1, sizeof(*t->profiles));
	if (!t->profiles)
		return -ENOMEM;
	t->profiles->nr = t->info->nr_processes;
	t->profiles->files = calloc(t->profiles->nr + 1ull, sizeof(*t->profiles->files));
	return t->profiles->files ? 0 : -ENOMEM;
}

/* "s1-4711.mrg": what its files are called beside their place. */
static int file_name(const struct calltree *t, uint32_t process, int file, char *name, size_t room)
{
	const struct process_entry *p = &t->info->processes[process];
	const char *text = process_entry_name(p);
	int n = snprintf(name, room, "%s-%" PRIu32 ".%s", text ? text : "jvm", p->pid,
			 suffixes[file]);

	/* A pid comes again, after a long time. */
	for (uint32_t i = 0; i < process; i++) {
		if (t->info->processes[i].pid != p->pid)
			continue;
		n = snprintf(name, room, "%s-%" PRIu32 ".%" PRIu32 ".%s", text ? text : "jvm",
			     p->pid, process, suffixes[file]);
		break;
	}
	for (char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '_';
	return n;
}

/* Opened when there is something to be said in it. */
static FILE *file_of(struct calltree *t, uint32_t process, int file)
{
	FILE **f = &t->profiles->files[process][file];
	char name[256], *path;

	if (*f)
		return *f;
	file_name(t, process, file, name, sizeof(name));
	if (asprintf(&path, "%s.%s", t->prefix, name) < 0)
		return NULL;
	*f = fopen(path, "we");
	free(path);
	if (*f)
		fputs(headings[file], *f);
	return *f;
}

static int call_line(struct calltree *t, const struct tree_thread *th, char what, uint64_t time,
		     uint32_t method)
{
	for (int file = PRF; file <= MRG; file += MRG - PRF) {
		FILE *f = file_of(t, th->process, file);

		if (!f)
			return -errno;
		fprintf(f, "%c\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\n", what, time,
			tree_thread_number(t, th), method);
	}
	return 0;
}

int profiles_enter(struct calltree *t, const struct tree_thread *th, const struct model_call *call)
{
	return t->profiles ? call_line(t, th, 'S', call->begin, call->method) : 0;
}

int profiles_exit(struct calltree *t, const struct tree_thread *th, const struct model_call *call)
{
	bool thrown = call->flags & MODEL_CALL_UNWOUND;

	return t->profiles ? call_line(t, th, thrown ? 'X' : 'E', call->end, call->method) : 0;
}

static int remote_line(struct calltree *t, const struct jta_record *r,
		       const struct model_remote_end *end, const struct model_remote_call *call)
{
	FILE *f = file_of(t, end->process, r->kind == JTA_REMOTE ? CLP : SVP);

	if (!f)
		return -errno;
	fprintf(f, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu32, r->begin, r->end, r->thread);
	tree_put_field(f, model_name(t->model, end->peer));
	fprintf(f, "\t%" PRId64 "\t%" PRIu32 "\t%u", call->object, r->method,
		r->kind == JTA_REMOTE ? end->port : end->peer_port);
	if (call->uid.time)
		fprintf(f, "\t%" PRIx32 ":%" PRIx64 ":%" PRId32 "\n", (uint32_t)call->uid.unique,
			(uint64_t)call->uid.time, call->uid.count);
	else
		fputs("\t-\n", f);
	return 0;
}

static int link_line(struct calltree *t, uint32_t process, char what, const struct jta_record *r,
		     uint32_t other_process, const struct jta_record *other)
{
	FILE *f = file_of(t, process, MRG);
	char name[256];

	if (!f)
		return -errno;
	file_name(t, other_process, MRG, name, sizeof(name));
	fprintf(f, "%c\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64, what, r->begin, r->thread,
		r->method, r->end);
	tree_put_field(f, name);
	fprintf(f, "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\n", other->thread, other->begin,
		other->end);
	return 0;
}

int profiles_remote(struct calltree *t, const struct model_remote_call *call, uint64_t client,
		    uint64_t server)
{
	const struct jta_record *c = client ? tree_record(&t->file, client) : NULL;
	const struct jta_record *s = server ? tree_record(&t->file, server) : NULL;
	int err = 0;

	if (!t->profiles)
		return 0;
	if (c)
		err = remote_line(t, c, &call->client, call);
	if (s && !err)
		err = remote_line(t, s, &call->server, call);
	if (c && s && !err)
		err = link_line(t, call->client.process, 'C', c, call->server.process, s);
	if (c && s && !err)
		err = link_line(t, call->server.process, 'V', s, call->client.process, c);
	return err;
}

/* What was written is there, or could not be. */
int profiles_end(struct calltree *t)
{
	int err = 0;

	for (uint32_t i = 0; t->profiles && i < t->profiles->nr; i++) {
		for (int file = 0; t->profiles->files && file < NR_FILES; file++) {
			FILE *f = t->profiles->files[i][file];
			int failed = f ? tree_file_ended(f) : 0;

			if (failed && !err)
				err = failed;
		}
	}
	if (t->profiles)
		free(t->profiles->files);
	free(t->profiles);
	t->profiles = NULL;
	return err;
}
