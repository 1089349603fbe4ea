/* SPDX-License-Identifier: MIT */
/*
 * Two hashes, of threads and of descriptors, each with what is known from before the snapshot, when
 * it is first used in it and when it is first told there.
 */
#include "flight_names.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "packet_walk.h"
#include "proc.h"

#define NEVER UINT64_MAX
/* /proc has the start of a thread in hundredths of a second. */
#define START_SLACK_NS 10000000ull

/* What a record told. */
struct told {
	uint64_t time;	/* of the record */
	uint8_t *words; /* payload without the text's length; NULL: nothing was told */
	uint32_t id, len;
	char *text; /* NULL: it has none */
};

/* A thread (fd -1) or a descriptor: of the process when told, of the thread when used. */
struct name {
	uint64_t key;			 /* owner << 32 | fd */
	uint64_t first_used, first_told; /* inside; NEVER */
	struct told before;
	struct told first; /* inside */
	uint32_t pid;	   /* of a thread, 0: not known */
	bool ours;	   /* a thread of a target */
	bool used;	   /* of the hash */
};

struct table {
	struct name *names;
	uint32_t nr, mask; /* names: NULL or mask + 1 entries */
};

struct flight_names {
	struct table threads, fds; /* fds: told by (pid, fd), used by (tid, fd) in `uses` */
	struct table uses;
	uint64_t begin;
	struct clock_sample now;
	uint64_t frequency;
	bool inside; /* the packet that is looked at */
	int error;
	uint32_t at; /* how far flight_names_tell() has come */
};

struct flight_names *flight_names_new(const struct clock_sample *now, uint64_t frequency)
{
	struct flight_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->now = *now;
	n->frequency = frequency ? frequency : 1000000000u;
	n->begin = NEVER;
	return n;
}

static void told_free(struct told *t)
{
	free(t->words);
	free(t->text);
	*t = (struct told){.time = 0};
}

static void table_free(struct table *t)
{
	for (uint32_t i = 0; t->names && i <= t->mask; i++) {
		told_free(&t->names[i].before);
		told_free(&t->names[i].first);
	}
	free(t->names);
}

void flight_names_free(struct flight_names *n)
{
	if (!n)
		return;
	table_free(&n->threads);
	table_free(&n->fds);
	table_free(&n->uses);
	free(n);
}

/* Where @key is, or belongs. */
static struct name *table_slot(const struct table *t, uint64_t key)
{
	for (uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32);; i++) {
		struct name *e = &t->names[i & t->mask];

		if (!e->used || e->key == key)
			return e;
	}
}

static bool table_grow(struct table *t)
{
	uint32_t size = t->names ? t->mask + 1 : 0;
	struct table grown = {.nr = t->nr, .mask = (size ? size * 2 : 256) - 1};

	if (t->nr * 2 < size)
		return true;
	grown.names = calloc((size_t)grown.mask + 1, sizeof(*grown.names));
	if (!grown.names)
		return false;
	for (uint32_t i = 0; i < size; i++)
		if (t->names[i].used)
			*table_slot(&grown, t->names[i].key) = t->names[i];
	free(t->names);
	*t = grown;
	return true;
}

/* The entry of @key, made when it is new; NULL: no memory. */
static struct name *name_of(struct flight_names *n, struct table *t, uint64_t key)
{
	struct name *e;

	if (!table_grow(t)) {
		n->error = -ENOMEM;
		return NULL;
	}
	e = table_slot(t, key);
	if (!e->used) {
		*e = (struct name){.key = key, .used = true};
		e->first_used = e->first_told = NEVER;
		t->nr++;
	}
	return e;
}

/* NULL: there is none. */
static struct name *name_known(const struct table *t, uint64_t key)
{
	struct name *e = t->names ? table_slot(t, key) : NULL;

	return e && e->used ? e : NULL;
}

static uint64_t fd_key(uint32_t owner, int32_t fd)
{
	return (uint64_t)owner << 32 | (uint32_t)fd;
}

/* Remembers the record; @fixed: bytes of its payload before a text's length. */
static int told_set(struct told *t, uint32_t id, uint64_t time, const uint8_t *payload,
		    uint32_t size, uint32_t fixed)
{
	struct told new = {.time = time, .id = id, .len = fixed};

	if (t->words && t->time > time)
		return 0; /* another CPU's is later */
	new.words = malloc(fixed);
	if (size > fixed)
		new.text = strndup((const char *)payload + fixed + 4, size - fixed - 4);
	if (!new.words || (size > fixed && !new.text)) {
		told_free(&new);
		return -ENOMEM;
	}
	memcpy(new.words, payload, fixed);
	told_free(t);
	*t = new;
	return 0;
}

static void told(struct flight_names *n, struct table *t, uint64_t key, uint32_t id, uint64_t time,
		 const uint8_t *payload, uint32_t size, uint32_t fixed)
{
	struct name *e = name_of(n, t, key);
	int err = 0;

	if (!e)
		return;
	if (!n->inside) {
		err = told_set(&e->before, id, time, payload, size, fixed);
	} else if (time < e->first_told) {
		e->first_told = time;
		told_free(&e->first);
		err = told_set(&e->first, id, time, payload, size, fixed);
	}
	if (err)
		n->error = err;
}

