/* SPDX-License-Identifier: MIT */
/*
 * Names of methods, from the dictionaries of a trace as they go by.
 */
#ifndef JIS_CLI_METHOD_NAMES_H
#define JIS_CLI_METHOD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/read.h"

struct method_names;

struct method_names *method_names_new(uint32_t nr_traces);
void method_names_free(struct method_names *n);
/* An event of a dictionary; false: no memory. */
bool method_names_add(struct method_names *n, const struct stream_cursor *c);
/* Name of method_def @id of trace @trace with its class, "com.acme.Service.handle"; NULL: not told.
 */
const char *method_names_def(const struct method_names *n, uint32_t trace, uint32_t id);
/* The same of traced_method @number. */
const char *method_names_traced(const struct method_names *n, uint32_t trace, uint32_t number);
/* method_def of traced_method @number; 0: not told. */
uint32_t method_names_method(const struct method_names *n, uint32_t trace, uint32_t number);
/* A string_def; NULL: not told. */
const char *method_names_string(const struct method_names *n, uint32_t trace, uint32_t id);
/* The descriptor of method_def @id; NULL: not told. */
const char *method_names_descriptor(const struct method_names *n, uint32_t trace, uint32_t id);

#endif /* JIS_CLI_METHOD_NAMES_H */
