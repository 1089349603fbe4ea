/* SPDX-License-Identifier: MIT */
/* The roles of all fields are worked out once, from the table of events. */
#include "renumber.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define ROLES_MAX 6u

struct event_roles {
	uint8_t nr;
	uint8_t role[ROLES_MAX];
	uint16_t offset[ROLES_MAX];
};

static struct event_roles roles[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID];
static pthread_once_t roles_once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	enum field_role role;
} kernel_fields[] = {
	{"tid", ROLE_TID},	 {"pid", ROLE_TID},
	{"prev_tid", ROLE_TID},	 {"next_tid", ROLE_TID},
	{"waker_tid", ROLE_TID}, {"parent_tid", ROLE_TID},
	{"old_tid", ROLE_TID},	 {"sender_tid", ROLE_TID},
	{"cpu", ROLE_CPU},	 {"target_cpu", ROLE_CPU},
	{"orig_cpu", ROLE_CPU},	 {"dest_cpu", ROLE_CPU},
	{"cgroup", ROLE_CGROUP}, {"prev_cgroup", ROLE_CGROUP},
	{"since", ROLE_TIME},	 {"age", ROLE_DURATION},
};

enum field_role field_role(const struct field_info *field, bool kernel)
{
	/* Of lost_records, which every class has. */
	if (!strcmp(field->name, "first") || !strcmp(field->name, "last"))
		return ROLE_TIME;
	for (size_t i = 0; kernel && i < sizeof(kernel_fields) / sizeof(*kernel_fields); i++)
		if (!strcmp(field->name, kernel_fields[i].name))
			return kernel_fields[i].role;
	return ROLE_PLAIN;
}

static void roles_make(void)
{
	for (uint32_t class = 0; class < JIS_NR_STREAM_CLASSES; class ++) {
		bool kernel = class == JIS_STREAM_KERNEL || class == JIS_STREAM_RECORDER;

		for (uint32_t id = 0; id < JIS_MAX_EVENT_ID; id++) {
			const struct event_info *info = event_info_get(class, id);
			struct event_roles *e = &roles[class][id];

			for (uint32_t i = 0; info && i < info->nr_fields; i++) {
				enum field_role role = field_role(&info->fields[i], kernel);

				if (role == ROLE_PLAIN || e->nr == ROLES_MAX)
					continue;
				e->role[e->nr] = (uint8_t)role;
				e->offset[e->nr++] = (uint16_t)info->fields[i].offset;
			}
		}
	}
}

bool renumber_wanted(uint32_t stream_class, uint32_t id)
{
	pthread_once(&roles_once, roles_make);
	return stream_class < JIS_NR_STREAM_CLASSES && id < JIS_MAX_EVENT_ID &&
	       roles[stream_class][id].nr;
}

uint32_t renumber_tid(const struct renumber *r, uint32_t tid)
{
	return tid && tid < MANIFEST_HOST_STRIDE ? tid + r->host * MANIFEST_HOST_STRIDE : tid;
}

uint64_t renumber_time(struct renumber *r, uint64_t ticks)
{
	int64_t to;

	if (ticks > INT64_MAX / 2)
		return ticks;
	to = tick_map_at(r->map, (int64_t)ticks) + r->shift;
	if (to >= 0)
		return (uint64_t)to;
	r->before++;
	return 0;
}

/* In order of their first sight, over all hosts: the kernels' own numbers may be the same. */
static int renumber_cgroup(struct renumber *r, uint32_t *cgroup)
{
	uint64_t key = (uint64_t)(r->host + 1) << 32 | *cgroup, *known;

	if (!*cgroup)
		return 0;
	known = map64_get(r->cgroups, key);
	if (!known) {
		*cgroup = (uint32_t)r->cgroups->nr + 1;
		return map64_put(r->cgroups, key, *cgroup);
	}
	*cgroup = (uint32_t)*known;
	return 0;
}

static int renumber_u32(struct renumber *r, enum field_role role, uint8_t *field)
{
	uint32_t value;
	int err = 0;

	memcpy(&value, field, sizeof(value));
	if (role == ROLE_TID)
		value = renumber_tid(r, value);
	else if (role == ROLE_CPU)
		value = value < r->nr_cpus ? value + r->first_cpu : value;
	else
		err = renumber_cgroup(r, &value);
	memcpy(field, &value, sizeof(value));
	return err;
}

/* Of the time before the event, as long as it is there. */
static uint64_t renumber_duration(struct renumber *r, uint64_t at, uint64_t ticks)
{
	return ticks > at ? ticks : renumber_time(r, at) - renumber_time(r, at - ticks);
}

int renumber_event(struct renumber *r, uint32_t stream_class, uint32_t id, uint64_t at,
		   uint8_t *payload)
{
	const struct event_roles *e = &roles[stream_class][id];
	int err = 0;

	pthread_once(&roles_once, roles_make);
	for (uint32_t i = 0; i < e->nr && !err; i++) {
		uint8_t *field = payload + e->offset[i];
		uint64_t value;

		if (e->role[i] != ROLE_TIME && e->role[i] != ROLE_DURATION) {
			err = renumber_u32(r, (enum field_role)e->role[i], field);
			continue;
		}
		memcpy(&value, field, sizeof(value));
		value = e->role[i] == ROLE_TIME ? renumber_time(r, value)
						: renumber_duration(r, at, value);
		memcpy(field, &value, sizeof(value));
	}
	return err;
}
