/* SPDX-License-Identifier: MIT */
/*
 * Remote calls, the two ends brought together. By the UID that both have; a call that got no answer
 * has none, and is then the last on its connection: which connection of the other JVM that is, is
 * known from calls before it, or by its addresses. An end that is over waits for the other one, but
 * not for ever: of too many that wait the oldest is told without it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_remote.h"

#define WAITING_MAX 65536u

/* A JVM's end of a connection. */
struct connection {
	struct connection *next, *next_address;
	uint32_t process, id;
	struct remote_half *current; /* the call on it, or the last one until it is told */
	struct connection *other;    /* its other end, NULL: not known */
	int64_t offset;		     /* what is to be added to the other end's numbers of calls */
	bool server, loopback;
	uint16_t local_port, peer_port;
	uint64_t local[2], peer[2];
	uint32_t peer_name; /* model_name() */
};

#define CONNECTION_BUCKETS 16384u

struct remotes {
	struct remote_half **waiting; /* by UID */
	uint32_t nr_waiting, mask;
	struct remote_half *oldest, *newest;
	struct connection *connections[CONNECTION_BUCKETS];
	struct connection *addresses[CONNECTION_BUCKETS]; /* of servers; the last one first */
};

static struct remotes *remotes_of(struct model *m)
{
	struct remotes *r = m->remotes;

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (r)
		r->waiting = calloc(WAITING_MAX, sizeof(struct remote_half *));
	if (!r || !r->waiting) {
		free(r);
		m->error = -ENOMEM;
		return NULL;
	}
	r->mask = WAITING_MAX - 1;
	m->remotes = r;
	return r;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

/* Connections -------------------------------------------------------------------------------- */

static struct connection *connection_find(const struct remotes *r, uint32_t process, uint32_t id)
{
	struct connection *c = r->connections[mix(process, id) % CONNECTION_BUCKETS];

	while (c && (c->process != process || c->id != id))
		c = c->next;
	return c;
}

static struct connection *connection_get(struct model *m, uint32_t process, uint32_t id)
{
	struct remotes *r = remotes_of(m);
	struct connection **bucket, *c = r && id ? connection_find(r, process, id) : NULL;

	if (!r || !id || c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c) {
		m->error = -ENOMEM;
		return NULL;
	}
	c->process = process;
	c->id = id;
	bucket = &r->connections[mix(process, id) % CONNECTION_BUCKETS];
	c->next = *bucket;
	*bucket = c;
	return c;
}

static uint32_t address_bucket(const uint64_t a[2], uint16_t a_port, const uint64_t b[2],
			       uint16_t b_port)
{
	return mix(mix(mix(a[0], a[1]), a_port), mix(mix(b[0], b[1]), b_port)) % CONNECTION_BUCKETS;
}

static uint32_t peer_name(struct model *m, const struct jis_ev_rmi_connection *ev)
{
	char text[INET6_ADDRSTRLEN + 16];
	int n;

	if (!ev->family || !ev->peer_port)
		return name_intern(m, ev->endpoint, strlen(ev->endpoint));
	n = address_text(text, sizeof(text), ev->family, ev->peer0, ev->peer1);
	n += snprintf(text + n, sizeof(text) - (size_t)n, ":%u", ev->peer_port);
	return name_intern(m, text, (size_t)n);
}

void remote_connection(struct model *m, uint32_t process, const struct jis_ev_rmi_connection *ev)
{
	struct connection *c = connection_get(m, process, ev->id), **bucket;

	if (!c || c->local_port)
		return;
	c->peer_name = peer_name(m, ev);
	if (!ev->family || !ev->local_port)
		return;
	c->server = ev->server;
	c->loopback = address_loops(ev->family, ev->peer0, ev->peer1);
	c->local_port = (uint16_t)ev->local_port;
	c->peer_port = (uint16_t)ev->peer_port;
	c->local[0] = ev->local0;
	c->local[1] = ev->local1;
	c->peer[0] = ev->peer0;
	c->peer[1] = ev->peer1;
	if (!c->server)
		return;
	bucket = &m->remotes->addresses[address_bucket(c->local, c->local_port, c->peer,
						       c->peer_port)];
	c->next_address = *bucket;
	*bucket = c;
}

static bool is_across(const struct connection *c, const struct connection *s)
{
	return s->local_port == c->peer_port && s->peer_port == c->local_port &&
	       s->local[0] == c->peer[0] && s->local[1] == c->peer[1] &&
	       s->peer[0] == c->local[0] && s->peer[1] == c->local[1];
}

/*
 * The server's end of a client's connection, by its addresses: the last one that had them. Hosts
 * may have the same addresses, all have the same loopback: an end on the client's host goes first,
 * one on another is believed when no third host has one. A connection to its own address stays on
 * its host.
 */
static struct connection *connection_across(const struct model *m, const struct connection *c)
{
	uint32_t machine = machine_of(m, c->process), at = machine;
	bool local = c->loopback || !memcmp(c->local, c->peer, sizeof(c->local)), several = false;
	struct connection *found = NULL, *s;

