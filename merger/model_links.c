/* SPDX-License-Identifier: MIT */
/*
 * Links from thread to thread: telling the sinks, and those of locks. Who gave a lock is who woke
 * the next owner from its wait for it, which is exact; a lock that was got without a wake-up (while
 * spinning, or because it was free by then) has no link.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "model_jwait.h"

const char *model_link_name(enum model_link_kind kind)
{
	static const char *const names[MODEL_NR_LINKS] = {
		[MODEL_LINK_WAKEUP] = "wake-up",   [MODEL_LINK_MONITOR] = "monitor",
		[MODEL_LINK_LOCK] = "lock",	   [MODEL_LINK_NOTIFY] = "notify",
		[MODEL_LINK_UNPARK] = "unpark",	   [MODEL_LINK_SOCKET] = "socket",
		[MODEL_LINK_MESSAGE] = "message",  [MODEL_LINK_QUEUE] = "queue",
		[MODEL_LINK_CALL] = "remote call", [MODEL_LINK_ANSWER] = "remote answer"};

	return (unsigned int)kind < MODEL_NR_LINKS ? names[kind] : "?";
}

const char *model_origin_name(enum model_connection_origin origin)
{
	static const char *const names[MODEL_NR_ORIGINS] = {"before", "accepted", "connected"};

	return (unsigned int)origin < MODEL_NR_ORIGINS ? names[origin] : "?";
}

void model_address_text(const struct model_connection *c, bool peer, char *text)
{
	char address[INET6_ADDRSTRLEN];

	text[0] = 0;
	if (!c->family ||
	    !inet_ntop(c->family, peer ? c->peer : c->local, address, sizeof(address)))
		return;
	snprintf(text, MODEL_ADDRESS_ROOM, c->family == AF_INET6 ? "[%s]:%u" : "%s:%u", address,
		 peer ? c->peer_port : c->local_port);
}

struct model_who who_is(const struct model *m, uint32_t life)
{
	const struct jthread *j = life != NONE ? m->whys[life].mounted : NULL;

	return (struct model_who){life, j ? j->row : NONE};
}

struct model_who who_writes(const struct jthread *j)
{
	return (struct model_who){j->on, j->virtual ? j->row : NONE};
}

bool who_selected(const struct model *m, const struct model_who *who)
{
	if (who->vthread != NONE)
		return m->info.vthreads[who->vthread].selected;
	return who->thread != NONE && m->lives[who->thread].flags & LIFE_SELECTED;
}

void link_emit(struct model *m, const struct model_link *link)
{
	if (link->begin < m->info.begin || link->end > m->info.end || link->begin > link->end ||
	    !who_selected(m, &link->to))
		return;
	for (uint32_t i = 0; i < m->on_link.nr; i++) {
		const struct model_sink *s = m->on_link.sinks[i];
		int err = s->link(s->ctx, link);

		if (err && !m->error)
			m->error = err;
	}
}

static bool is_lock_wait(enum model_reason_kind kind)
{
	return kind == MODEL_WAIT_MONITOR || kind == MODEL_WAIT_OBJECT || kind == MODEL_WAIT_PARK;
}

/*
 * A thread of @process that is in @wait is woken by @waker at @t: who gave it what it waits for, if
 * anybody of the process did. A stop may catch it between that and its word that it has it, so that
 * the VM's own threads, which give nothing, take nothing back either.
 */
static void wait_woken(const struct model *m, struct jwait *wait, uint32_t process,
		       uint32_t context, uint32_t waker, uint64_t t)
{
	if (context != JIS_WAKER_TASK || waker == NONE || m->threads[waker].process != process) {
		wait->waker.thread = NONE;
	} else if (!m->whys[waker].role) {
		wait->waker = who_is(m, waker);
		wait->woken = t;
	}
}

void link_wakeup(struct model *m, const struct model_wakeup *w)
{
	struct model_link link = {
		.kind = MODEL_LINK_WAKEUP,
		.process = m->threads[w->thread].process,
		.to = who_is(m, w->thread),
		.begin = w->waking,
		.end = w->ready,
	};
	bool task = w->context == JIS_WAKER_TASK && w->waker != NONE;
	struct jthread *j;
	struct jwait *wait;

	if (w->reason && w->reason->from_java && is_lock_wait(w->reason->kind)) {
		wait = jwait_of(m, w->thread, w->wait_begin, &j);
		if (wait)
			wait_woken(m, wait, link.process, w->context, w->waker, w->waking);
	}
	if (!task)
		return;
	link.from = who_is(m, w->waker);
	if (w->reason) {
		link.class_name = w->reason->class_name;
		link.hash = w->reason->hash;
		link.name = w->reason->name;
	}
	link_emit(m, &link);
}

/* Locks of java.util.concurrent that a thread owns, by the class that parks for them. */
static bool is_owned_lock(const char *class)
{
	static const char *const locks[] = {
		"java.util.concurrent.locks.ReentrantLock$",
		"java.util.concurrent.locks.ReentrantReadWriteLock$",
		"java.util.concurrent.locks.StampedLock",
	};

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		if (!strncmp(class, locks[i], strlen(locks[i])))
			return true;
	}
	return false;
}

static enum model_link_kind kind_of(const struct model *m, const struct jwait *w)
{
	if (w->kind == JWAIT_MONITOR)
		return MODEL_LINK_MONITOR;
	if (w->kind == JWAIT_OBJECT)
		return MODEL_LINK_NOTIFY;
	if (w->owner != NONE || w->owner_java_tid || is_owned_lock(model_name(m, w->class_name)))
		return MODEL_LINK_LOCK;
	return MODEL_LINK_UNPARK;
}

void link_wait(struct model *m, const struct jthread *j, struct jwait *w, uint64_t t)
{
	uint32_t life = j->on != NONE ? j->on : w->thread;
	const struct life *l = life != NONE ? &m->lives[life] : NULL;
	struct model_link link;

	/* It says that it goes on, and of how only who woke it was recorded. */
	if (l && life_waking(l) && l->waking.time > w->begin)
		wait_woken(m, w, j->process, l->waking.context, l->waking.waker, l->waking.time);
	link = (struct model_link){
		.kind = kind_of(m, w),
		.process = j->process,
		.from = w->waker,
		.to = {life, j->row},
		.begin = w->woken,
		.end = t,
		.class_name = w->class_name,
		.hash = w->hash,
	};

	/* What a join or a sleep waits in is no lock. */
	if (w->waker.thread != NONE && (!w->outer || w->outer->kind == JWAIT_DESCRIPTOR) &&
	    w->kind <= JWAIT_PARK)
		link_emit(m, &link);
}
