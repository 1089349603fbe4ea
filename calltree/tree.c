/* SPDX-License-Identifier: MIT */
/*
 * The builder. Each Java thread has a stack of calls under way; one that ends becomes a record, the
 * last child of the call below it. Its own children, which are records already, learn its number
 * then. A served call is a stack's floor while it lasts: what its thread calls meanwhile is in it,
 * and it is in nothing of its own JVM.
 */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/grow.h"
#include "tree_int.h"

/* Threads ------------------------------------------------------------------------------------ */

/* A Java thread is known by its JVM and number; others by the kernel's. */
static uint64_t thread_key(uint32_t process, uint64_t java_tid, uint32_t thread)
{
	uint64_t key = java_tid ? java_tid << 1 : ((uint64_t)thread << 1 | 1);

	return (key ^ (uint64_t)(process + 1) << 44) + 1;
}

static struct tree_thread *thread_get(struct calltree *t, uint32_t process, uint64_t java_tid,
				      uint32_t thread, uint32_t vthread, bool is_virtual)
{
	uint64_t key = thread_key(process, java_tid, thread), *index = map64_get(&t->by_key, key);

	if (index)
		return &t->threads[*index];
	if (t->nr_threads == t->room_threads && !GROW(t->threads, t->room_threads, 64))
		return NULL;
	if (map64_put(&t->by_key, key, t->nr_threads))
		return NULL;
	t->threads[t->nr_threads] =
		(struct tree_thread){.process = process,
				     .java_tid = java_tid,
				     .thread = is_virtual ? MODEL_NO_THREAD : thread,
				     .vthread = vthread,
				     .is_virtual = is_virtual,
				     .starter = UINT32_MAX};
	return &t->threads[t->nr_threads++];
}

static int push(struct tree_thread *th, uint64_t number, uint16_t kind, uint64_t begin)
{
	if (th->nr == th->room && !GROW(th->nodes, th->room, 16))
		return -ENOMEM;
	th->nodes[th->nr++] = (struct node){.number = number, .kind = kind, .begin = begin};
	return 0;
}

/* Place of a node in its stack, from 1; 0: it is not there. */
static uint32_t find(const struct tree_thread *th, uint64_t number, uint16_t kind)
{
	uint32_t i = th->nr;

	while (i && (th->nodes[i - 1].number != number || th->nodes[i - 1].kind != kind))
		i--;
	return i;
}

/* Records ------------------------------------------------------------------------------------ */

/* What is in it learns where that is. */
static void adopt(struct calltree *t, uint64_t number, const struct chain *children)
{
	struct jta_record *r = tree_record(&t->file, number);

	r->first_child = children->first;
	r->last_child = children->last;
	r->children = children->nr;
	for (uint64_t n = children->first; n; n = tree_record(&t->file, n)->next)
		tree_record(&t->file, n)->parent = number;
}

/* One more child of a record that is written. */
static void add_late(struct calltree *t, uint64_t parent, uint64_t child)
{
	struct jta_record *r = tree_record(&t->file, parent);
	struct chain c = {r->first_child, r->last_child, r->children};

	chain_add(&t->file, &c, child);
	r->first_child = c.first;
	r->last_child = c.last;
	r->children = c.nr;
	tree_record(&t->file, child)->parent = parent;
}

/* In a call that is under way, else in none of its JVM's. */
static void add_below(struct calltree *t, struct tree_thread *th, uint32_t below, uint64_t number)
{
	if (below) {
		chain_add(&t->file, &th->nodes[below - 1].children, number);
		return;
	}
	chain_add(&t->file, &t->jvms[th->process], number);
	tree_record(&t->file, number)->parent = JTA_IN_JVM | th->process;
}

/* Numbers of calls grow from a stack's floor upwards; those of remote ends are others. */
static struct node *find_call(struct tree_thread *th, uint64_t number)
{
	uint32_t low = 0, high = th->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, at = middle;

