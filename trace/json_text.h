/* SPDX-License-Identifier: MIT */
/* Text that others chose as JSON. */
#ifndef JIS_TRACE_JSON_TEXT_H
#define JIS_TRACE_JSON_TEXT_H

#include <stdbool.h>

struct json_object;

/**
 * json_text - @text as a JSON string. JSON is UTF-8 (RFC 8259 section 8.1); a comm, a path or the
 * name of a class may hold any bytes. What is no UTF-8 becomes '?'. NULL without memory.
 */
struct json_object *json_text(const char *text);

/* json_text_character - bytes of the UTF-8 character @text begins with; 0: it is none. */
int json_text_character(const char *text);

/* json_text_is_utf8 - is all of @text UTF-8? */
bool json_text_is_utf8(const char *text);

#endif /* JIS_TRACE_JSON_TEXT_H */
