/* SPDX-License-Identifier: MIT */
/*
 * Fields of `jis dump` that mean more than their number.
 */
#ifndef JIS_CLI_DUMP_FIELDS_H
#define JIS_CLI_DUMP_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_info.h"

/**
 * dump_field_print - prints the field's value in words. False: it has none, nothing was printed.
 * @machine: whose system calls the trace has; may be NULL.
 */
bool dump_field_print(const char *machine, const struct event_info *info,
		      const struct field_info *f, const uint8_t *payload);

/* dump_field_hidden - is its value shown with another field already? */
bool dump_field_hidden(const struct event_info *info, const struct field_info *f,
		       const uint8_t *payload);

#endif /* JIS_CLI_DUMP_FIELDS_H */