	if (!c->local_port)
		return NULL;
	s = m->remotes->addresses[address_bucket(c->peer, c->peer_port, c->local, c->local_port)];
	for (; s; s = s->next_address) {
		uint32_t there = machine_of(m, s->process);

		if (!is_across(c, s) || (local && there != machine))
			continue;
		if (there == machine)
			return s;
		several |= found && there != at;
		found = found ? found : s;
		at = there;
	}
	return several ? NULL : found;
}

static struct connection *connection_of(struct model *m, const struct remote_half *h)
{
	const struct model_remote_end *end = h->server ? &h->call.server : &h->call.client;

	return end->connection ? connection_get(m, end->process, end->connection) : NULL;
}

void remote_connection_begins(struct model *m, struct remote_half *h)
{
	struct connection *c = connection_of(m, h);

	if (c)
		c->current = h;
}

/* Two ends are of one call: so are their connections. Returns whether that was known otherwise. */
static bool connections_match(struct model *m, const struct remote_half *client,
			      const struct remote_half *server)
{
	struct connection *c = connection_of(m, client), *s = connection_of(m, server);
	int64_t offset = (int64_t)server->call.server.call - client->call.client.call;
	bool known, otherwise;

	if (!c || !s)
		return false;
	known = c->other != NULL;
	otherwise = known && (c->other != s || c->offset != offset);
	c->other = s;
	c->offset = offset;
	return otherwise;
}

/* Telling ------------------------------------------------------------------------------------ */

static void half_free(struct model *m, struct remote_half *h)
{
	struct connection *c = m->remotes ? connection_of(m, h) : NULL;

	if (c && c->current == h)
		c->current = NULL;
	free(h);
}

static bool in_window(const struct model *m, const struct model_remote_call *call)
{
	for (int i = 0; i < MODEL_NR_REMOTE_MOMENTS; i++)
		if (call->at[i] != TIME_NONE &&
		    (call->at[i] < m->info.begin || call->at[i] > m->info.end))
			return false;
	return true;
}

static bool is_selected(const struct model *m, const struct model_remote_call *call)
{
	/* Also those of threads that the tables do not know. */
	if (!m->options.thread && !m->options.process)
		return true;
	return (call->client.known && who_selected(m, &call->client.who)) ||
	       (call->server.known && who_selected(m, &call->server.who));
}

static void tell_to(struct model *m, const struct callbacks *to, size_t member,
		    const struct model_remote_call *call)
{
	bool within = in_window(m, call), selected = is_selected(m, call);

	for (uint32_t i = 0; i < to->nr && selected; i++) {
		const struct model_sink *s = to->sinks[i];
		int (*callback)(void *ctx, const struct model_remote_call *call);
		int err;

		if (!within && (to != &m->on_remote || !s->wants_cut_remotes))
			continue;

		memcpy(&callback, (const char *)s + member, sizeof(callback));
		err = callback(s->ctx, call);
		if (err && !m->error)
			m->error = err;
	}
}

static void tell(struct model *m, const struct model_remote_call *call)
{
	tell_to(m, &m->on_remote, offsetof(struct model_sink, remote), call);
}

static void tell_end(struct model *m, struct remote_half *h)
{
	struct model_remote_end *end = h->server ? &h->call.server : &h->call.client;
	const struct connection *c = connection_of(m, h);

	if (c) {
		end->peer = c->peer_name;
		end->port = c->local_port;
		end->peer_port = c->peer_port;
	}
	tell_to(m, &m->on_remote_end, offsetof(struct model_sink, remote_end), &h->call);
}

void remote_begun(struct model *m, const struct remote_half *h)
{
	tell_to(m, &m->on_remote_begin, offsetof(struct model_sink, remote_begin), &h->call);
}

static void tell_link(struct model *m, const struct model_remote_call *call,
		      enum model_remote_moment from, const struct model_remote_end *sender,
		      const struct model_remote_end *receiver)
{
	const struct model_link link = {
		.kind = from == MODEL_REMOTE_SEND ? MODEL_LINK_CALL : MODEL_LINK_ANSWER,
		.process = receiver->process,
		.from = sender->who,
		.to = receiver->who,
		.begin = call->at[from],
		.end = call->at[from + 1],
	};

	if (m->on_link.nr && link.begin != TIME_NONE && link.end != TIME_NONE)
		link_emit(m, &link);
}

/* How well times of the two ends are known in relation to each other. */
static uint64_t error_of(const struct model *m, const struct remote_half *client,
			 const struct remote_half *server)
{
	uint64_t t = server->call.at[MODEL_REMOTE_SERVE];

	return hosts_error(m, client->call.client.process, server->call.server.process,
			   t != TIME_NONE ? t : m->now);
}

/* Both ends, in one piece. Takes them. */
static void tell_both(struct model *m, struct remote_half *client, struct remote_half *server,
		      enum model_remote_match match)
{
	struct model_remote_call call = client->call;

