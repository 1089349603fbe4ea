/* SPDX-License-Identifier: MIT */
#include "probe_ways.h"

#include "jis/events.h"

const char *probe_way_text(uint32_t way)
{
	static const char *const ways[] = {
		[JIS_METHOD_WAY_JNI] = "JNI natives",
		[JIS_METHOD_WAY_BARRIER] = "JNI natives with UseSystemMemoryBarrier",
		[JIS_METHOD_WAY_CRITICAL] = "critical natives",
		[JIS_METHOD_WAY_PATCH] = "patched natives",
		[JIS_METHOD_WAY_LINK] = "linked natives",
	};

	return way < sizeof(ways) / sizeof(ways[0]) && ways[way] ? ways[way] : "unknown means";
}

void probe_ways_each(struct trace *t, void (*each)(void *context, const struct probe_way *p),
		     void *context)
{
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		struct stream_cursor *c = &t->streams[i];
		uint64_t left = t->manifest->streams[i].stored[JIS_EV_method_probe];

		/* Few have one, most often as one of their first records. */
		while (c->stream_class == JIS_STREAM_USER && left && c->trace &&
		       stream_cursor_next(c)) {
			const struct jis_ev_method_probe *ev = (const void *)c->payload;

			if (c->id != JIS_EV_method_probe)
				continue;
			left--;
			each(context, &(struct probe_way){c->trace - 1, ev->way, ev->pair});
		}
	}
}
