/* SPDX-License-Identifier: MIT */
/* `jis report`: connections, and who handed locks and connections to whom. */
#ifndef JIS_CLI_REPORT_LINKS_H
#define JIS_CLI_REPORT_LINKS_H

#include <json-c/json.h>

#include "analysis/report.h"

/* Prints those tables that have rows, at most @limit of each (0: all). */
void report_print_links(const struct model *model, const struct report *r, uint32_t limit);

/* The name of a thread, or of the virtual one on it. */
const char *link_who_text(const struct model *model, const struct model_who *who);
/* Prints it, escaped, of a kernel thread with its tid. */
void link_print_who(const struct model *model, const struct model_who *who);
/* An object of its name, tid and Java thread. */
struct json_object *link_who_json(const struct model *model, const struct model_who *who);

#endif /* JIS_CLI_REPORT_LINKS_H */
