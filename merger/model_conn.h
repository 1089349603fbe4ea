/* SPDX-License-Identifier: MIT */
/* A connection's open end, as the files that follow connections share it. */
#ifndef JIS_MERGER_MODEL_CONN_H
#define JIS_MERGER_MODEL_CONN_H

#include "model_int.h"

/* Sends, and receives, of an end that wait for the other; of more the oldest are forgotten. */
#define MARKS 64u
/* More than any host has open are not followed; of more than so many, no messages are. */
#define MAX_OPEN (1u << 20)
#define MAX_MARKED (1u << 15)

/* A send or a receive: how far it went in the stream of bytes of its direction. */
struct mark {
	uint64_t end, bytes, time;
	struct model_who who;
};

struct marks {
	struct mark ring[MARKS];
	uint32_t first, nr;
};

struct conn {
	struct model_connection told;
	struct conn *next, *former; /* of its process */
	struct conn *bucket;	    /* the next with the same hash of addresses */
	struct conn *other;	    /* its other end, open and traced, or NULL */
	struct model_who *served;
	uint32_t room;
	uint32_t last;		 /* in served: who used it last */
	uint64_t sent, received; /* since it was opened */
	uint32_t sending;	 /* threads in a call that sends */
	bool exact;		 /* sent and received are of all bytes there were */
	bool hashed;
	struct marks *sends, *receives; /* or NULL */
	bool went_out;			/* bytes went out since the last came in */
	bool fresh;			/* no call since it was accepted */
	/* Who may hand it over: accepted it, or polled it. Times 0: nobody. */
	struct model_who acceptor, poller;
	uint64_t accepted, polled;
	int32_t epoll;	/* descriptor it is registered with, or -1 */
	uint64_t armed; /* since when; 0: it is not */
	bool taken;	/* it was read since it was armed, the last time at taken_at */
	uint64_t taken_at;
};

struct conns {
	struct conn **table; /* by addresses */
	uint32_t nr, mask;
	uint64_t number;       /* of the last one */
	uint32_t open, marked; /* how many there are, and those with sends and receives */
};

/* model_conn_ends.c: addresses, both ends of a connection, bytes from one to the other -----------
 */

void addresses_take(struct model_connection *c, const struct jis_ev_fd_socket *ev);
bool same_addresses(const struct model_connection *a, const struct model_connection *b);
/* The addresses of @c are known: enters it, and finds its other end. */
void conn_meets(struct model *m, struct conn *c);
/* It has turned out to be seen from its begin. */
void conn_is_exact(struct model *m, struct conn *c);
void conn_parts(struct model *m, struct conn *c);
/* @life has sent, or received at @t, @bytes. */
void conn_sent(struct model *m, struct conn *c, uint32_t life, uint64_t bytes);
void conn_received(struct model *m, struct conn *c, uint32_t life, uint64_t bytes, uint64_t t);

#endif /* JIS_MERGER_MODEL_CONN_H */
