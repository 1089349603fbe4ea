/* SPDX-License-Identifier: MIT */
#ifndef JIS_CLI_REPORT_DOINGS_H
#define JIS_CLI_REPORT_DOINGS_H

#include <json-c/json.h>

#include "analysis/report.h"

/* Prints what JVMs did besides running threads; nothing where nothing of it was recorded. */
void report_print_doings(const struct model *model, const struct report *r, uint32_t limit);
/* The same as members of @root and, of process @i, of @process. */
void report_json_doings(struct json_object *root, const struct model *model,
			const struct report *r);
void report_json_process_doings(struct json_object *process, const struct report *r, uint32_t i);

#endif /* JIS_CLI_REPORT_DOINGS_H */