		while (at < high && th->nodes[at].kind != JTA_METHOD)
			at++;
		if (at == high)
			high = middle;
		else if (th->nodes[at].number < number)
			low = at + 1;
		else if (th->nodes[at].number > number)
			high = middle;
		else
			return &th->nodes[at];
	}
	return NULL;
}

/* The call in which a thread was started, under way in any thread: mostly in the same as before. */
static struct node *find_starter(struct calltree *t, struct tree_thread *th, uint64_t number)
{
	struct node *n =
		th->starter != UINT32_MAX ? find_call(&t->threads[th->starter], number) : NULL;

	/* Else in one that came not long before it, mostly. */
	for (uint32_t i = (uint32_t)(th - t->threads); !n && i--;) {
		n = find_call(&t->threads[i], number);
		if (n)
			th->starter = i;
	}
	for (uint32_t i = (uint32_t)(th - t->threads); !n && ++i < t->nr_threads;) {
		n = find_call(&t->threads[i], number);
		if (n)
			th->starter = i;
	}
	return n;
}

/* The first call of a thread, record @number, goes into the call which started that. */
static void add_started(struct calltree *t, struct tree_thread *th, uint64_t starter,
			uint64_t number)
{
	const uint64_t *over = map64_get(&t->starters, starter);
	struct node *open = over ? NULL : find_starter(t, th, starter);

	if (over || open)
		tree_record(&t->file, number)->flags |= JTA_STARTED;
	if (over)
		add_late(t, *over, number);
	else if (open)
		chain_add(&t->file, &open->children, number);
	else
		add_below(t, th, 0, number);
}

/* The node at place @at (0: one that is in no stack) is over: record @number has its children. What
 * goes on above it stays in it where it @keeps that, as at the recording's end; also where a call
 * was served: that is the JDK's own, which has sent the answer. */
static void node_over(struct calltree *t, struct tree_thread *th, uint32_t at, uint64_t number,
		      bool keeps)
{
	if (!at)
		return;
	adopt(t, number, &th->nodes[at - 1].children);
	if ((keeps || th->nodes[at - 1].kind == JTA_SERVED) && at < th->nr)
		th->nodes[at].in = number;
	memmove(&th->nodes[at - 1], &th->nodes[at], (th->nr - at) * sizeof(*th->nodes));
	th->nr--;
	if (!th->nr && th->is_virtual) {
		free(th->nodes); /* there may be millions that have ended */
		th->nodes = NULL;
		th->room = 0;
	}
}

static uint64_t record_new(struct calltree *t, const struct tree_thread *th, uint16_t kind)
{
	uint64_t number = tree_file_add(&t->file);
	struct jta_record *r;

	if (!number)
		return 0;
	r = tree_record(&t->file, number);
	*r = (struct jta_record){.kind = kind,
				 .jvm = th->process,
				 .thread = tree_thread_number(t, th)};
	return number;
}

/* Calls of methods --------------------------------------------------------------------------- */

static struct tree_thread *call_thread(struct calltree *t, const struct model_call *call)
{
	return thread_get(t, call->process, call->java_tid, call->thread, call->vthread,
			  call->flags & MODEL_CALL_VIRTUAL);
}

static int on_call_begin(void *ctx, const struct model_call *call)
{
	struct calltree *t = ctx;
	struct tree_thread *th = call_thread(t, call);
	int err = th ? push(th, call->number, JTA_METHOD, call->begin) : -ENOMEM;

	return err ? err : profiles_enter(t, th, call);
}

static uint16_t call_flags(const struct model_call *call)
{
	return (uint16_t)((call->flags & MODEL_CALL_PART ? JTA_PART : 0) |
			  (call->flags & MODEL_CALL_UNWOUND ? JTA_THROWN : 0) |
			  (call->flags & MODEL_CALL_DOUBTFUL ? JTA_DOUBTFUL : 0) |
			  (call->flags & MODEL_CALL_STARTER ? JTA_STARTER : 0));
}

