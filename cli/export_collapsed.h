/* SPDX-License-Identifier: MIT */
/* `jis export collapsed`. */
#ifndef JIS_CLI_EXPORT_COLLAPSED_H
#define JIS_CLI_EXPORT_COLLAPSED_H

#include "analysis/collapsed.h"

/* Writes the session in @path as collapsed stacks to @output, NULL or "-": standard output.
 * Returns an exit status. */
int export_collapsed(const char *path, const struct model_options *options,
		     const struct collapsed_options *how, const char *output);

#endif /* JIS_CLI_EXPORT_COLLAPSED_H */
