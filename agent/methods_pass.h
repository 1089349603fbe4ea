/* SPDX-License-Identifier: MIT */
/*
 * A class on its way into the JVM: which of its methods get which calls. Under methods_lock.
 */
#ifndef JIS_AGENT_METHODS_PASS_H
#define JIS_AGENT_METHODS_PASS_H

#include "methods.h"

#define ANNOTATIONS_MAX 64u

struct pick {
	struct traced *method;
	struct jis_method about;
	unsigned int result; /* enum choice_result */
	int tells;	     /* values of its calls */
};

/* A class on its way. */
struct pass {
	const struct choice *choice;
	long loader;
	const char *name; /* dotted */
	size_t length;
	struct traced_class *class;
	struct pick *picks;
	unsigned int nr_picks, room;
	int nr_class_annotations; /* -1: not looked at yet */
	unsigned int nr_annotations;
	struct choice_text annotations[ANNOTATIONS_MAX];
	char text[4096]; /* of annotations */
	size_t used;
	int failed;
};

/* What jis_class_rewrite() asks of each method, and tells of one that it leaves as it is. @context:
 * the pass. */
unsigned int pass_method(void *context, const struct jis_method *m, struct jis_call *calls);
void pass_refused(void *context, const struct jis_method *m, const char *why);

#endif /* JIS_AGENT_METHODS_PASS_H */
