/* SPDX-License-Identifier: MIT */
/*
 * Futexes that threads of JVMs were seen to wait on: one whose address is new is looked up in the
 * memory of the thread's process, and whose lock it is is told beside the process's own records.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "futex_name.h"
#include "own_stream.h"
#include "packet_walk.h"
#include "proc.h"
#include "recorder_private.h"

#define PACKET_BYTES 4096u
/* Of one process; HotSpot has some hundred locks, and some for each class loader and thread. */
#define FUTEXES_MAX 16384u
/* Pairs of a thread and an address; when it is full all are looked at once more. */
#define SEEN_SLOTS 32768u

struct named {
	uint64_t address;
	uint32_t from; /* enum jis_futex_of */
	char name[FUTEX_NAME_MAX];
};

struct process_futexes {
	struct named *futexes;
	uint32_t nr, room, told;
	struct futex_libraries libraries;
	struct own_stream stream;
	bool noted; /* that not all have names */
};

/* Waits that need not be looked at again. */
struct futexes_seen {
	uint32_t nr;
	struct seen_pair {
		uint64_t address; /* 0: free */
		uint32_t tid;
	} pairs[SEEN_SLOTS];
};

/* Is it new? Then it is no longer. */
static bool seen_add(struct futexes_seen *seen, uint32_t tid, uint64_t address)
{
	uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15u + tid * 0x85ebca6bu) >> 40);
	struct seen_pair *w;

	for (;; at++) {
		w = &seen->pairs[at % SEEN_SLOTS];
		if (!w->address)
			break;
		if (w->address == address && w->tid == tid)
			return false;
	}
	if (seen->nr >= SEEN_SLOTS / 4 * 3) {
		memset(seen, 0, sizeof(*seen));
		return seen_add(seen, tid, address);
	}
	seen->nr++;
	*w = (struct seen_pair){address, tid};
	return true;
}

void recorder_futexes_forget(struct recorder *r)
{
	if (r->seen)
		memset(r->seen, 0, sizeof(*r->seen));
}

static struct named *named_find(const struct process_futexes *p, uint64_t address)
{
	for (uint32_t i = p->nr; i--;) /* the last is how it is called now */
		if (p->futexes[i].address == address)
			return &p->futexes[i];
	return NULL;
}

static struct process_futexes *futexes_get(struct recorder_process *p)
{
	struct process_futexes *l = p->futexes;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	if (own_stream_init(&l->stream, p, p->own_pid, p->own_slot + RECORDER_SLOT_FUTEXES,
			    PACKET_BYTES)) {
		own_stream_fini(&l->stream);
		free(l);
		return NULL;
	}
	l->stream.builder.proto.owner = p->own_pid;
	p->futexes = l;
	return l;
}

/* Once a process. */
static void nameless_note(const struct recorder_process *p, const char *why)
{
	char text[200];

	if (p->futexes->noted)
		return;
	p->futexes->noted = true;
	snprintf(text, sizeof(text),
		 "process %u: locks of the VM that its threads wait for have no names, or not all: "
		 "%s",
		 p->pid, why);
	recorder_note(p->r, text);
}

static void named_add(struct recorder_process *p, const struct named *new)
{
	struct process_futexes *l = p->futexes;
	const struct named *known = named_find(l, new->address);
	struct named *more;

	if (known && known->from == new->from && !strcmp(known->name, new->name))
		return;
	if (l->nr == FUTEXES_MAX) {
		nameless_note(p, "there are too many of them");
		return;
	}
	if (l->nr == l->room) {
		more = realloc(l->futexes, (l->room + 64) * sizeof(*more));
		if (!more) {
			nameless_note(p, "there is no memory for more");
			return;
		}
		l->futexes = more;
		l->room += 64;
	}
	l->futexes[l->nr++] = *new;
}

/* Is it there still? A flight recorder's may be, though no longer recorded. */
static bool is_there(const struct recorder_process *p)
{
	struct proc_stat st;

	if (!p->ended)
		return true;
	return p->r->params.flight && !proc_stat_read((pid_t)p->pid, (pid_t)p->pid, &st) &&
	       st.start_time == p->start_time;
}

/* The JVM that the thread is of, if it has streams here. */
static struct recorder_process *jvm_of(const struct recorder *r, uint32_t tid)
{
	struct recorder_process *p;
	struct proc_status status;

	if (proc_status_read((pid_t)tid, &status))
		return NULL;
	for (p = r->processes; p; p = p->next)
		if (p->pid == status.tgid && p->vm_version && p->own_slot && is_there(p))
			return p;
	return NULL;
}

static bool may_wait(uint32_t op)
{
	switch (op & (uint32_t)FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
	case FUTEX_UNLOCK_PI:
	case FUTEX_WAKE_BITSET:
		return false;
	}
	return true;
}

static void on_record(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	const struct jis_ev_syscall_futex *ev = (const void *)payload;
	struct recorder *r = ctx;
	struct recorder_process *p;
	struct process_futexes *l;
	struct named new;
	int from;

	(void)time;
	(void)size;
	if (id != JIS_EV_syscall_futex || !ev->address || !may_wait(ev->op))
		return;
	if (!r->seen)
		r->seen = calloc(1, sizeof(*r->seen));
	if (!r->seen || !seen_add(r->seen, ev->tid, ev->address))
		return;
	p = jvm_of(r, ev->tid);
	l = p ? futexes_get(p) : NULL;
	if (!l)
		return;
	from = futex_name_read((pid_t)ev->tid, &l->libraries, ev->address, new.name);
	if (from == -EPERM)
		nameless_note(p, "its memory may not be read, which takes CAP_SYS_PTRACE");
	if (from <= 0)
		return;
	new.from = (uint32_t)from;
	new.address = ev->address;
	named_add(p, &new);
}

void recorder_futexes_look(struct recorder *r, struct packet_walk *walk)
{
	if (!r->jvms)
		return;
	walk->record = on_record;
	walk->wanted = 1u << JIS_EV_syscall_futex;
	walk->ctx = r;
}

/* What is told in a snapshot is of the time it is of. */
static uint64_t time_of(const struct recorder *r)
{
	return r->params.snapshot ? r->params.origin.to
				  : clock_now(r->params.clock) - r->params.base;
}

int recorder_futexes_tell(struct recorder_process *p)
{
	struct process_futexes *l = p->futexes;
	uint64_t time;

	if (!l || l->told == l->nr)
		return 0;
	time = time_of(p->r);
	for (; l->told < l->nr; l->told++) {
		const struct named *n = &l->futexes[l->told];
		struct jis_ev_futex_name ev = {.address = n->address, .from = n->from};

		own_stream_put(&l->stream, JIS_EV_futex_name, time, &ev,
			       offsetof(struct jis_ev_futex_name, name_length), n->name);
	}
	return own_stream_flush(&l->stream);
}

int recorder_futexes_flush(struct recorder *r)
{
	int err = 0;

	for (struct recorder_process *p = r->processes; p; p = p->next) {
		int e = p->ended || r->params.flight ? 0 : recorder_futexes_tell(p);

		err = err ? err : e;
	}
	return err;
}

void recorder_futexes_end(struct recorder_process *p)
{
	if (!p->futexes)
		return;
	recorder_futexes_tell(p);
	own_stream_settle(&p->futexes->stream);
}

void recorder_futexes_free(struct recorder_process *p)
{
	if (!p->futexes)
		return;
	own_stream_fini(&p->futexes->stream);
	futex_libraries_fini(&p->futexes->libraries);
	free(p->futexes->futexes);
	free(p->futexes);
	p->futexes = NULL;
}
