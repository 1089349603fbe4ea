/* SPDX-License-Identifier: MIT */
/*
 * Members of JSON objects, loaded or saved by the same call. Private to trace/. A member that is
 * missing leaves its default; one of a wrong type or range sets the codec's error.
 */
#ifndef JIS_TRACE_MANIFEST_CODEC_H
#define JIS_TRACE_MANIFEST_CODEC_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct codec {
	bool save;
	int error; /* 0, -EBADMSG or -ENOMEM; sticky */
};

void codec_fail(struct codec *c);
void codec_u32(struct codec *c, struct json_object *o, const char *name, uint32_t *value);
void codec_u64(struct codec *c, struct json_object *o, const char *name, uint64_t *value);
void codec_s64(struct codec *c, struct json_object *o, const char *name, int64_t *value);
void codec_bool(struct codec *c, struct json_object *o, const char *name, bool *value);
/* A NULL string is a missing member. Loaded strings are malloc'ed. */
void codec_string(struct codec *c, struct json_object *o, const char *name, char **value);
void codec_strings(struct codec *c, struct json_object *o, const char *name, char ***value);
void codec_uuid(struct codec *c, struct json_object *o, const char *name, uint8_t value[16]);
/* JIS_MAX_EVENT_ID counters as an object of those that are not zero, keyed by event id. */
void codec_counters(struct codec *c, struct json_object *o, const char *name, uint64_t *value);

#endif /* JIS_TRACE_MANIFEST_CODEC_H */