	call.match = match;
	call.server = server->call.server;
	if (!call.uid.time)
		call.uid = server->call.uid;
	for (int i = MODEL_REMOTE_SERVE; i <= MODEL_REMOTE_ANSWER; i++)
		call.at[i] = server->call.at[i];
	call.internal |= server->call.internal;
	call.object = call.at[MODEL_REMOTE_CALL] != TIME_NONE ? call.object : server->call.object;
	call.disagrees = connections_match(m, client, server);
	call.error = error_of(m, client, server);
	tell(m, &call);
	tell_link(m, &call, MODEL_REMOTE_SEND, &call.client, &call.server);
	tell_link(m, &call, MODEL_REMOTE_ANSWER, &call.server, &call.client);
	half_free(m, client);
	half_free(m, server);
}

static void tell_one(struct model *m, struct remote_half *h, enum model_remote_match why)
{
	struct remote_half *client = h->client;

	if (client) {
		h->client = NULL;
		tell_both(m, client, h, MODEL_REMOTE_BY_CONNECTION);
		return;
	}
	h->call.match = why;
	tell(m, &h->call);
	half_free(m, h);
}

/* Waiting ------------------------------------------------------------------------------------ */

static struct remote_half **waiting_bucket(struct remotes *r, const struct model_uid *uid)
{
	uint64_t key = mix(mix((uint64_t)uid->time, (uint32_t)uid->unique), (uint32_t)uid->count);

