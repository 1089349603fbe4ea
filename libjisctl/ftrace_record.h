/* SPDX-License-Identifier: MIT */
/*
 * One record of ftrace on its way into ours, for the files that convert it. Private to the ftrace
 * backend.
 */
#ifndef JISCTL_FTRACE_RECORD_H
#define JISCTL_FTRACE_RECORD_H

#include <string.h>

#include "ftrace.h"

struct record {
	struct backend *b;
	const struct ftrace_format *format;
	const uint8_t *data;
	uint32_t size;
	uint32_t cpu;
	uint64_t time;
};

static inline uint64_t get_number(const struct record *r, const struct ftrace_field *f)
{
	uint64_t v = 0;

	memcpy(&v, r->data + f->offset, f->size > 8 ? 8 : f->size);
	return v;
}

static inline uint32_t get_u32(const struct record *r, int field)
{
	return (uint32_t)get_number(r, &r->format->field[field]);
}

static inline uint64_t get_u64(const struct record *r, int field)
{
	return get_number(r, &r->format->field[field]);
}

/* FT_FLAG_*. */
static inline uint32_t get_flags(const struct record *r)
{
	return (uint32_t)get_number(r, &r->b->formats.common_flags);
}

/* The thread that was running. */
static inline uint32_t get_tid(const struct record *r)
{
	return (uint32_t)get_number(r, &r->b->formats.common_pid);
}

/* A text field into @text, always with a NUL. */
void get_text(const struct record *r, int field, char *text, size_t n);

void emit(const struct record *r, uint32_t id, const void *payload, uint32_t len, const char *text);

/* A thread of no target is about to be named in a record: its task_name must stand before it.
 * @comm: as the record has it, or NULL. */
void foreign_use(const struct record *r, uint32_t tid, const char *comm);

/* ftrace_families.c */
void ft_on_family(const struct record *r, enum ftrace_event e);

/* ftrace_rules.c */
/* Process @pid, which is no target, executes @filename. Returns whether it is one now: it has then
 * been introduced. */
bool ft_rules_exec(const struct record *r, uint32_t pid, const char *filename);
/* @target has executed @filename: is it one still? */
void ft_rules_exec_target(const struct record *r, struct ft_target *target, const char *filename);

/* ftrace_cgroups.c */
void ft_on_attach(const struct record *r);

#endif /* JISCTL_FTRACE_RECORD_H */
