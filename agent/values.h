/* SPDX-License-Identifier: MIT */
/* Values of calls, and spans around methods: between methods.c and values.c. */
#ifndef JIS_AGENT_VALUES_H
#define JIS_AGENT_VALUES_H

#include "choice.h"
#include "classfile.h"
#include "methods.h"

/* Begins a recording: hashes of former ones mean nothing in it. Returns 0 or -errno. */
int values_begin(JNIEnv *env);
/* Of texts, tell this many characters from now on. */
void values_strings(uint32_t characters);
/**
 * values_calls - the calls to put at the entry of @m, before that of its own entry, so that method
 * @number tells @values; @library: only where its entry is told.
 * What there is not is left out, and the user told so, once a method. Returns how many, at most
 * CHOICE_VALUES_MAX.
 */
unsigned int values_calls(const struct jis_method *m, const struct choice_values *values,
			  struct traced *method, int library, struct jis_call *calls);

#endif /* JIS_AGENT_VALUES_H */
