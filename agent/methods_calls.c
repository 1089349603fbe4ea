/* SPDX-License-Identifier: MIT */
/*
 * The calls that a traced method gets, as a plan for the rewriter. Asks nothing of the JVM.
 */
#include "methods_calls.h"

#include "jis/events.h"

static void call_make(struct jis_call *call, unsigned int places, const char *class,
		      const char *probe, uint32_t number)
{
	*call = (struct jis_call){
		.places = places,
		.class = class,
		.method = probe,
		.descriptor = "(I)V",
		.nr_args = 1,
		.args = {{.kind = JIS_ARG_NUMBER, .value = (int32_t)number}},
	};
}

unsigned int methods_calls(struct jis_call *calls, const char *class, uint32_t number, int library)
{
	const char *exit = library ? "exitLibrary" : "exit";

	call_make(&calls[0], JIS_AT_ENTRY, class, library ? "enterLibrary" : "enter", number);
	call_make(&calls[1], JIS_AT_RETURN, class, exit, number);
	call_make(&calls[2], JIS_AT_THROW, class, exit, number | JIS_METHOD_UNWOUND);
	return METHODS_CALLS;
}

unsigned int methods_span_calls(struct jis_call *calls, uint32_t handle)
{
	call_make(&calls[0], JIS_AT_ENTRY, PROBE_CLASS, "spanBegin", handle);
	call_make(&calls[1], JIS_AT_EXIT, PROBE_CLASS, "spanEnd", handle);
	return METHODS_SPAN_CALLS;
}
