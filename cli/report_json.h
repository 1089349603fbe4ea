/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON on stdout.
 */
#ifndef JIS_CLI_REPORT_JSON_H
#define JIS_CLI_REPORT_JSON_H

#include "analysis/report.h"

/* report_print_json - prints it. Returns 0 or -errno. Times are ns. */
int report_print_json(const struct model *model, const struct report *r);

#endif /* JIS_CLI_REPORT_JSON_H */
