/* SPDX-License-Identifier: MIT */
/* The hosts of a trace that sessions were merged to, as `jis info` shows them. */
#ifndef JIS_CLI_INFO_HOSTS_H
#define JIS_CLI_INFO_HOSTS_H

#include <stdio.h>

#include "trace/manifest.h"

/* info_hosts_print - who they are and when they were recorded; by what their clocks were made one,
 * and how well. Nothing of a trace of one host. */
void info_hosts_print(FILE *out, const struct manifest *m);

/* info_hosts_names - "a, b, c": their names, which anybody may have written, escaped. */
void info_hosts_names(FILE *out, const struct manifest *m);

#endif /* JIS_CLI_INFO_HOSTS_H */
