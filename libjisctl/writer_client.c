/* SPDX-License-Identifier: MIT */
/*
 * Markers and spans of C programs: jisctl_writer_open() and its family, over writer.h.
 *
 * A process has one connection and one pool; who opens again gets the same. A thread's slot is
 * taken at its first record and given back at its end. A forked child does not write into its
 * parent's pool: its writer is off until it opens its own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jisctl.h"
#include "writer.h"
#include "writer_client.h"

#define NAME_BUCKETS 256u

struct name {
	struct name *next;
	uint32_t id;
	char text[];
};

static struct client {
	struct jis_writer writer; /* first: it is what callers hold */
	pthread_mutex_t lock;	  /* life, names, dictionary */
	struct client_pool pool;
	uint32_t opened;     /* how often; 0: no pool */
	uint32_t generation; /* of the pool: slots of another are not touched */
	uint32_t next_name;
	struct name *names[NAME_BUCKETS];
	pthread_key_t key; /* its destructor gives a thread's slot back */
	int key_error;
} client = {.writer = JIS_WRITER_INITIALIZER(client.writer),
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .pool = {.fd = -1}};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static __thread struct {
	struct jis_slot *slot;
	uint32_t generation;
	uint32_t words; /* generation of the pool that has this thread's words; 0: none */
} mine;

static void thread_ends(void *unused)
{
	struct jis_slot *slot = mine.slot;

	mine.slot = NULL;
	pthread_mutex_lock(&client.lock);
	if (client.opened && mine.words == client.generation)
		jis_words_clear(&client.writer, (uint32_t)syscall(SYS_gettid));
	mine.words = 0;
	if (slot && client.opened && mine.generation == client.generation)
		jis_slot_give(&client.writer, slot);
	pthread_mutex_unlock(&client.lock);
}

static void fork_before(void)
{
	pthread_mutex_lock(&client.lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&client.lock);
}

static void names_free(void)
{
	uint32_t i;

	for (i = 0; i < NAME_BUCKETS; i++) {
		while (client.names[i]) {
			struct name *n = client.names[i];

			client.names[i] = n->next;
			free(n);
		}
	}
	client.next_name = 0;
}

/* The pool is not mapped here (MADV_DONTFORK); its place must not be touched. */
static void fork_child(void)
{
	jis_writer_off(&client.writer);
	if (client.pool.fd >= 0)
		close(client.pool.fd);
	client.pool.fd = -1;
	client.pool.memory = NULL;
	client.opened = 0;
	client.generation++;
	mine.slot = NULL;
	mine.words = 0;
	names_free();
	pthread_mutex_unlock(&client.lock);
}

static void client_prepare(void)
{
	client.key_error = pthread_key_create(&client.key, thread_ends);
	if (!client.key_error)
		client.key_error = pthread_atfork(fork_before, fork_parent, fork_child);
}

static int pool_open(void)
{
	int err = client_connect(&client.pool);

	if (err)
		return err;
	err = jis_writer_init(&client.writer, client.pool.memory, client.pool.size,
			      (uint32_t)getpid());
	if (err) {
		munmap(client.pool.memory, client.pool.size);
		close(client.pool.fd);
		client.pool.fd = -1;
		return err;
	}
	client.generation++;
	return 0;
}

int jisctl_writer_open(struct jis_writer **out)
{
	int err;

	*out = &client.writer;
	pthread_once(&once, client_prepare);
	if (client.key_error)
		return -client.key_error;
	pthread_mutex_lock(&client.lock);
	err = client.opened ? 0 : pool_open();
	client.opened += !err;
	pthread_mutex_unlock(&client.lock);
	return err;
}

void jisctl_writer_close(struct jis_writer *w)
{
	pthread_mutex_lock(&client.lock);
	if (client.opened && --client.opened == 0) {
		if (mine.slot && mine.generation == client.generation)
			jis_slot_give(&client.writer, mine.slot);
		mine.slot = NULL;
		jis_writer_off(&client.writer);
		munmap(client.pool.memory, client.pool.size);
		close(client.pool.fd);
		client.pool.fd = -1;
		names_free();
	}
	pthread_mutex_unlock(&client.lock);
}

