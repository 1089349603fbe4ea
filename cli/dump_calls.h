/* SPDX-License-Identifier: MIT */
/* `jis dump --calls`. */
#ifndef JIS_CLI_DUMP_CALLS_H
#define JIS_CLI_DUMP_CALLS_H

#include "merger/model.h"

/* Prints a line for each call, when it ends. Returns an exit status. */
int dump_calls(const char *path, const struct model_options *options);

#endif /* JIS_CLI_DUMP_CALLS_H */
