/* SPDX-License-Identifier: MIT */
/*
 * What --java and --stacks say: families of events that agents in JVMs are asked for.
 */
#ifndef JIS_CLI_JAVA_FAMILIES_H
#define JIS_CLI_JAVA_FAMILIES_H

#include <stdint.h>

/**
 * java_families_parse - reads LIST of --java: names of families and presets (default, all, none),
 * separated by commas; -NAME takes away. A list that begins with -NAME begins from the default.
 * Returns 0 and JIS_FEATURE_* in @features, or -1 after a message.
 */
int java_families_parse(const char *list, uint32_t *features);
/* @features with those without whose records theirs mean little: of stacks alone, the waits. */
uint32_t java_families_complete(uint32_t features);
/* Reads "blocked>1ms" of --stacks; 0, or -1 after a message. */
int java_stacks_parse(const char *text, uint64_t *threshold_ns);

#endif /* JIS_CLI_JAVA_FAMILIES_H */