static int on_call_end(void *ctx, const struct model_call *call)
{
	struct calltree *t = ctx;
	struct tree_thread *th = call_thread(t, call);
	uint32_t at = th ? find(th, call->number, JTA_METHOD) : 0, below;
	uint64_t number = th ? record_new(t, th, JTA_METHOD) : 0, in;
	struct jta_record *r;
	int err;

	if (!th)
		return -ENOMEM;
	if (!number)
		return -errno;
	r = tree_record(&t->file, number);
	r->method = call->method;
	r->begin = call->begin;
	r->end = call->end;
	r->flags = call_flags(call);
	below = at ? at - 1 : th->nr;
	in = at ? th->nodes[at - 1].in : 0;
	node_over(t, th, at, number, call->flags & MODEL_CALL_OPEN);
	t->counts.methods++;
	t->counts.late += !at;
	if (in)
		add_late(t, in, number);
	else if (call->flags & MODEL_CALL_STARTED && !below)
		add_started(t, th, call->caller, number);
	else
		add_below(t, th, below, number);
	if (call->flags & MODEL_CALL_STARTER && map64_put(&t->starters, call->number, number))
		return -ENOMEM;
	err = profiles_exit(t, th, call);
	return err ? err : tree_stat_add(t, call->process, tree_record(&t->file, number));
}

/* Remote calls ------------------------------------------------------------------------------- */

static const struct model_remote_end *end_of(const struct model_remote_call *call)
{
	return call->client.known ? &call->client : &call->server;
}

static void moments(const struct model_remote_call *call, uint64_t *begin, uint64_t *end)
{
	*begin = TIME_NONE;
	*end = 0;
	for (int i = 0; i < MODEL_NR_REMOTE_MOMENTS; i++) {
		if (call->at[i] == TIME_NONE)
			continue;
		if (*begin == TIME_NONE)
			*begin = call->at[i];
		*end = call->at[i];
	}
}

/* Both its begin and its end were recorded. */
static bool is_whole(const struct model_remote_call *call, bool client)
{
	const uint64_t *at = call->at;

	if (!client)
		return at[MODEL_REMOTE_SERVE] != TIME_NONE && at[MODEL_REMOTE_ANSWER] != TIME_NONE;
	return (at[MODEL_REMOTE_INVOKE] != TIME_NONE || at[MODEL_REMOTE_CALL] != TIME_NONE) &&
	       at[MODEL_REMOTE_RETURN] != TIME_NONE;
}

static struct tree_thread *remote_thread(struct calltree *t, const struct model_remote_end *end)
{
	return thread_get(t, end->process, end->java_tid, end->who.thread, end->who.vthread,
			  end->virtual);
}

static int on_remote_begin(void *ctx, const struct model_remote_call *call)
{
	struct calltree *t = ctx;
	const struct model_remote_end *end = end_of(call);
	struct tree_thread *th = remote_thread(t, end);
	uint64_t begin, last;

	moments(call, &begin, &last);
	return th ? push(th, end->number, end == &call->client ? JTA_REMOTE : JTA_SERVED, begin)
		  : -ENOMEM;
}

/* It is written; where it belongs is known of a client's end only. */
static int end_write(struct calltree *t, const struct model_remote_call *call, uint64_t *number)
{
	const struct model_remote_end *end = end_of(call);
	bool client = end == &call->client;
	uint16_t kind = client ? JTA_REMOTE : JTA_SERVED;
	struct tree_thread *th = remote_thread(t, end);
	struct jta_record *r;
	uint32_t at, below;
	uint64_t in;

	if (!th)
		return -ENOMEM;
	at = find(th, end->number, kind);
	*number = record_new(t, th, kind);
	if (!*number)
		return -errno;
	r = tree_record(&t->file, *number);
	moments(call, &r->begin, &r->end);
	if (call->gone_on != TIME_NONE && call->gone_on > r->end)
		r->end = call->gone_on;
	r->method = remote_method(end->method);
	r->flags = (end->result & JIS_RMI_THROWN ? JTA_THROWN : 0) |
		   (call->internal ? JTA_INTERNAL : 0);
	if (!is_whole(call, client))
		r->flags |= JTA_PART;
	below = at ? at - 1 : th->nr;
	in = at ? th->nodes[at - 1].in : 0;
	node_over(t, th, at, *number, false);
	if (client && in)
		add_late(t, in, *number);
	else if (client)
		add_below(t, th, below, *number);
	t->counts.remote += client;
	t->counts.served += !client;
	t->counts.late += !at;
	return 0;
}

