/* SPDX-License-Identifier: MIT */
/* Remote calls inside of the model: an end that is under way, and what its two files share. */
#ifndef JIS_MERGER_MODEL_REMOTE_H
#define JIS_MERGER_MODEL_REMOTE_H

#include "model_int.h"

/* One end of a call. On its thread while it is under way, then where it waits for the other end. */
struct remote_half {
	struct remote_half *outer;		    /* of the same thread */
	struct remote_half *older, *newer, *bucket; /* waiting */
	struct model_remote_call call;
	uint32_t remote_call; /* client: hash of its object */
	bool server, has_uid;
	/* A client's that got no answer, of the server's end that this is; NULL: none. */
	struct remote_half *client;
};

/* model_remote_match.c */

/* It begins: told. */
void remote_begun(struct model *m, const struct remote_half *h);
/* It is over and has a UID: matched, or kept for the other end, and told with @why if none comes.
 * Takes it. */
void remote_over(struct model *m, struct remote_half *h, enum model_remote_match why);
/* It has got no answer: matched by its connection, or told. Takes it. */
void remote_failed(struct model *m, struct remote_half *h);
/* It ends without its moments: told, with @why. Takes it. */
void remote_ended(struct model *m, struct remote_half *h, enum model_remote_match why);
/* A call begins on a connection: @h is what that one serves, or is used for, from now on. */
void remote_connection_begins(struct model *m, struct remote_half *h);

#endif /* JIS_MERGER_MODEL_REMOTE_H */
