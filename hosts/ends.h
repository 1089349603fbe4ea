/* SPDX-License-Identifier: MIT */
/*
 * Ends of remote calls whose other end is not in the same session: what is known of two hosts'
 * clocks. A sink of the model.
 */
#ifndef JIS_HOSTS_ENDS_H
#define JIS_HOSTS_ENDS_H

#include "merger/model.h"

/* Kept of a session at most; of more, those whose UID is a multiple of more. */
#define CALL_ENDS_MAX (1u << 20)

/* One end that has a UID; ns since its session's begin. */
struct call_end {
	struct model_uid uid;
	uint32_t session; /* whose, as the caller numbers them */
	bool server;
	uint64_t first; /* the call is sent, or there */
	uint64_t last;	/* the answer is there, or sent */
};

struct call_ends {
	struct model_sink sink;
	struct call_end *ends;
	size_t nr, room;
	uint32_t session;
	uint64_t thin;	/* only UIDs whose hash is a multiple of this are kept */
	uint64_t alone; /* ends without another end in their session, UID or not */
};

void call_ends_init(struct call_ends *e, uint32_t session);
void call_ends_fini(struct call_ends *e);

/* Of all sessions in one: all are made as thin as the thinnest, sorted by UID, server behind
 * client. Returns how many are left. */
size_t call_ends_sort(struct call_end *ends, size_t nr, uint64_t thin);
bool call_uid_equal(const struct model_uid *a, const struct model_uid *b);

#endif /* JIS_HOSTS_ENDS_H */
