/* SPDX-License-Identifier: MIT */
/*
 * The calls that a traced method gets. Needs no JVM: tests rewrite classes by it, too.
 */
#ifndef JIS_AGENT_METHODS_CALLS_H
#define JIS_AGENT_METHODS_CALLS_H

#include "classfile.h"

#define METHODS_CALLS 3u
#define METHODS_SPAN_CALLS 2u

/* At entry, before each return, and before an exception leaves method @number; @library: one that
 * is traced at top level only; @class: whose probes are called. Fills METHODS_CALLS of @calls, and
 * returns that. */
unsigned int methods_calls(struct jis_call *calls, const char *class, uint32_t number, int library);
/* A span around the method's calls, by its handle. Fills METHODS_SPAN_CALLS, and returns that. */
unsigned int methods_span_calls(struct jis_call *calls, uint32_t handle);

#endif /* JIS_AGENT_METHODS_CALLS_H */
