/* SPDX-License-Identifier: MIT */
/*
 * Remote calls, each end by itself: the records of a Java thread put together. A thread's calls
 * nest: what a client passes may call while it is written, and what serves a call may call. A
 * record names the connection and the call on it, or the call's object, so that a call which was
 * given up without a record is found out when the one around it goes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_remote.h"

#define NEST_MAX 64 /* more of one thread are calls that were given up */

const char *model_remote_match_name(enum model_remote_match match)
{
	static const char *const names[MODEL_NR_REMOTE_MATCHES] = {
		[MODEL_REMOTE_BY_UID] = "UID",
		[MODEL_REMOTE_BY_CONNECTION] = "connection",
		[MODEL_REMOTE_NOT_SENT] = "never sent",
		[MODEL_REMOTE_FAILED] = "no answer",
		[MODEL_REMOTE_UNDER_WAY] = "under way at the end",
		[MODEL_REMOTE_BEFORE] = "began before the recording",
		[MODEL_REMOTE_LOST] = "records are missing",
		[MODEL_REMOTE_OTHER] = "other end not recorded",
	};

	return (unsigned int)match < MODEL_NR_REMOTE_MATCHES ? names[match] : "?";
}

const char *model_remote_moment_name(enum model_remote_moment moment)
{
	static const char *const names[MODEL_NR_REMOTE_MOMENTS] = {"invoke", "call",	 "send",
								   "serve",  "dispatch", "result",
								   "answer", "reply",	 "return"};

	return (unsigned int)moment < MODEL_NR_REMOTE_MOMENTS ? names[moment] : "?";
}

/* Who writes a record. */
struct writer {
	struct model *m;
	struct jthread *j;
	uint32_t process, life;
	uint64_t t;
};

static struct model_remote_end *end_of(struct remote_half *h)
{
	return h->server ? &h->call.server : &h->call.client;
}

static struct remote_half *half_push(const struct writer *w, bool server,
				     enum model_remote_moment moment)
{
	struct remote_half *h = calloc(1, sizeof(*h));
	struct model_remote_end *end;

	if (!h) {
		w->m->error = -ENOMEM;
		return NULL;
	}
	for (int i = 0; i < MODEL_NR_REMOTE_MOMENTS; i++)
		h->call.at[i] = TIME_NONE;
	h->call.gone_on = TIME_NONE;
	h->call.over = TIME_NONE;
	h->server = server;
	end = end_of(h);
	end->known = true;
	end->number = ++w->m->remote_ends;
	end->process = w->process;
	end->java_tid = w->j->java_tid;
	end->virtual = w->j->virtual;
	end->who = w->life != NONE ? who_is(w->m, w->life) : (struct model_who){NONE, w->j->row};
	h->call.at[moment] = w->t;
	h->outer = w->j->remote;
	w->j->remote = h;
	return h;
}

/* The innermost ends, up to the one that is @last, or all, are over without a record of it; @over:
 * as that of the call. */
static void given_up(struct model *m, struct jthread *j, const struct remote_half *last,
		     enum model_remote_match why, uint64_t over)
{
	while (j->remote && j->remote != last) {
		struct remote_half *h = j->remote;

		j->remote = h->outer;
		h->call.over = over;
		if (why == MODEL_REMOTE_UNDER_WAY && !h->server &&
		    h->call.at[MODEL_REMOTE_SEND] == TIME_NONE)
			remote_ended(m, h, MODEL_REMOTE_NOT_SENT);
		else
			remote_ended(m, h, why);
	}
}

void remote_dropped(struct model *m, struct jthread *j, enum model_remote_match why)
{
	given_up(m, j, NULL, why, why == MODEL_REMOTE_UNDER_WAY ? TIME_NONE : m->now);
}

void remote_free(struct jthread *j)
{
	while (j->remote) {
		struct remote_half *h = j->remote;

		j->remote = h->outer;
		free(h->client);
		free(h);
	}
}

/* Forgets the oldest of too many. */
static void nest_bound(struct model *m, struct jthread *j)
{
	struct remote_half **at = &j->remote, *h;

	for (int n = 0; *at; n++) {
		if (n == NEST_MAX) {
			h = *at;
			*at = h->outer;
			remote_ended(m, h, MODEL_REMOTE_NOT_SENT);
		} else {
			at = &(*at)->outer;
		}
	}
}

