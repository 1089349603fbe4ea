/* SPDX-License-Identifier: MIT */
/*
 * Loading and saving of single members; nothing here knows the manifest.
 */
#include "manifest_codec.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jis/events.h"
#include "trace/json_text.h"

#define STRINGS_MAX 100000u

void codec_fail(struct codec *c)
{
	if (!c->error)
		c->error = -EBADMSG;
}

/* The member when loading: NULL when missing or null, and after an error. */
static struct json_object *member(struct codec *c, struct json_object *o, const char *name,
				  enum json_type type)
{
	struct json_object *value;

	if (c->error || !json_object_object_get_ex(o, name, &value) || !value)
		return NULL;
	if (json_object_is_type(value, type))
		return value;
	codec_fail(c);
	return NULL;
}

void codec_u64(struct codec *c, struct json_object *o, const char *name, uint64_t *value)
{
	struct json_object *v;

	if (c->save) {
		json_object_object_add(o, name, json_object_new_uint64(*value));
		return;
	}
	v = member(c, o, name, json_type_int);
	if (!v)
		return;
	/* A negative number is read as 0 by the unsigned getter: it is refused here. */
	if (json_object_get_int64(v) < 0)
		codec_fail(c);
	*value = json_object_get_uint64(v);
}

void codec_u32(struct codec *c, struct json_object *o, const char *name, uint32_t *value)
{
	uint64_t wide = *value;

	codec_u64(c, o, name, &wide);
	if (wide > UINT32_MAX)
		codec_fail(c);
	*value = (uint32_t)wide;
}

void codec_s64(struct codec *c, struct json_object *o, const char *name, int64_t *value)
{
	struct json_object *v;

	if (c->save) {
		json_object_object_add(o, name, json_object_new_int64(*value));
		return;
	}
	v = member(c, o, name, json_type_int);
	if (v)
		*value = json_object_get_int64(v);
}

void codec_bool(struct codec *c, struct json_object *o, const char *name, bool *value)
{
	struct json_object *v;

	if (c->save) {
		json_object_object_add(o, name, json_object_new_boolean(*value));
		return;
	}
	v = member(c, o, name, json_type_boolean);
	if (v)
		*value = json_object_get_boolean(v);
}

void codec_string(struct codec *c, struct json_object *o, const char *name, char **value)
{
	struct json_object *v;

	if (c->save) {
		if (*value)
			json_object_object_add(o, name, json_text(*value));
		return;
	}
	v = member(c, o, name, json_type_string);
	if (!v)
		return;
	*value = strdup(json_object_get_string(v));
	if (!*value)
		c->error = -ENOMEM;
}

void codec_strings(struct codec *c, struct json_object *o, const char *name, char ***value)
{
	struct json_object *array;
	size_t n;

	if (c->save) {
		array = json_object_new_array();
		for (char **s = *value; s && *s; s++)
			json_object_array_add(array, json_text(*s));
		json_object_object_add(o, name, array);
		return;
	}
	array = member(c, o, name, json_type_array);
	if (!array)
		return;
	n = json_object_array_length(array);
	if (n > STRINGS_MAX) {
		codec_fail(c);
		return;
	}
	*value = calloc(n + 1, sizeof(**value));
	if (!*value) {
		c->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct json_object *s = json_object_array_get_idx(array, i);

		(*value)[i] = strdup(
			json_object_is_type(s, json_type_string) ? json_object_get_string(s) : "");
		if (!(*value)[i])
			c->error = -ENOMEM;
		if (!(*value)[i])
			return;
	}
}

void codec_uuid(struct codec *c, struct json_object *o, const char *name, uint8_t value[16])
{
	struct json_object *v;
	const char *text;
	char hex[33];

	if (c->save) {
		for (int i = 0; i < 16; i++)
			snprintf(hex + 2 * i, 3, "%02x", value[i]);
		json_object_object_add(o, name, json_object_new_string(hex));
		return;
	}
	v = member(c, o, name, json_type_string);
	if (!v)
		return;
	text = json_object_get_string(v);
	if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32) {
		codec_fail(c);
		return;
	}
	for (int i = 0; i < 16; i++)
		sscanf(text + 2 * i, "%2hhx", &value[i]);
}

void codec_counters(struct codec *c, struct json_object *o, const char *name, uint64_t *value)
{
	struct json_object *counters =
		c->save ? json_object_new_object() : member(c, o, name, json_type_object);
	char key[12];

	if (!counters)
		return;
	for (unsigned int id = 0; id < JIS_MAX_EVENT_ID; id++) {
		snprintf(key, sizeof(key), "%u", id);
		if (!c->save || value[id])
			codec_u64(c, counters, key, &value[id]);
	}
	if (c->save)
		json_object_object_add(o, name, counters);
}
