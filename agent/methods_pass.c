/* SPDX-License-Identifier: MIT */
/*
 * Which methods of a class are traced, and the calls of JProbe$ that each of them gets.
 */
#include "methods_pass.h"

#include <stdlib.h>

#include "families.h"
#include "values.h"
#include "waits.h"

/* "Lcom/acme/Traced;" is com.acme.Traced. */
static void annotation_add(void *context, const char *type, size_t length)
{
	struct pass *pass = context;
	char *text = pass->text + pass->used;
	size_t i;

	if (length < 3 || pass->nr_annotations == ANNOTATIONS_MAX ||
	    length > sizeof(pass->text) - pass->used)
		return;
	for (i = 1; i < length - 1; i++)
		text[i - 1] = type[i] == '/' ? '.' : type[i];
	pass->annotations[pass->nr_annotations++] = (struct choice_text){text, length - 2};
	pass->used += length - 2;
}

static void annotations_find(struct pass *pass, const struct jis_method *m)
{
	size_t used;

	if (!choice_needs(pass->choice, 0, CHOICE_ANNOTATION))
		return;
	if (pass->nr_class_annotations < 0) {
		jis_class_annotations(m->class, NULL, annotation_add, pass);
		pass->nr_class_annotations = (int)pass->nr_annotations;
	}
	pass->nr_annotations = (unsigned int)pass->nr_class_annotations;
	used = pass->used;
	jis_class_annotations(m->class, m, annotation_add, pass);
	pass->used = used; /* they are looked at before the next method's */
}

static unsigned int method_choose(struct pass *pass, const struct jis_method *m,
				  struct choice_method *about)
{
	struct choice_text supers[SUPERS_MAX];

	about->class_name = (struct choice_text){pass->name, pass->length};
	about->name.text = jis_class_utf8(m->class, m->name, &about->name.length);
	about->descriptor.text = jis_class_utf8(m->class, m->descriptor, &about->descriptor.length);
	if (!about->name.text || !about->descriptor.text)
		return CHOICE_NOT;
	about->code_bytes = m->code_length;
	annotations_find(pass, m);
	about->annotations = pass->annotations;
	about->nr_annotations = pass->nr_annotations;
	about->supers = supers;
	about->nr_supers = pass->class ? supers_list(pass->class, supers) : 0;
	return choice_of(pass->choice, about);
}

static struct pick *pick_add(struct pass *pass, struct traced *method, const struct jis_method *m,
			     unsigned int result, int tells)
{
	unsigned int room = pass->room ? 2 * pass->room : 32;
	struct pick *picks = pass->picks;

	if (pass->nr_picks == pass->room) {
		picks = realloc(picks, room * sizeof(*picks));
		if (!picks)
			return NULL;
		pass->picks = picks;
		pass->room = room;
	}
	picks[pass->nr_picks] = (struct pick){method, *m, result, tells};
	return &picks[pass->nr_picks++];
}

/* A span around the calls, named as the method. */
static unsigned int span_calls(const struct pass *pass, const struct traced *method,
			       struct jis_call *calls)
{
	char name[2 * NAME_UTF8_MAX + 2];
	size_t length = utf8_of_modified(name, pass->name, pass->length);
	__u32 handle;

	name[length++] = '.';
	length += utf8_of_modified(name + length, method->text, method->name_length);
	handle = span_handle(name, length);
	if (!handle)
		return 0;
	return methods_span_calls(calls, handle);
}

unsigned int pass_method(void *context, const struct jis_method *m, struct jis_call *calls)
{
	struct pass *pass = context;
	struct choice_method about;
	struct traced *method;
	unsigned int result = method_choose(pass, m, &about);
	int library = (result & CHOICE_LIBRARY) != 0;
	const struct choice_values *values;
	unsigned int n = 0;

	if (result == CHOICE_NOT)
		return 0;
	if (!pass->class)
		pass->class = traced_class_get(pass->loader, pass->name, pass->length, 1);
	method = pass->class ? traced_get(pass->class, &about.name, &about.descriptor) : NULL;
	if (!method || method->off)
		return 0;
	values = choice_values(pass->choice, &about);
	if (values)
		n = values_calls(m, values, method, library, calls);
	if (!pick_add(pass, method, m, result, n > 0))
		return 0;
	n += methods_calls(&calls[n], probes_class(), method->number, library);
	if (result & CHOICE_MARK)
		n += span_calls(pass, method, &calls[n]);
	return n;
}

void pass_refused(void *context, const struct jis_method *m, const char *why)
{
	struct pass *pass = context;
	struct pick *pick = pass->nr_picks ? &pass->picks[pass->nr_picks - 1] : NULL;

	if (!pick || pick->about.name != m->name || pick->about.descriptor != m->descriptor)
		return;
	pass->nr_picks--;
	traced_tell_refused(pass->class, m, why);
}