static int on_remote_end(void *ctx, const struct model_remote_call *call)
{
	struct calltree *t = ctx;
	uint64_t number;
	int err = end_write(t, call, &number);

	return err ? err : map64_put(&t->ends, end_of(call)->number, number);
}

/* A served call whose client is not known. */
static void add_to_root(struct calltree *t, uint64_t server)
{
	tree_record(&t->file, server)->flags |= JTA_UNMATCHED;
	tree_record(&t->file, server)->parent = JTA_IN_ROOT;
	chain_add(&t->file, &t->root, server);
}

/* Both ends, or why there is one; both are written. */
static int on_remote(void *ctx, const struct model_remote_call *call)
{
	struct calltree *t = ctx;
	uint64_t client = 0, server = 0;
	struct jta_record *r;
	int err = 0;

	if (call->client.known && !map64_take(&t->ends, call->client.number, &client))
		client = 0;
	if (call->server.known && !map64_take(&t->ends, call->server.number, &server))
		server = 0;
	if (client) {
		r = tree_record(&t->file, client);
		r->flags |= (call->internal ? JTA_INTERNAL : 0) | (server ? 0 : JTA_UNMATCHED) |
			    (call->at[MODEL_REMOTE_RETURN] == TIME_NONE ||
					     call->match == MODEL_REMOTE_FAILED
				     ? JTA_FAILED
				     : 0);
		if (!r->method && call->server.known)
			r->method = remote_method(call->server.method);
		t->counts.internal += call->internal;
		err = tree_stat_add(t, call->client.process, r);
	}
	if (server) {
		r = tree_record(&t->file, server);
		r->flags |= (call->internal ? JTA_INTERNAL : 0) | (client ? 0 : JTA_UNMATCHED);
		if (!r->method && call->client.known)
			r->method = remote_method(call->client.method);
		if (!err)
			err = tree_stat_add(t, call->server.process, r);
	}
	if (!err)
		err = profiles_remote(t, call, client, server);
	if (client && server) {
		add_late(t, client, server);
		t->counts.linked++;
	} else if (server) {
		add_to_root(t, server);
	}
	return err;
}

/* The end ------------------------------------------------------------------------------------ */

/* What nobody told the end of. */
static int threads_over(struct calltree *t)
{
	for (uint32_t i = 0; i < t->nr_threads; i++) {
		struct tree_thread *th = &t->threads[i];

		while (th->nr) {
			const struct node *n = &th->nodes[th->nr - 1];
			uint64_t number = record_new(t, th, n->kind);
			struct jta_record *r = number ? tree_record(&t->file, number) : NULL;
			bool served;

			if (!r)
				return -errno;
			r->begin = n->begin;
			r->end = t->info->end;
			r->flags = JTA_PART;
			served = n->kind == JTA_SERVED;
			node_over(t, th, th->nr, number, false);
			if (served)
				add_to_root(t, number);
			else
				add_below(t, th, th->nr, number);
		}
	}
	/* And served calls of which nobody told whose they are. */
	for (uint64_t i = 0; t->ends.slots && i <= t->ends.mask; i++) {
		const struct map64_slot *s = &t->ends.slots[i];

		if (s->key && tree_record(&t->file, s->value)->kind == JTA_SERVED)
			add_to_root(t, s->value);
	}
	return 0;
}

