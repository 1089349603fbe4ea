/* SPDX-License-Identifier: MIT */
/*
 * Remote calls (RMI) as the model tells of them: both ends of a call in one piece, where both were
 * recorded, or one of them and why there is no other. docs/model.md says how they are matched.
 */
#ifndef JIS_MERGER_REMOTE_H
#define JIS_MERGER_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "links.h"

/* Moments of a call, in the order in which they are; those of the server from SERVE to ANSWER. */
enum model_remote_moment {
	MODEL_REMOTE_INVOKE, /* client: the stub is called */
	MODEL_REMOTE_CALL,   /* it has a connection, and writes what it passes */
	MODEL_REMOTE_SEND,   /* all is written and sent */
	MODEL_REMOTE_SERVE,  /* server: the first byte is there */
	MODEL_REMOTE_DISPATCH,
	MODEL_REMOTE_RESULT,
	MODEL_REMOTE_ANSWER, /* the answer is written and sent */
	MODEL_REMOTE_REPLY,  /* client: its first byte is there */
	MODEL_REMOTE_RETURN,
	MODEL_NR_REMOTE_MOMENTS
};

/* By what the two ends are known to be of one call, or why there is only one. */
enum model_remote_match {
	MODEL_REMOTE_BY_UID, /* they have the same UID: exact */
	/* No answer came, or not yet: the same connection, and call on it. */
	MODEL_REMOTE_BY_CONNECTION,
	MODEL_REMOTE_NOT_SENT,	/* a client's: it failed before, or was given up */
	MODEL_REMOTE_FAILED,	/* a client's: no answer; who should have served it is not known */
	MODEL_REMOTE_UNDER_WAY, /* the recording ends, or its JVM has ended, in it */
	MODEL_REMOTE_BEFORE,	/* it began before its thread was recorded */
	MODEL_REMOTE_LOST,	/* records of its thread are missing */
	MODEL_REMOTE_OTHER,	/* the other end is in no JVM that was recorded then */
	MODEL_NR_REMOTE_MATCHES
};

/* java.rmi.server.UID, which the server makes for a call and its client reads; time 0: none. */
struct model_uid {
	int32_t unique;
	int64_t time;
	int32_t count;
};

/* An end of a call. */
struct model_remote_end {
	bool known;
	uint64_t number; /* from 1, in order of first sight of either kind of end */
	uint32_t process;
	struct model_who who;
	bool virtual; /* it is a virtual thread: who.thread was its carrier at the begin */
	uint64_t java_tid;
	uint32_t connection, call; /* as in rmi_call; 0 not known */
	/* Where the connection leads to: model_name(), "10.0.0.1:1099", or what its sockets'
	 * factory calls it; 0 not known. Ports of the end itself and of the other one, 0: not
	 * known. All not with remote_begin. */
	uint32_t peer;
	uint16_t port, peer_port;
	uint32_t method; /* model_name(): Class.method, or an operation's text; 0 not known */
	uint32_t result; /* enum jis_rmi_result; of a client that has returned, a server that
			    has a result */
};

struct model_remote_call {
	enum model_remote_match match;
	struct model_remote_end client, server;
	uint64_t at[MODEL_NR_REMOTE_MOMENTS]; /* ns; TIME_NONE: not known, or it did not come to it
					       */
	/* ns: of an end without its last moment, until when it is known to have gone on: its
	 * thread's end, or the recording's. Else TIME_NONE. Told with remote_end. */
	uint64_t gone_on;
	/* ns; of a client without its last moment, when that was found out; TIME_NONE: it has that
	 * moment, or goes on. */
	uint64_t over;
	/* ns, plus or minus: how far times of one end may be wrong in relation to the other's,
	 * which is on another host; UINT64_MAX: not known. 0: on one host, or there is one end. */
	uint64_t error;
	struct model_uid uid; /* not with remote_begin */
	bool internal;	      /* to the registry, the activator or distributed garbage collection */
	/* Both keys are known, and they do not say the same: UID against connection. */
	bool disagrees;
	int64_t object; /* the number of the object that is called; of a server also where internal
			 */
};

/* "UID", "connection", "never sent", ... */
const char *model_remote_match_name(enum model_remote_match match);
/* "invoke", "call", ... */
const char *model_remote_moment_name(enum model_remote_moment moment);

#endif /* JIS_MERGER_REMOTE_H */
