/* SPDX-License-Identifier: MIT */
/* Text that others chose as JSON. */
#include "trace/json_text.h"

#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Length of the UTF-8 character at @p, 0 when it is none: cut, overlong, a surrogate (which a comm
 * set by a JVM can hold) or beyond U+10FFFF. RFC 3629 section 4.
 */
static int utf8_length(const uint8_t *p)
{
	int n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

int json_text_character(const char *text)
{
	return utf8_length((const uint8_t *)text);
}

bool json_text_is_utf8(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;

	while (*p) {
		int n = utf8_length(p);

		if (!n)
			return false;
		p += n;
	}
	return true;
}

struct json_object *json_text(const char *text)
{
	struct json_object *o;
	char *copy = strdup(text);

	if (!copy)
		return NULL;
	for (uint8_t *p = (uint8_t *)copy; *p;) {
		int n = utf8_length(p);

		if (n)
			p += n;
		else
			*p++ = '?';
	}
	o = json_object_new_string(copy);
	free(copy);
	return o;
}
