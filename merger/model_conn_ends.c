/* SPDX-License-Identifier: MIT */
/*
 * Connections by their addresses: which two are the ends of one, and which bytes one end sent and
 * the other received. Bytes are counted from the begin on, so only ends that were seen from there
 * are joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "model_conn.h"

/* Addresses ---------------------------------------------------------------------------------- */

/* Puts an address into @to, one of IPv4 within IPv6 as what it is. Returns its family. */
static uint16_t address_take(uint8_t to[16], uint32_t family, uint64_t a0, uint64_t a1)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(to, &a0, 8);
	memcpy(to + 8, &a1, 8);
	if (family != AF_INET6 || memcmp(to, mapped, sizeof(mapped)) != 0)
		return (uint16_t)family;
	memmove(to, to + 12, 4);
	memset(to + 4, 0, 12);
	return AF_INET;
}

void addresses_take(struct model_connection *c, const struct jis_ev_fd_socket *ev)
{
	c->family = address_take(c->local, ev->family, ev->local0, ev->local1);
	address_take(c->peer, ev->family, ev->peer0, ev->peer1);
	c->local_port = (uint16_t)ev->local_port;
	c->peer_port = (uint16_t)ev->peer_port;
}

bool same_addresses(const struct model_connection *a, const struct model_connection *b)
{
	return a->family == b->family && a->local_port == b->local_port &&
	       a->peer_port == b->peer_port && !memcmp(a->local, b->local, 16) &&
	       !memcmp(a->peer, b->peer, 16);
}

static bool opposite(const struct model_connection *a, const struct model_connection *b)
{
	return a->family == b->family && a->local_port == b->peer_port &&
	       a->peer_port == b->local_port && !memcmp(a->local, b->peer, 16) &&
	       !memcmp(a->peer, b->local, 16);
}

static bool loops(uint16_t family, const uint8_t address[16])
{
	static const uint8_t loop6[16] = {[15] = 1};

	return family == AF_INET ? address[0] == 127 : !memcmp(address, loop6, 16);
}

bool address_loops(uint32_t family, uint64_t a0, uint64_t a1)
{
	uint8_t bytes[16];

	return loops(address_take(bytes, family, a0, a1), bytes);
}

/* Is the other end on this host? It may also be where this is not so. */
static bool is_local(const struct model_connection *c)
{
	return !memcmp(c->local, c->peer, 16) || loops(c->family, c->peer);
}

/* The same for both ends. */
static uint32_t bucket_of(const struct conns *s, const struct model_connection *c)
{
	uint64_t h = 0, word[4];

	memcpy(word, c->local, 16);
	memcpy(word + 2, c->peer, 16);
	h = (word[0] + word[2]) * 0x9e3779b97f4a7c15ull;
	h ^= (word[1] + word[3]) * 0xc2b2ae3d27d4eb4full;
	h ^= ((uint64_t)c->local_port * c->peer_port + c->local_port + c->peer_port) *
	     0x165667b19e3779f9ull;
	return (uint32_t)(h >> 32 ^ h) & s->mask;
}

static bool table_grow(struct conns *s)
{
	struct conns grown = {.mask = s->table ? s->mask * 2 + 1 : 255};

	grown.table = calloc(grown.mask + 1ull, sizeof(struct conn *));
	if (!grown.table)
		return false;
	for (uint32_t i = 0; s->table && i <= s->mask; i++) {
		while (s->table[i]) {
			struct conn *c = s->table[i];
			uint32_t to = bucket_of(&grown, &c->told);

			s->table[i] = c->bucket;
			c->bucket = grown.table[to];
			grown.table[to] = c;
		}
	}
	free(s->table);
	s->table = grown.table;
	s->mask = grown.mask;
	return true;
}

static void marks_make(struct model *m, struct conn *c)
{
	if (c->sends || !c->exact || !m->on_link.nr || m->conns->marked >= MAX_MARKED)
		return;
	c->sends = calloc(1, sizeof(*c->sends));
	c->receives = calloc(1, sizeof(*c->receives));
	m->conns->marked += c->sends != NULL;
	if (!c->sends || !c->receives)
		m->error = -ENOMEM;
}

/*
 * The other end of @c among those of @bucket. Every machine has its own loopback, and two may have
 * the same private addresses, as those of containers: an end on the same one goes first, and where
 * ends on several others fit, it is none of them.
 */
static struct conn *other_end(const struct model *m, const struct conn *c, uint32_t bucket)
{
	uint32_t machine = machine_of(m, c->told.process), at = machine;
	bool local = is_local(&c->told), several = false;
	struct conn *found = NULL;

