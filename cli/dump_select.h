/* SPDX-License-Identifier: MIT */
/*
 * Which records of a trace `jis dump --thread --process` shows: those that a selected thread wrote,
 * and those that name one; where only a process is selected, all of its own streams.
 */
#ifndef JIS_CLI_DUMP_SELECT_H
#define JIS_CLI_DUMP_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_info.h"
#include "trace/read.h"

struct dump_select;

/**
 * dump_select_new - selects the threads of @m.
 * @thread, @process: text that the name contains, or the number that the host has for it; NULL:
 * all. @m must outlive the selection.
 * Returns NULL without memory. dump_select_free() it.
 */
struct dump_select *dump_select_new(const struct manifest *m, const char *thread,
				    const char *process);
void dump_select_free(struct dump_select *s);

/**
 * dump_select_has - is the record that @c stands on one of a selected thread, or process?
 * @owner: of a user stream: the thread whose record it is, as its process numbers it.
 * Looks at a fixed number of fields, whatever the number of threads.
 */
bool dump_select_has(const struct dump_select *s, const struct stream_cursor *c, uint32_t owner);

#endif /* JIS_CLI_DUMP_SELECT_H */
