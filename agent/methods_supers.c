/* SPDX-License-Identifier: MIT */
/*
 * What is above classes, for rules that choose by that: as the JVM says of those that are prepared,
 * and as class files say of those on their way. All but the asking under methods_lock.
 */
#include <stdlib.h>

#include "methods.h"
#include "waits.h"

#define SUPERS_TEXT 16384u

unsigned int supers_list(const struct traced_class *c, struct choice_text *out)
{
	const char *p = c->supers;
	unsigned int i;

	for (i = 0; p && i < c->nr_supers && i < SUPERS_MAX; i++) {
		out[i] = (struct choice_text){p, strlen(p)};
		p += out[i].length + 1;
	}
	return i;
}

struct supers {
	char text[SUPERS_TEXT];
	size_t used;
	unsigned int n;
};

static void super_add(JNIEnv *env, jclass class, struct supers *out, int depth);

static void interfaces_add(JNIEnv *env, jclass class, struct supers *out, int depth)
{
	jclass *interfaces = NULL;
	jint n = 0, i;

	if ((*agent.jvmti)->GetImplementedInterfaces(agent.jvmti, class, &n, &interfaces))
		return;
	for (i = 0; i < n; i++) {
		super_add(env, interfaces[i], out, depth);
		(*env)->DeleteLocalRef(env, interfaces[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)interfaces);
}

/* The class, and all above it. */
static void super_add(JNIEnv *env, jclass class, struct supers *out, int depth)
{
	char name[NAME_UTF8_MAX];
	size_t length = class_name_text(class, name);
	jclass super;

	if (!length || depth > 64 || out->n == SUPERS_MAX ||
	    length >= sizeof(out->text) - out->used)
		return;
	memcpy(out->text + out->used, name, length);
	out->text[out->used + length] = 0;
	out->used += length + 1;
	out->n++;
	interfaces_add(env, class, out, depth + 1);
	super = (*env)->GetSuperclass(env, class);
	if (super)
		super_add(env, super, out, depth + 1);
	if (super)
		(*env)->DeleteLocalRef(env, super);
}

/* Does a rule of that kind match a class above? Under the lock. */
static int supers_chosen(const struct choice *choice, const struct supers *s, unsigned int first)
{
	const char *p = s->text;
	unsigned int i, r;

	for (i = 0; i < s->n; i++, p += strlen(p) + 1)
		for (r = first; r < choice->nr_rules; r++)
			if (choice->rules[r].kind == CHOICE_SUBTYPES &&
			    choice_match(choice->rules[r].pattern, choice->rules[r].length, p,
					 strlen(p)))
				return 1;
	return 0;
}

static int supers_store(struct traced_class *c, const struct supers *s, int guessed)
{
	char *text = malloc(s->used);

	if (!text)
		return 0;
	memcpy(text, s->text, s->used);
	free(c->supers);
	c->supers = text;
	c->nr_supers = s->n;
	c->guessed = guessed != 0;
	return 1;
}

static void supers_text(struct supers *s, const char *text, size_t length)
{
	size_t i;

	if (s->n == SUPERS_MAX || length >= sizeof(s->text) - s->used)
		return;
	for (i = 0; i < length; i++)
		s->text[s->used + i] = text[i] == '/' ? '.' : text[i];
	s->text[s->used + length] = 0;
	s->used += length + 1;
	s->n++;
}

/* A class above as the class file names it, and what is known to be above that. */
static void supers_direct(long loader, const struct jis_class *c, unsigned int index,
			  struct supers *s)
{
	size_t length = 0, at = s->used;
	const char *name = jis_class_of(c, index, &length), *p;
	const struct traced_class *above;
	unsigned int i;

	if (!name)
		return;
	supers_text(s, name, length);
	if (s->used == at)
		return;
	above = traced_class_get(loader, s->text + at, length, 0);
	if (!above)
		above = traced_class_get(0, s->text + at, length, 0);
	p = above ? above->supers : NULL;
	for (i = 0; p && i < above->nr_supers; i++, p += strlen(p) + 1)
		supers_text(s, p, strlen(p));
}

void supers_guess(const struct choice *choice, struct traced_class **class,
		  const struct class_id *id, const struct jis_bytes *bytes)
{
	struct jis_class c = {0};
	struct supers *s;
	unsigned int i, n;

	if (!choice_needs(choice, 0, CHOICE_SUBTYPES) || (*class && (*class)->supers))
		return;
	s = calloc(1, sizeof(*s));
	if (s && jis_class_parse(&c, bytes->data, bytes->size) == 0) {
		supers_text(s, id->name, id->length);
		supers_direct(id->loader, &c, c.super_class, s);
		n = jis_class_interfaces(&c);
		for (i = 0; i < n; i++)
			supers_direct(id->loader, &c, jis_class_interface(&c, i), s);
		if (supers_chosen(choice, s, 0)) {
			*class = traced_class_get(id->loader, id->name, id->length, 1);
			if (*class)
				supers_store(*class, s, 1);
		}
	}
	jis_class_free(&c);
	free(s);
}

struct supers *supers_ask(JNIEnv *env, jclass class)
{
	struct supers *s = calloc(1, sizeof(*s));

	if (s)
		super_add(env, class, s, 0);
	return s;
}

int supers_keep(const struct choice *choice, const struct supers *s, const struct class_id *id,
		unsigned int first)
{
	struct traced_class *c = NULL;

	if (s && supers_chosen(choice, s, first))
		c = traced_class_get(id->loader, id->name, id->length, 1);
	if (c && (!c->supers || c->guessed))
		supers_store(c, s, 0);
	return c && c->supers;
}

unsigned int supers_rules(const struct choice *choice, const struct traced_class *c)
{
	struct choice_text names[SUPERS_MAX];
	unsigned int n = c ? supers_list(c, names) : 0, i, r, found = 0;

	for (r = 0; r < choice->nr_rules; r++) {
		if (choice->rules[r].kind != CHOICE_SUBTYPES)
			continue;
		for (i = 0; i < n; i++)
			if (choice_match(choice->rules[r].pattern, choice->rules[r].length,
					 names[i].text, names[i].length))
				break;
		found += i < n;
	}
	return found;
}
