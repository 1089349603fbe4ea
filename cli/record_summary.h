/* SPDX-License-Identifier: MIT */
/* The last words of `jis record`. */
#ifndef JIS_CLI_RECORD_SUMMARY_H
#define JIS_CLI_RECORD_SUMMARY_H

#include <stdbool.h>

#include "libjisctl/jisctl.h"

/*
 * record_summary - says what the trace in @directory, just stopped by @session, holds and lacks.
 * @agents: JVMs were to run with the agent, so one without is told.
 */
void record_summary(const char *directory, const struct jisctl_session *session, bool agents);

#endif /* JIS_CLI_RECORD_SUMMARY_H */