/* A record for @children, of which each knows already that it is in it. */
static uint64_t parent_write(struct calltree *t, uint16_t kind, const struct chain *children)
{
	uint64_t number = tree_file_add(&t->file);
	struct jta_record *r = number ? tree_record(&t->file, number) : NULL;

	if (!r)
		return 0;
	*r = (struct jta_record){.kind = kind,
				 .first_child = children->first,
				 .last_child = children->last,
				 .children = children->nr,
				 .begin = t->info->begin,
				 .end = t->info->end};
	return number;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	struct calltree *t = ctx;
	struct jta_header header = {.magic = JTA_MAGIC,
				    .version = JTA_VERSION,
				    .record_bytes = JTA_RECORD_BYTES,
				    .jvms = t->info->nr_processes,
				    .begin = t->info->begin,
				    .end = t->info->end};
	uint64_t number = 0;
	int err = threads_over(t);

	(void)counts;
	for (uint32_t i = 0; !err && i < t->info->nr_processes; i++) {
		number = parent_write(t, JTA_JVM, &t->jvms[i]);
		if (!number)
			return -errno;
		tree_record(&t->file, number)->jvm = i;
		tree_record(&t->file, number)->parent = JTA_IN_ROOT;
		chain_add(&t->file, &t->root, number);
	}
	if (err)
		return err;
	header.root = parent_write(t, JTA_ROOT, &t->root);
	if (!header.root)
		return -errno;
	header.first_jvm = header.root - t->info->nr_processes;
	header.records = header.root;
	header.threads = t->nr_threads;
	err = tree_names_write(t);
	if (!err)
		err = tree_stats_write(t);
	if (!err)
		err = profiles_end(t);
	if (!err)
		err = tree_file_finish(&t->file, &header);
	t->finished = !err;
	return err;
}

static int on_begin(void *ctx, const struct model_info *info)
{
	struct calltree *t = ctx;

	t->info = info;
	t->jvms = calloc(info->nr_processes + 1ull, sizeof(*t->jvms));
	if (!t->jvms)
		return -ENOMEM;
	return t->wants_profiles ? profiles_begin(t) : 0;
}

struct calltree *calltree_new(const struct model *m, const char *prefix, bool profiles, int *err)
{
	struct calltree *t = calloc(1, sizeof(*t));

	*err = -ENOMEM;
	if (!t)
		return NULL;
	t->file.fd = -1;
	t->model = m;
	t->wants_profiles = profiles;
	t->prefix = strdup(prefix);
	if (asprintf(&t->path, "%s.jta", prefix) < 0)
		t->path = NULL;
	if (t->prefix && t->path)
		*err = tree_file_open(&t->file, t->path);
	if (*err) {
		calltree_delete(t);
		return NULL;
	}
	t->sink = (struct model_sink){.begin = on_begin,
				      .call_begin = on_call_begin,
				      .call_end = on_call_end,
				      .bare_calls = true,
				      .remote_begin = on_remote_begin,
				      .remote_end = on_remote_end,
				      .remote = on_remote,
				      .wants_cut_remotes = true,
				      .end = on_end,
				      .ctx = t};
	return t;
}

const struct model_sink *calltree_sink(struct calltree *t)
{
	return &t->sink;
}

const struct calltree_counts *calltree_counts(const struct calltree *t)
{
	return &t->counts;
}

void calltree_delete(struct calltree *t)
{
	if (!t)
		return;
	if (!t->finished && t->file.fd >= 0)
		unlink(t->path);
	tree_file_close(&t->file);
	profiles_end(t);
	for (uint32_t i = 0; i < t->nr_threads; i++)
		free(t->threads[i].nodes);
	free(t->threads);
	free(t->jvms);
	free(t->stats);
	map64_free(&t->by_key);
	map64_free(&t->starters);
	map64_free(&t->ends);
	map64_free(&t->by_method);
	free(t->prefix);
	free(t->path);
	free(t);
}
