/* SPDX-License-Identifier: MIT */
/*
 * Records of waits of Java threads, as they are in the stream, to what they say. Judges nothing.
 */
#include "model_jwait.h"

/* The begin of a wait that @c stands on; false: it is none. */
static bool begin_of(const struct stream_cursor *c, struct wait_record *out)
{
	const void *p = c->payload;

	/* All begin with it. */
	*out = (struct wait_record){
		.java_tid = ((const struct jis_ev_park_begin *)p)->java_tid,
		.timeout = -1,
	};
	switch (c->id) {
	case JIS_EV_monitor_contended_enter: {
		const struct jis_ev_monitor_contended_enter *ev = p;

		out->kind = JWAIT_MONITOR;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->owner_tid = ev->owner_tid;
		out->owner_java_tid = ev->owner_java_tid;
		return true;
	}
	case JIS_EV_monitor_wait: {
		const struct jis_ev_monitor_wait *ev = p;

		out->kind = JWAIT_OBJECT;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_park_begin: {
		const struct jis_ev_park_begin *ev = p;

		out->kind = JWAIT_PARK;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->owner_tid = ev->owner_tid;
		out->owner_java_tid = ev->owner_java_tid;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_sleep_begin:
		out->kind = JWAIT_SLEEP;
		out->timeout = ((const struct jis_ev_sleep_begin *)p)->timeout;
		return true;
	case JIS_EV_join_begin: {
		const struct jis_ev_join_begin *ev = p;

		out->kind = JWAIT_JOIN;
		out->owner_java_tid = ev->target_java_tid;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_descriptor_begin: {
		const struct jis_ev_descriptor_begin *ev = p;

		out->kind = JWAIT_DESCRIPTOR;
		out->fd = ev->fd;
		out->events = ev->events;
		out->timeout = ev->timeout;
		return true;
	}
	}
	return false;
}

static void end_of(const struct stream_cursor *c, struct wait_record *out)
{
	const void *p = c->payload;

	/* All begin with it. */
	*out = (struct wait_record){
		.java_tid = ((const struct jis_ev_park_end *)p)->java_tid,
		.timeout = -1,
	};
	switch (c->id) {
	case JIS_EV_monitor_contended_entered: {
		const struct jis_ev_monitor_contended_entered *ev = p;

		out->kind = JWAIT_MONITOR;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		break;
	}
	case JIS_EV_monitor_waited: {
		const struct jis_ev_monitor_waited *ev = p;

		out->kind = JWAIT_OBJECT;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->timed_out = ev->timed_out;
		break;
	}
	case JIS_EV_park_end:
		out->kind = JWAIT_PARK;
		break;
	case JIS_EV_sleep_end:
		out->kind = JWAIT_SLEEP;
		break;
	case JIS_EV_join_end:
		out->kind = JWAIT_JOIN;
		break;
	case JIS_EV_descriptor_end:
		out->kind = JWAIT_DESCRIPTOR;
		break;
	}
}

void wait_record_read(const struct stream_cursor *c, struct wait_record *out, bool *begins)
{
	*begins = begin_of(c, out);
	if (!*begins)
		end_of(c, out);
}
