/* SPDX-License-Identifier: MIT */
/* `jis report`: executors' tasks, by pool and from thread to thread. */
#ifndef JIS_CLI_REPORT_TASKS_H
#define JIS_CLI_REPORT_TASKS_H

#include <json-c/json.h>

#include "analysis/report.h"

/* Prints the tables that have rows, at most @limit of each (0: all). */
void report_print_tasks(const struct model *model, const struct report *r, uint32_t limit);
/* Adds "pools", "handovers" and "inside_tasks" to @root. */
void report_tasks_json(const struct model *model, const struct report *r, struct json_object *root);

#endif /* JIS_CLI_REPORT_TASKS_H */