/* The end that a record is of; those inside of it are over. NULL: it began before. */
static struct remote_half *half_find(const struct writer *w, bool server, uint32_t connection,
				     uint32_t call)
{
	struct remote_half *h = w->j->remote;

	for (; h; h = h->outer) {
		const struct model_remote_end *end = end_of(h);

		if (h->server == server && connection && end->connection == connection &&
		    end->call == call)
			break;
	}
	if (h)
		given_up(w->m, w->j, h, MODEL_REMOTE_NOT_SENT, w->t);
	return h;
}

static struct remote_half *half_pop(struct jthread *j)
{
	struct remote_half *h = j->remote;

	j->remote = h->outer;
	h->outer = NULL;
	return h;
}

/* Class.method */
static uint32_t method_of(const struct writer *w, uint32_t id)
{
	return id ? method_name(w->m, w->process, id) : 0;
}

/* The registry, the activator or distributed garbage collection. */
static bool is_internal(int64_t object, int64_t space_time)
{
	return !space_time && object >= JIS_RMI_REGISTRY && object <= JIS_RMI_DGC;
}

/* JMX's connector is a remote object like others, under any number: its interfaces tell it,
 * RMIServer and RMIConnection, by which both ends know its methods. */
static bool is_connector(const struct model *m, uint32_t method)
{
	static const char package[] = "javax.management.remote.rmi.";

	return method && !strncmp(model_name(m, method), package, sizeof(package) - 1);
}

/* Records ------------------------------------------------------------------------------------ */

static void invoke(const struct writer *w, const struct jis_ev_rmi_invoke *ev)
{
	struct remote_half *h = w->j->remote;

	/* One that has got no connection is over before another begins. */
	if (h && !h->server && h->call.at[MODEL_REMOTE_CALL] == TIME_NONE)
		remote_ended(w->m, half_pop(w->j), MODEL_REMOTE_NOT_SENT);
	h = half_push(w, false, MODEL_REMOTE_INVOKE);
	if (h) {
		h->call.client.method = method_of(w, ev->method);
		h->call.internal = is_connector(w->m, h->call.client.method);
		remote_begun(w->m, h);
	}
	nest_bound(w->m, w->j);
}

static void call(const struct writer *w, const struct jis_ev_rmi_call *ev)
{
	struct remote_half *h = w->j->remote;
	bool begins = !h || h->server || h->call.at[MODEL_REMOTE_CALL] != TIME_NONE;

	if (begins)
		h = half_push(w, false, MODEL_REMOTE_CALL);
	if (!h)
		return;
	h->call.at[MODEL_REMOTE_CALL] = w->t;
	h->call.client.connection = ev->connection;
	h->call.client.call = ev->call;
	h->call.object = ev->object;
	h->call.internal |= is_internal(ev->object, ev->space_time);
	remote_connection_begins(w->m, h);
	if (begins)
		remote_begun(w->m, h);
	nest_bound(w->m, w->j);
}

static void send(const struct writer *w, const struct jis_ev_rmi_send *ev)
{
	struct remote_half *h = half_find(w, false, ev->connection, ev->call);

	if (!h) {
		h = half_push(w, false, MODEL_REMOTE_SEND);
		if (h)
			remote_begun(w->m, h);
	}
	if (!h)
		return;
	h->call.at[MODEL_REMOTE_SEND] = w->t;
	h->remote_call = ev->remote_call;
}

static void reply(const struct writer *w, const struct jis_ev_rmi_reply *ev)
{
	struct remote_half *h = half_find(w, false, ev->connection, ev->call);

	if (h)
		h->call.at[MODEL_REMOTE_REPLY] = w->t;
}

/* Of the innermost call with that object; of one that was sent before the thread was recorded this
 * is all there is, and the UID may be in it. */
