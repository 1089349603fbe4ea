/* SPDX-License-Identifier: MIT */
/* `jis report`: the tables of reasons, locks, peers and virtual threads; and what did not fit. */
#ifndef JIS_CLI_REPORT_REASONS_H
#define JIS_CLI_REPORT_REASONS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/report.h"

/* Prints those that have rows, at most @limit of each (0: all). Returns 0 or -ENOMEM. */
int report_print_reasons(const struct model *model, const struct report *r, uint32_t limit);

/*
 * owner_text - the name of an owner or waker: of the thread, of the virtual thread, or its number.
 */
const char *owner_text(const struct model *model, const struct report_owner *owner, char *buffer,
		       size_t n);

/* Says what contradicted itself, by kind, when first and of whom; nothing when nothing did. */
void cli_print_doubts(const struct model *model, const struct model_counts *counts);

#endif /* JIS_CLI_REPORT_REASONS_H */