/* The calling thread's slot, taken when it has none; NULL: none is free. */
static __attribute__((noinline)) struct jis_slot *slot_take(struct jis_writer *w)
{
	mine.slot = jis_slot_take(w, (uint32_t)syscall(SYS_gettid));
	mine.generation = client.generation;
	if (mine.slot)
		pthread_setspecific(client.key, &client);
	return mine.slot;
}

static inline struct jis_slot *slot_mine(struct jis_writer *w)
{
	if (JIS_WRITER_LIKELY(mine.slot && mine.generation == client.generation))
		return mine.slot;
	return slot_take(w);
}

void jisctl_event(struct jis_writer *w, uint32_t type, int64_t value)
{
	struct jis_ev_marker ev = {.type = type, .value = value};
	struct jis_slot *slot;

	if (!jis_writer_on(w, JIS_EV_marker))
		return;
	slot = slot_mine(w);
	if (slot)
		jis_write(w, slot, JIS_EV_marker, &ev, sizeof(ev));
	else
		jis_slot_missing(w, JIS_EV_marker);
}

int jisctl_thread_words(struct jis_writer *w, pid_t tid, const uint32_t *vm_state,
			const uint32_t *os_state)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	bool clear = !vm_state && !os_state;
	int err = -ENOENT;

	if (tid < 0)
		return -EINVAL;
	tid = tid ? tid : self;
	pthread_mutex_lock(&client.lock);
	if (client.opened && clear)
		err = jis_words_clear(w, (uint32_t)tid);
	else if (client.opened)
		err = jis_words_set(w, (uint32_t)tid, vm_state, os_state);
	if (!err && tid == self) {
		mine.words = clear ? 0 : client.generation;
		pthread_setspecific(client.key, &client);
	}
	pthread_mutex_unlock(&client.lock);
	return err;
}

/* Finds the name, or defines it in the dictionary. The lock is held. */
static uint32_t name_intern(struct jis_writer *w, const char *text)
{
	uint32_t hash = 2166136261u, id;
	const unsigned char *p;
	size_t length = strlen(text);
	struct name *n;

	for (p = (const unsigned char *)text; *p; p++)
		hash = (hash ^ *p) * 16777619u;
	for (n = client.names[hash % NAME_BUCKETS]; n; n = n->next)
		if (strcmp(n->text, text) == 0)
			return n->id;
	n = malloc(sizeof(*n) + length + 1);
	if (!n)
		return 0;
	id = ++client.next_name;
	if (jis_dict_write(w, JIS_EV_string_def, &id, sizeof(id), text, length)) {
		free(n);
		return 0;
	}
	n->id = id;
	memcpy(n->text, text, length + 1);
	n->next = client.names[hash % NAME_BUCKETS];
	client.names[hash % NAME_BUCKETS] = n;
	return id;
}

uint32_t jisctl_name(struct jis_writer *w, const char *name)
{
	uint32_t id = 0;

	pthread_mutex_lock(&client.lock);
	if (client.opened)
		id = name_intern(w, name);
	pthread_mutex_unlock(&client.lock);
	return id;
}

void jisctl_begin(struct jis_writer *w, uint32_t name)
{
	struct jis_ev_span_begin ev = {.name = name};
	struct jis_slot *slot;

	if (!name || !jis_writer_on(w, JIS_EV_span_begin))
		return;
	slot = slot_mine(w);
	if (slot)
		jis_write(w, slot, JIS_EV_span_begin, &ev, sizeof(ev));
	else
		jis_slot_missing(w, JIS_EV_span_begin);
}

void jisctl_end(struct jis_writer *w, uint32_t name)
{
	struct jis_ev_span_end ev = {.name = name};
	struct jis_slot *slot;

	if (!name || !jis_writer_on(w, JIS_EV_span_end))
		return;
	slot = slot_mine(w);
	if (slot)
		jis_write(w, slot, JIS_EV_span_end, &ev, sizeof(ev));
	else
		jis_slot_missing(w, JIS_EV_span_end);
}
