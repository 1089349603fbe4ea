/* SPDX-License-Identifier: MIT */
/* Stacks and methods of each process's dictionary. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

/* Makes room for entry @id, with zeros. Returns whether there is. */
static bool table_room(struct model *m, void **table, uint32_t *room, uint32_t id, size_t size)
{
	uint32_t wanted = *room ? *room : 256;
	char *grown;

	if (id < *room)
		return true;
	while (wanted <= id)
		wanted *= 2;
	grown = realloc(*table, wanted * size);
	if (!grown) {
		m->error = -ENOMEM;
		return false;
	}
	memset(grown + *room * size, 0, (wanted - *room) * size);
	*table = grown;
	*room = wanted;
	return true;
}

void method_def(struct model *m, uint32_t process, const struct jis_ev_method_def *ev)
{
	struct process_run *p = &m->runs[process];

	if (!id_plausible(ev->id, &p->told_methods) ||
	    !table_room(m, (void **)&p->methods, &p->room_methods, ev->id, sizeof(*p->methods)))
		return;
	p->methods[ev->id] = (struct method){
		.class_name = name_intern(m, ev->class_name, strlen(ev->class_name)),
		.name = string_name(m, process, ev->name),
		.descriptor = string_name(m, process, ev->descriptor),
		.file = string_name(m, process, ev->file),
	};
}

void stack_def(struct model *m, uint32_t process, const struct jis_ev_stack_def *ev)
{
	struct process_run *p = &m->runs[process];

	/* A caller is told before, so that no stack goes round. */
	if (ev->caller >= ev->id || !id_plausible(ev->id, &p->told_stacks) ||
	    !table_room(m, (void **)&p->stacks, &p->room_stacks, ev->id, sizeof(*p->stacks)))
		return;
	p->stacks[ev->id] = (struct stack_frame){ev->caller, ev->method, ev->line};
}

uint32_t model_stack(const struct model *m, uint32_t process, uint32_t stack,
		     struct model_frame *frames, uint32_t room)
{
	const struct process_run *p = process < m->info.nr_processes ? &m->runs[process] : NULL;
	uint32_t n = 0;

	while (p && stack && stack < p->room_stacks && n < room) {
		const struct stack_frame *f = &p->stacks[stack];
		const struct method none = {0};
		const struct method *method =
			f->method < p->room_methods ? &p->methods[f->method] : &none;

		if (!f->method)
			break;
		frames[n++] = (struct model_frame){model_name(m, method->class_name),
						   model_name(m, method->name),
						   model_name(m, method->file), f->line};
		stack = f->caller;
	}
	return n;
}