static void used(struct flight_names *n, struct table *t, uint64_t key, uint64_t time)
{
	struct name *e = n->inside ? name_of(n, t, key) : NULL;

	if (e && time < e->first_used)
		e->first_used = time;
}

static void thread_used(struct flight_names *n, uint32_t tid, uint64_t time)
{
	if (tid)
		used(n, &n->threads, tid, time);
}

static void fd_used(struct flight_names *n, uint32_t tid, int32_t fd, uint64_t time)
{
	if (fd >= 0)
		used(n, &n->uses, fd_key(tid, fd), time);
}

/* A thread of a target. */
static void ours(struct flight_names *n, uint32_t tid, uint32_t pid)
{
	struct name *e = name_of(n, &n->threads, tid);

	if (!e)
		return;
	e->pid = pid;
	e->ours |= n->inside;
}

/* Records of the life of threads. Returns whether it was one. */
static bool take_life(struct flight_names *n, uint32_t id, const uint8_t *payload)
{
	const struct jis_ev_sched_process_fork *fork = (const void *)payload;
	const struct jis_ev_sched_process_exec *exec = (const void *)payload;
	const struct jis_ev_thread_state *state = (const void *)payload;
	const struct jis_ev_task_rename *rename = (const void *)payload;
	const struct jis_ev_sched_process_exit *end = (const void *)payload;

	switch (id) {
	case JIS_EV_thread_state:
		ours(n, state->tid, state->pid);
		return true;
	case JIS_EV_sched_process_fork:
		ours(n, fork->tid, fork->pid);
		return true;
	case JIS_EV_sched_process_exec:
		ours(n, exec->tid, exec->pid);
		ours(n, exec->old_tid, exec->pid);
		return true;
	case JIS_EV_task_rename:
		ours(n, rename->tid, rename->pid);
		return true;
	case JIS_EV_sched_process_exit:
		ours(n, end->tid, end->pid);
		return true;
	}
	return false;
}

/* Records that name threads of any kind. */
static void take_use(struct flight_names *n, uint32_t id, uint64_t time, const uint8_t *payload)
{
	const struct jis_ev_sched_switch *s = (const void *)payload;
	const struct jis_ev_sched_waking *w = (const void *)payload;
	const struct jis_ev_irq_entry *irq = (const void *)payload;
	const struct jis_ev_block_rq_issue *rq = (const void *)payload;
	const struct jis_ev_signal_generate *sig = (const void *)payload;

	switch (id) {
	case JIS_EV_sched_switch:
		thread_used(n, s->prev_tid, time);
		thread_used(n, s->next_tid, time);
		break;
	case JIS_EV_sched_waking:
		thread_used(n, w->waker_tid, time);
		break;
	case JIS_EV_irq_entry:
	case JIS_EV_irq_exit:
		thread_used(n, irq->tid, time);
		break;
	case JIS_EV_block_rq_issue:
		thread_used(n, rq->tid, time);
		break;
	case JIS_EV_signal_generate:
		thread_used(n, sig->sender_tid, time);
		break;
	}
}

/* Descriptors, in the calls that have one. */
static void take_fd(struct flight_names *n, uint32_t id, uint64_t time, const uint8_t *payload)
{
	const struct jis_ev_syscall_io *io = (const void *)payload;
	const struct jis_ev_syscall_wait *wait = (const void *)payload;
	const struct jis_ev_syscall_address *address = (const void *)payload;
	const struct jis_ev_syscall_path *path = (const void *)payload;

	switch (id) {
	case JIS_EV_syscall_io:
		fd_used(n, io->tid, io->fd, time);
		break;
	case JIS_EV_syscall_wait:
		fd_used(n, wait->tid, wait->fd, time);
		break;
	case JIS_EV_syscall_address:
		fd_used(n, address->tid, address->fd, time);
		break;
	case JIS_EV_syscall_path:
		fd_used(n, path->tid, path->dirfd, time);
		break;
	}
}

static void on_record(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	const struct jis_ev_task_name *name = (const void *)payload;
	const struct jis_ev_fd_file *file = (const void *)payload;
	struct flight_names *n = ctx;

	switch (id) {
	case JIS_EV_task_name:
		told(n, &n->threads, name->tid, id, time, payload, size, sizeof(*name) - 4);
		break;
	case JIS_EV_fd_file:
		told(n, &n->fds, fd_key(file->pid, file->fd), id, time, payload, size,
		     sizeof(*file) - 4);
		break;
	case JIS_EV_fd_socket:
		told(n, &n->fds, fd_key(file->pid, file->fd), id, time, payload, size, size);
		break;
	default:
		if (take_life(n, id, payload))
			break;
		take_use(n, id, time, payload);
		take_fd(n, id, time, payload);
	}
}

