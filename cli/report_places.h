/* SPDX-License-Identifier: MIT */
/* `jis report`: the places of the program that waits have a stack of, and that started threads. */
#ifndef JIS_CLI_REPORT_PLACES_H
#define JIS_CLI_REPORT_PLACES_H

#include <json-c/json.h>

#include "analysis/report.h"

/* At most @limit rows, 0: all. Returns 0 or -ENOMEM. */
int report_print_places(const struct model *model, const struct report *r, uint32_t limit);
/* Adds "places" and "starts" to @root. */
void report_json_places(struct json_object *root, const struct model *model,
			const struct report *r);

#endif /* JIS_CLI_REPORT_PLACES_H */