	return &r->waiting[key & r->mask];
}

static bool uid_equal(const struct model_uid *a, const struct model_uid *b)
{
	return a->unique == b->unique && a->time == b->time && a->count == b->count;
}

static void waiting_remove(struct remotes *r, struct remote_half *h)
{
	struct remote_half **at = waiting_bucket(r, &h->call.uid);

	while (h->has_uid && *at != h)
		at = &(*at)->bucket;
	if (h->has_uid)
		*at = h->bucket;
	*(h->older ? &h->older->newer : &r->oldest) = h->newer;
	*(h->newer ? &h->newer->older : &r->newest) = h->older;
	h->older = h->newer = h->bucket = NULL;
	r->nr_waiting--;
}

static void waiting_add(struct model *m, struct remote_half *h, enum model_remote_match why)
{
	struct remotes *r = remotes_of(m);
	struct remote_half **bucket;

	if (!r) {
		free(h);
		return;
	}
	if (r->nr_waiting == WAITING_MAX) {
		struct remote_half *oldest = r->oldest;

		waiting_remove(r, oldest);
		tell_one(m, oldest, oldest->call.match);
	}
	h->call.match = why;
	if (h->has_uid) {
		bucket = waiting_bucket(r, &h->call.uid);
		h->bucket = *bucket;
		*bucket = h;
	}
	h->older = r->newest;
	*(r->newest ? &r->newest->newer : &r->oldest) = h;
	r->newest = h;
	r->nr_waiting++;
}

static bool is_waiting(const struct remotes *r, const struct remote_half *h)
{
	return h->older || r->oldest == h;
}

void remote_over(struct model *m, struct remote_half *h, enum model_remote_match why)
{
	struct remotes *r = remotes_of(m);
	struct remote_half *other = r ? *waiting_bucket(r, &h->call.uid) : NULL;

	tell_end(m, h);
	while (other && (other->server == h->server || !uid_equal(&other->call.uid, &h->call.uid)))
		other = other->bucket;
	if (h->client) {
		tell_one(m, h, MODEL_REMOTE_OTHER);
	} else if (other) {
		waiting_remove(r, other);
		tell_both(m, h->server ? other : h, h->server ? h : other, MODEL_REMOTE_BY_UID);
	} else {
		waiting_add(m, h, why);
	}
}

/* Served before it was even called, whatever the clocks' error: it is another call. */
static bool is_earlier(const struct model *m, const struct remote_half *server,
		       const struct remote_half *client)
{
	uint64_t called = client->call.at[MODEL_REMOTE_CALL];
	uint64_t served = server->call.at[MODEL_REMOTE_SERVE];

	return called != TIME_NONE && served < called &&
	       called - served > error_of(m, client, server);
}

/* A client's that has got no answer: matched by its connection, or told alone, with @why. */
static void client_alone(struct model *m, struct remote_half *h, enum model_remote_match why)
{
	struct connection *c = connection_of(m, h);
	struct connection *s = c ? (c->other ? c->other : connection_across(m, c)) : NULL;
	struct remote_half *server = s ? s->current : NULL;
	int64_t number = (int64_t)h->call.client.call + (c ? c->offset : 0);

	/* Where no call before was matched, the numbers of the two ends need not be the same. */
	if (!server || server->client || is_earlier(m, server, h) ||
	    (c->other && server->call.server.call != number)) {
		tell_one(m, h, why);
		return;
	}
	if (is_waiting(m->remotes, server)) {
		waiting_remove(m->remotes, server);
		tell_both(m, h, server, MODEL_REMOTE_BY_CONNECTION);
	} else {
		server->client = h;
	}
}

static uint64_t alive_until(const struct model *m, const struct remote_half *h)
{
	uint32_t thread = h->server ? h->call.server.who.thread : h->call.client.who.thread;
	uint64_t death = thread != NONE ? m->threads[thread].death : TIME_NONE;
	uint64_t t = m->now < m->info.end ? m->now : m->info.end;

	return death < t ? death : t;
}

void remote_failed(struct model *m, struct remote_half *h)
{
	tell_end(m, h);
	client_alone(m, h, MODEL_REMOTE_FAILED);
}

void remote_ended(struct model *m, struct remote_half *h, enum model_remote_match why)
{
	h->outer = NULL;
	if (why == MODEL_REMOTE_UNDER_WAY)
		h->call.gone_on = alive_until(m, h);
	tell_end(m, h);
	if (why != MODEL_REMOTE_UNDER_WAY && h->call.over == TIME_NONE)
		h->call.over = m->now;
	/* The client may be still to find out that nobody answers. */
	if (h->server && why == MODEL_REMOTE_UNDER_WAY && !h->client)
		waiting_add(m, h, why);
	else if (!h->server && why == MODEL_REMOTE_UNDER_WAY)
		client_alone(m, h, why);
	else
		tell_one(m, h, why);
}

void remotes_finish(struct model *m)
{
	struct remotes *r = m->remotes;

	while (r && r->oldest) {
		struct remote_half *h = r->oldest;

		waiting_remove(r, h);
		tell_one(m, h, h->call.match);
	}
}

void remotes_fini(struct model *m)
{
	struct remotes *r = m->remotes;

	if (!r)
		return;
	while (r->oldest) {
		struct remote_half *h = r->oldest;

		waiting_remove(r, h);
		free(h->client);
		free(h);
	}
	for (uint32_t i = 0; i < CONNECTION_BUCKETS; i++) {
		while (r->connections[i]) {
			struct connection *c = r->connections[i];

			r->connections[i] = c->next;
			free(c);
		}
	}
	free(r->waiting);
	free(r);
	m->remotes = NULL;
}