	for (struct conn *o = m->conns->table[bucket]; o; o = o->bucket) {
		uint32_t there = machine_of(m, o->told.process);

		if (o->other || (local && there != machine) || !opposite(&o->told, &c->told))
			continue;
		if (there == machine)
			return o;
		several |= found && there != at;
		found = found ? found : o;
		at = there;
	}
	return several ? NULL : found;
}

void conn_meets(struct model *m, struct conn *c)
{
	struct conns *s = m->conns;
	struct conn *o;
	bool timed;
	uint32_t bucket;

	if ((!s->table || s->nr > s->mask) && !table_grow(s)) {
		m->error = -ENOMEM;
		return;
	}
	bucket = bucket_of(s, &c->told);
	o = other_end(m, c, bucket);
	c->bucket = s->table[bucket];
	s->table[bucket] = c;
	c->hashed = true;
	s->nr++;
	/* Which receive is of which send is not seen where their times cannot be compared. */
	timed = o && hosts_error(m, c->told.process, o->told.process, m->now) != UINT64_MAX;
	if (is_local(&c->told) || timed)
		marks_make(m, c);
	if (!o)
		return;
	if (timed)
		marks_make(m, o);
	c->other = o;
	o->other = c;
	c->told.other_end = o->told.number;
	o->told.other_end = c->told.number;
}

void conn_is_exact(struct model *m, struct conn *c)
{
	c->told.complete = c->exact = true;
	if (c->hashed && (is_local(&c->told) ||
			  (c->other && hosts_error(m, c->told.process, c->other->told.process,
						   m->now) != UINT64_MAX)))
		marks_make(m, c);
}

void conn_parts(struct model *m, struct conn *c)
{
	struct conns *s = m->conns;
	struct conn **at;

	if (c->other)
		c->other->other = NULL;
	c->other = NULL;
	if (!c->hashed)
		return;
	for (at = &s->table[bucket_of(s, &c->told)]; *at != c; at = &(*at)->bucket)
		;
	*at = c->bucket;
	c->hashed = false;
	s->nr--;
}

/* Messages ----------------------------------------------------------------------------------- */

static void mark_add(struct marks *q, const struct mark *mark)
{
	if (q->nr == MARKS) {
		q->first = (q->first + 1) % MARKS;
		q->nr--;
	}
	q->ring[(q->first + q->nr++) % MARKS] = *mark;
}

static struct mark *mark_first(struct marks *q)
{
	return q->nr ? &q->ring[q->first] : NULL;
}

static void mark_drop(struct marks *q)
{
	q->first = (q->first + 1) % MARKS;
	q->nr--;
}

/* Joins what @from has sent with what its other end has received. */
static void messages_match(struct model *m, struct conn *from)
{
	struct conn *to = from->other;
	struct mark *s, *r;

	while ((s = mark_first(from->sends)) && (r = mark_first(to->receives))) {
		const struct model_link link = {.kind = MODEL_LINK_MESSAGE,
						.process = to->told.process,
						.from = s->who,
						.to = r->who,
						.begin = s->time,
						.end = r->time,
						.connection = to->told.number,
						.bytes = s->bytes};

		if (r->end < s->end) {
			mark_drop(to->receives);
			continue;
		}
		to->told.messages++;
		link_emit(m, &link);
		mark_drop(from->sends);
	}
}

static bool pair_exact(const struct conn *c)
{
	return c->other && c->exact && c->other->exact && c->sends && c->receives &&
	       c->other->sends && c->other->receives;
}

void conn_sent(struct model *m, struct conn *c, uint32_t life, uint64_t bytes)
{
	const struct mark mark = {c->sent += bytes, bytes, m->whys[life].entered, who_is(m, life)};

	if (c->exact && c->sends)
		mark_add(c->sends, &mark);
	if (pair_exact(c))
		messages_match(m, c);
}

/*
 * Has @c received, by @t, more than was sent? Then it looked at bytes that it took later, or a send
 * was not recorded. Between hosts a send may seem to come later by what their clocks may differ.
 */
static bool too_much(const struct model *m, const struct conn *c, uint64_t t)
{
	const struct marks *q = c->receives;
	uint64_t first = t;

	if (c->received <= c->other->sent || c->other->sending)
		return false;
	for (uint32_t i = q->nr; i; i--) {
		const struct mark *r = &q->ring[(q->first + i - 1) % MARKS];

		if (r->end <= c->other->sent)
			break;
		first = r->time;
	}
	return t - first >= hosts_error(m, c->told.process, c->other->told.process, t);
}

void conn_received(struct model *m, struct conn *c, uint32_t life, uint64_t bytes, uint64_t t)
{
	const struct mark mark = {c->received += bytes, bytes, t, who_is(m, life)};

	if (c->exact && c->receives)
		mark_add(c->receives, &mark);
	if (!pair_exact(c))
		return;
	if (too_much(m, c, t))
		c->exact = c->other->exact = false;
	else
		messages_match(m, c->other);
}
