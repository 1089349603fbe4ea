/* SPDX-License-Identifier: MIT */
/*
 * Remote calls as the critical path needs them: for each client's thread and virtual thread when it
 * waited for an answer, and which thread served it meanwhile. A part of the lanes (lanes.h).
 */
#ifndef JIS_ANALYSIS_HOPS_H
#define JIS_ANALYSIS_HOPS_H

#include "lane.h"
#include "merger/model.h"

enum hop_kind {
	HOP_NONE = 0,
	HOP_ALONE,    /* who serves it is not known: @match says why */
	HOP_FOLLOWED, /* it is known when and by whom it was served */
};

/* Both ends are known, but not how the clocks of their hosts differ. */
#define HOP_CLOCKLESS MODEL_NR_REMOTE_MATCHES

/* A remote call, without what differs from call to call. */
struct hop_call {
	uint32_t method; /* model_name(): Class.method, or an operation's text; 0 not known */
	uint8_t kind;	 /* enum hop_kind */
	uint8_t match;	 /* enum model_remote_match, or HOP_CLOCKLESS */
	uint8_t internal;
	uint8_t zero;
};

/* A client waits for the answer of a call during [send, over). */
struct hop {
	uint64_t send, over;
	uint64_t serve, answer;		 /* HOP_FOLLOWED: within, unless TIME_NONE: none came */
	uint32_t server, server_vthread; /* who serves it then, or MODEL_NO_THREAD */
	struct hop_call call;
};

struct hops {
	struct lane *threads, *vthreads; /* of clients: struct hop, in order of send */
	const struct model_info *info;
	struct spill *spill;
};

/* Returns 0 or -ENOMEM; after an error, too, hops_fini(). @spill: where they lie. */
int hops_init(struct hops *h, const struct model_info *info, struct spill *spill);
void hops_fini(struct hops *h);
/* hop_alone_name - why the server's time of a HOP_ALONE is not known, in words. */
const char *hop_alone_name(const struct hop_call *call);
/* hop_of - what @call is for its client. False: a client that never waited, or has no row. */
bool hop_of(const struct model_remote_call *call, struct hop *hop);
/* Takes @hop of @call. Returns 0 or the errors of lane_add(). */
int hops_add(struct hops *h, const struct model_remote_call *call, const struct hop *hop);
/* All have come. */
void hops_sort(const struct hops *h);

/**
 * hops_at - the call for whose answer a thread (@vthread, unless that is MODEL_NO_THREAD) waits at
 * @t, or NULL. Of several the one sent last.
 * @until: as long nothing changes in that.
 */
const struct hop *hops_at(const struct hops *h, uint32_t thread, uint32_t vthread, uint64_t t,
			  uint64_t *until);

#endif /* JIS_ANALYSIS_HOPS_H */