int flight_names_look(struct flight_names *n, const struct jis_packet_header *packet, bool inside)
{
	struct packet_walk walk;

	if (packet->content_size <= JIS_PACKET_HEADER_SIZE * 8)
		return 0;
	n->inside = inside;
	if (inside && packet->timestamp_begin < n->begin)
		n->begin = packet->timestamp_begin;
	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.record = on_record;
	walk.ctx = n;
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
	return n->error;
}

uint64_t flight_names_begin(const struct flight_names *n)
{
	return n->begin && n->begin != NEVER ? n->begin - 1 : n->begin;
}

/* CLOCK_BOOTTIME at rebased @time. */
static uint64_t boottime(const struct flight_names *n, uint64_t time)
{
	uint64_t ago = n->now.ticks > time ? n->now.ticks - time : 0;
	uint64_t ns = (uint64_t)((unsigned __int128)ago * 1000000000u / n->frequency);

	return n->now.boottime > ns ? n->now.boottime - ns : 0;
}

/* The name of the thread @e, used before it was told, from /proc: not one that came later to its
 * tid. */
static bool thread_look_up(const struct flight_names *n, struct name *e)
{
	struct jis_ev_task_name ev = {.tid = (uint32_t)e->key};
	struct proc_status status;
	struct proc_stat st;
	uint8_t payload[sizeof(ev) + PROC_COMM_SIZE] = {0};

	if (proc_status_read((pid_t)ev.tid, &status) ||
	    proc_stat_read((pid_t)status.tgid, (pid_t)ev.tid, &st) ||
	    st.start_time > boottime(n, e->first_used) + START_SLACK_NS)
		return false;
	ev.pid = status.tgid;
	ev.comm_length = PROC_COMM_SIZE;
	memcpy(payload, &ev, sizeof(ev));
	memcpy(payload + sizeof(ev), st.comm, PROC_COMM_SIZE);
	return told_set(&e->before, JIS_EV_task_name, 0, payload, sizeof(payload),
			sizeof(ev) - 4) == 0;
}

/* What must be told of a thread, or NULL. The name it had later is better than none. */
static const struct told *thread_missing(const struct flight_names *n, struct name *e)
{
	if (e->ours || e->first_used == NEVER || e->first_told <= e->first_used)
		return NULL;
	if (e->before.words || thread_look_up(n, e))
		return &e->before;
	return e->first.words ? &e->first : NULL;
}

/* Descriptors are told by process and used by thread: their first uses by any of it. */
static void fds_join(struct flight_names *n)
{
	for (uint32_t i = 0; n->uses.names && i <= n->uses.mask; i++) {
		const struct name *use = &n->uses.names[i], *thread;
		struct name *e;

		thread = use->used ? name_known(&n->threads, use->key >> 32) : NULL;
		e = thread ? name_known(&n->fds, fd_key(thread->pid, (int32_t)use->key)) : NULL;
		if (e && use->first_used < e->first_used)
			e->first_used = use->first_used;
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* A socket's is at the same place. */
static void *fd_age(const struct told *t)
{
	return t->words + offsetof(struct jis_ev_fd_file, age);
}

_Static_assert(offsetof(struct jis_ev_fd_file, age) == offsetof(struct jis_ev_fd_socket, age),
	       "fd_age");

/* When it was first told as what it was then. */
static uint64_t fd_since(const struct told *t)
{
	uint64_t age;

	memcpy(&age, fd_age(t), sizeof(age));
	return less(t->time, age);
}

/* What must be told of the descriptor at @time, or NULL. */
static const struct told *fd_missing(struct name *e, uint64_t time)
{
	struct told *t = e->before.words ? &e->before : &e->first;
	uint64_t age;

	if (e->first_told <= e->first_used || !t->words)
		return NULL;
	if (t == &e->first && fd_since(t) > e->first_used)
		return NULL; /* it had become this by then, or not: that was overwritten */
	age = less(time, fd_since(t));
	memcpy(fd_age(t), &age, sizeof(age));
	t->time = time;
	return t;
}

static bool add(struct packet_builder *b, const struct told *t, uint64_t time)
{
	return packet_builder_add(b, t->id, time, t->words, t->len, t->text) != -ENOSPC;
}

bool flight_names_tell(struct flight_names *n, struct packet_builder *b, uint64_t time)
{
	uint32_t threads = n->threads.names ? n->threads.mask + 1 : 0;
	uint32_t fds = n->fds.names ? n->fds.mask + 1 : 0;

	if (!n->at)
		fds_join(n);

	for (; n->at < threads + fds; n->at++) {
		bool thread = n->at < threads;
		struct name *e = thread ? &n->threads.names[n->at] : &n->fds.names[n->at - threads];
		const struct told *t = NULL;

		if (e->used)
			t = thread ? thread_missing(n, e) : fd_missing(e, time);
		if (t && !add(b, t, time))
			return true;
	}
	return b->used > 0;
}
