/* SPDX-License-Identifier: MIT */
/*
 * Classes that are left as they are before anyone has looked at their methods: hidden ones, whose
 * files the JVM shows to no agent, and others that it does not let be rewritten. Tells which of
 * their methods had been chosen, as the JVM names them; their annotations it does not say.
 */
#include <stdlib.h>

#include "methods.h"
#include "waits.h"

struct left {
	char *name, *descriptor; /* the JVM's memory */
	uint32_t code_bytes;
};

/* Returns 0, or -ENOENT: it has no code. */
static int left_ask(jmethodID method, struct left *out)
{
	unsigned char *code = NULL;
	jint size = 0;

	/* Abstract ones have size 0, native ones an error. */
	if ((*agent.jvmti)->GetBytecodes(agent.jvmti, method, &size, &code))
		return -ENOENT;
	(*agent.jvmti)->Deallocate(agent.jvmti, code);
	out->code_bytes = (uint32_t)size;
	if (size <= 0 ||
	    (*agent.jvmti)->GetMethodName(agent.jvmti, method, &out->name, &out->descriptor, NULL))
		return -ENOENT;
	return 0;
}

static void left_free(struct left *methods, jint n)
{
	jint i;

	for (i = 0; i < n; i++) {
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods[i].name);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods[i].descriptor);
	}
	free(methods);
}

/* Its methods with code, to be freed by left_free(); returns how many. */
static jint left_methods(jclass class, struct left **out)
{
	jmethodID *methods = NULL;
	jint n = 0, i, kept = 0;

	*out = NULL;
	/* A class that is not prepared is looked at when it is. */
	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, class, &n, &methods))
		return 0;
	if (n > 0)
		*out = calloc((size_t)n, sizeof(**out));
	for (i = 0; *out && i < n; i++)
		kept += left_ask(methods[i], &(*out)[kept]) == 0;
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	return kept;
}

/* A class that is refused keeps the probes that it has. */
static int has_probes(const struct traced_class *c, const struct left *m)
{
	const struct traced *t = c ? c->methods : NULL;

	while (t && !(t->present && !strcmp(t->text, m->name) &&
		      !strcmp(t->text + t->name_length + 1, m->descriptor)))
		t = t->next;
	return t != NULL;
}

/* Chosen, and not traced? */
static int is_left(const struct choice *choice, const struct class_id *id, const struct left *m)
{
	const struct traced_class *c = traced_class_get(id->loader, id->name, id->length, 0);
	struct choice_text supers[SUPERS_MAX];
	struct choice_method about = {
		.class_name = {id->name, id->length},
		.name = {m->name, strlen(m->name)},
		.descriptor = {m->descriptor, strlen(m->descriptor)},
		.code_bytes = m->code_bytes,
		.supers = supers,
		.nr_supers = c ? supers_list(c, supers) : 0,
	};

	return choice_of(choice, &about) != CHOICE_NOT && !has_probes(c, m);
}

void methods_left(const struct choice *choice, jclass class, const struct class_id *id,
		  const char *why)
{
	struct left *methods;
	jint n = left_methods(class, &methods), i;
	char *file = NULL;

	if (n && (*agent.jvmti)->GetSourceFileName(agent.jvmti, class, &file))
		file = NULL;
	if (!why)
		why = memchr(id->name, '/', id->length)
			      ? "its class is hidden: the JVM shows it to no agent"
			      : "the JVM lets nobody rewrite its class";
	pthread_mutex_lock(&methods_lock);
	for (i = 0; i < n; i++)
		if (is_left(choice, id, &methods[i]))
			traced_tell_left(id, methods[i].name, methods[i].descriptor, file, why);
	pthread_mutex_unlock(&methods_lock);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)file);
	left_free(methods, n);
}
