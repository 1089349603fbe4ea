/* SPDX-License-Identifier: MIT */
/*
 * Calls of traced methods: what was called, by whom, and where the time of each call went. A call
 * is of a Java thread, which a virtual one takes along from carrier to carrier. docs/calls.md has
 * the rules.
 */
#ifndef JIS_MERGER_CALLS_H
#define JIS_MERGER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_NO_CONTEXT UINT32_MAX

/* A traced method; the same class, name and descriptor is one, whatever process and loader. */
struct model_method {
	uint32_t class_name, name, descriptor, file, loader; /* model_name(); loader: the first */
	uint32_t flags; /* JIS_METHOD_*; 0 where it was never told of */
	uint32_t code_bytes;
	int32_t first_line, last_line; /* -1 not known */
	bool overloaded;	       /* its class has another of that name */
};

/* A way by which a method was called: all calls from its thread's first on. 0: no call. */
struct model_context {
	uint32_t parent, method;
	bool started;	     /* first call of a thread that was started in @parent */
	bool recursive;	     /* the method is in a context above, of the same thread */
	bool pair_recursive; /* ... called by the same method */
	bool sure;	     /* has had a call that is not MODEL_CALL_DOUBTFUL */
	uint32_t depth;	     /* calls of the same thread, this one included */
};

/* Where the time of a call went. The parts add up to the wall time, to the nanosecond. */
enum model_call_time {
	MODEL_CALL_CPU,	     /* running */
	MODEL_CALL_READY,    /* for a CPU, or a virtual thread for a carrier */
	MODEL_CALL_BLOCKED,  /* also: stopped */
	MODEL_CALL_CARRYING, /* a carrier: what happened to the virtual threads on it meanwhile */
	MODEL_CALL_UNKNOWN,  /* the state is not known */
	MODEL_NR_CALL_TIMES
};

enum model_call_flag {
	MODEL_CALL_UNSEEN = 1,	/* its entry was not recorded: begin is the earliest it may be */
	MODEL_CALL_OPEN = 2,	/* it went on when the window, or its thread, ended */
	MODEL_CALL_CUT = 4,	/* it began before the window: begin is that of the window */
	MODEL_CALL_UNWOUND = 8, /* an exception ended it */
	/* Its exit was not recorded: end is the last time it is known to go on, or, where none was
	 * lost, when a call around it ended. */
	MODEL_CALL_REPAIRED = 16,
	MODEL_CALL_DOUBTFUL = 32, /* records were lost in its caller: calls in between may miss */
	MODEL_CALL_STARTED = 64,  /* @caller is a call of another thread, which started this one */
	MODEL_CALL_VIRTUAL = 128, /* of a virtual thread, also of one without a row */
	/* Where there is no context: what it would say, and that the caller has none either. */
	MODEL_CALL_RECURSIVE = 256,
	MODEL_CALL_PAIR_RECURSIVE = 512,
	MODEL_CALL_IN_NONE = 1024,
	MODEL_CALL_STARTER =
		2048, /* threads were started in it: it is @caller of their first calls */
	/* Records were lost in it: it may have ended there, and its end be that of a later call of
	 * its method. */
	MODEL_CALL_GAP = 4096,
};

/* Its wall time is not, or may not be, that of the whole call. */
#define MODEL_CALL_PART                                                                            \
	(MODEL_CALL_UNSEEN | MODEL_CALL_OPEN | MODEL_CALL_CUT | MODEL_CALL_REPAIRED |              \
	 MODEL_CALL_GAP)

#define MODEL_MAX_VALUES 8

/* A value that was recorded of a call. */
struct model_value {
	int32_t argument; /* from 0 on; JIS_VALUE_RECEIVER */
	uint32_t text;	  /* model_name(): 17, true, 'x', 0.5, null, "text", String(4)#hash,
			     Foo@hash... */
};

struct model_call {
	uint64_t number;	  /* from 1, in order of first sight */
	uint64_t caller;	  /* number of the call it is made in, 0: none that is known */
	uint32_t method;	  /* model_method(), 0: not told of */
	uint32_t context;	  /* model_context(), MODEL_NO_CONTEXT: there are too many */
	uint32_t process, thread; /* kernel thread it begins or ends on */
	uint32_t vthread;	  /* index, or MODEL_NO_THREAD: no virtual one, or without a row */
	uint32_t cpu;		  /* where it begins or ends, or MODEL_NO_CPU */
	uint64_t java_tid;	  /* 0: not known */
	uint32_t depth;		  /* 1: first call of its thread */
	uint32_t flags;		  /* enum model_call_flag */
	uint32_t outer;		  /* method of the call around it, of the same thread; 0: none */
	uint64_t begin, end;
	const struct model_value *values; /* in the order recorded: the receiver first */
	uint32_t nr_values;
	/* From here on known at its end only. own: without the calls in it. */
	uint64_t time[MODEL_NR_CALL_TIMES], own[MODEL_NR_CALL_TIMES];
	/* ns by enum model_reason_kind, of ready and blocked; NULL: none of either. */
	const uint64_t *by_reason, *own_by_reason;
	uint64_t lost;	/* of the wall time, not own: in calls of which records are lost */
	uint64_t calls; /* that ended in it, at any depth */
};

struct model;

/* Method 1 to model_nr_methods(), which grows while the model runs; anything else: one of no name.
 */
const struct model_method *model_method(const struct model *m, uint32_t method);
uint32_t model_nr_methods(const struct model *m);
/* Context 1 to model_nr_contexts(). Parents come before what is called from them. */
const struct model_context *model_context(const struct model *m, uint32_t context);
uint32_t model_nr_contexts(const struct model *m);

/**
 * model_method_text - "com.acme.Foo.bar", with "(int, String)" behind it where its class has
 * several of that name; "?" for a method that was never told of. Returns the length, as snprintf(3)
 * does.
 */
size_t model_method_text(const struct model *m, uint32_t method, char *text, size_t room);

#endif /* JIS_MERGER_CALLS_H */