static void returned(const struct writer *w, const struct jis_ev_rmi_return *ev)
{
	enum model_remote_match why = MODEL_REMOTE_OTHER;
	struct remote_half *h = w->j->remote;

	for (; h; h = h->outer)
		if (!h->server && h->call.at[MODEL_REMOTE_SEND] != TIME_NONE &&
		    h->remote_call == ev->remote_call)
			break;
	if (!h) {
		h = half_push(w, false, MODEL_REMOTE_RETURN);
		if (!h)
			return;
		remote_begun(w->m, h);
		why = MODEL_REMOTE_BEFORE;
	}
	given_up(w->m, w->j, h, MODEL_REMOTE_NOT_SENT, w->t);
	half_pop(w->j);
	h->call.at[MODEL_REMOTE_RETURN] = w->t;
	h->call.client.result = ev->result;
	h->call.uid = (struct model_uid){ev->uid_unique, ev->uid_time, ev->uid_count};
	h->has_uid = ev->uid_time != 0;
	if (h->has_uid)
		remote_over(w->m, h, why);
	else if (why == MODEL_REMOTE_BEFORE)
		remote_ended(w->m, h, why);
	else
		remote_failed(w->m, h);
}

/* A thread serves one call at a time: one that was not answered is over. */
static void serve(const struct writer *w, const struct jis_ev_rmi_serve *ev)
{
	struct remote_half *h;

	given_up(w->m, w->j, NULL, MODEL_REMOTE_UNDER_WAY, w->t);
	h = half_push(w, true, MODEL_REMOTE_SERVE);
	if (!h)
		return;
	h->call.server.connection = ev->connection;
	h->call.server.call = ev->call;
	remote_connection_begins(w->m, h);
	remote_begun(w->m, h);
}

static struct remote_half *served(const struct writer *w)
{
	struct remote_half *h = w->j->remote;

	while (h && !h->server)
		h = h->outer;
	if (h)
		given_up(w->m, w->j, h, MODEL_REMOTE_NOT_SENT, w->t);
	return h;
}

static void dispatch(const struct writer *w, const struct jis_ev_rmi_dispatch *ev)
{
	struct remote_half *h = served(w);

	if (!h)
		return;
	h->call.at[MODEL_REMOTE_DISPATCH] = w->t;
	h->call.object = ev->object;
	h->call.server.method = ev->method ? method_of(w, ev->method)
					   : string_name(w->m, w->process, ev->operation);
	h->call.internal = is_internal(ev->object, ev->space_time) ||
			   is_connector(w->m, h->call.server.method);
}

static void result(const struct writer *w, const struct jis_ev_rmi_result *ev)
{
	struct remote_half *h = served(w);

	if (!h)
		return;
	h->call.at[MODEL_REMOTE_RESULT] = w->t;
	h->call.server.result = ev->result;
}

static void answer(const struct writer *w, const struct jis_ev_rmi_answer *ev)
{
	struct remote_half *h = half_find(w, true, ev->connection, ev->call);

	if (!h) {
		/* Its begin was not recorded, its UID is. */
		h = half_push(w, true, MODEL_REMOTE_ANSWER);
		if (!h)
			return;
		h->call.server.connection = ev->connection;
		h->call.server.call = ev->call;
		remote_begun(w->m, h);
	}
	half_pop(w->j);
	h->call.at[MODEL_REMOTE_ANSWER] = w->t;
	h->call.uid = (struct model_uid){ev->uid_unique, ev->uid_time, ev->uid_count};
	h->has_uid = true;
	remote_over(w->m, h, MODEL_REMOTE_OTHER);
}

void remote_event(struct model *m, const struct stream_cursor *c, struct jthread *j, uint32_t life,
		  uint64_t t)
{
	const struct writer w = {m, j, c->trace - 1, life, t};
	const void *ev = c->payload;

	switch (c->id) {
	case JIS_EV_rmi_invoke:
		invoke(&w, ev);
		break;
	case JIS_EV_rmi_call:
		call(&w, ev);
		break;
	case JIS_EV_rmi_send:
		send(&w, ev);
		break;
	case JIS_EV_rmi_reply:
		reply(&w, ev);
		break;
	case JIS_EV_rmi_return:
		returned(&w, ev);
		break;
	case JIS_EV_rmi_serve:
		serve(&w, ev);
		break;
	case JIS_EV_rmi_dispatch:
		dispatch(&w, ev);
		break;
	case JIS_EV_rmi_result:
		result(&w, ev);
		break;
	case JIS_EV_rmi_answer:
		answer(&w, ev);
		break;
	}
}
