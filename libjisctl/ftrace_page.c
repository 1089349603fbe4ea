/* SPDX-License-Identifier: MIT */
/*
 * The ring buffer's sub-buffer format. A record's header word has its length in words (1..28) or
 * its kind in the 5 low bits and the time since its predecessor in the others (little endian).
 */
#include "ftrace_page.h"

#include <errno.h>
#include <string.h>

#define TYPE_PADDING 29u
#define TYPE_TIME_EXTEND 30u
#define TYPE_TIME_STAMP 31u
#define DELTA_BITS 27
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)
#define COMMIT_MASK ((1u << 20) - 1)
/* An absolute time stamp has 59 bits; the others are those of the time before. */
#define STAMP_MASK ((1ull << 59) - 1)

static uint32_t word_at(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

int ftrace_page_begin(struct ftrace_page *p, const struct ftrace_page_format *format,
		      const void *page, uint32_t bytes)
{
	const uint8_t *base = page;
	uint32_t commit, used;

	memset(p, 0, sizeof(*p));
	if (bytes < format->data_offset)
		return -EBADMSG;
	memcpy(&p->time, base, sizeof(p->time));
	commit = word_at(base + format->commit_offset);
	used = commit & COMMIT_MASK;
	if (used > bytes - format->data_offset)
		return -EBADMSG;
	p->next = base + format->data_offset;
	p->end = p->next + used;
	p->missed = commit & MISSED_EVENTS;
	if (p->missed && (commit & MISSED_STORED) &&
	    bytes - format->data_offset - used >= format->commit_size)
		memcpy(&p->missed_count, p->end, format->commit_size);
	return 0;
}

static bool page_damaged(struct ftrace_page *p)
{
	p->damaged = true;
	p->next = p->end;
	return false;
}

/* What is no event: takes its time and steps over it. Returns false when the page ends here. */
static bool step_special(struct ftrace_page *p, uint32_t type, uint32_t delta, uint32_t room)
{
	uint64_t high;

	if (type == TYPE_PADDING && delta == 0) { /* nothing follows */
		p->next = p->end;
		return false;
	}
	if (room < 8)
		return page_damaged(p);
	high = (uint64_t)word_at(p->next + 4) << DELTA_BITS;
	if (type == TYPE_TIME_EXTEND) {
		p->time += high + delta;
		p->next += 8;
	} else if (type == TYPE_TIME_STAMP) {
		p->time = (p->time & ~STAMP_MASK) | ((high + delta) & STAMP_MASK);
		p->next += 8;
	} else { /* a record that was taken back */
		uint32_t length = word_at(p->next + 4);

		if (length > room - 4)
			return page_damaged(p);
		p->time += delta;
		p->next += 4 + ((length + 3) & ~3u);
	}
	return p->next < p->end;
}

bool ftrace_page_next(struct ftrace_page *p)
{
	while (p->next < p->end) {
		uint32_t room = (uint32_t)(p->end - p->next), word, type, length;

		if (room < 4)
			return page_damaged(p);
		word = word_at(p->next);
		type = word & 31u;
		if (type >= TYPE_PADDING) {
			if (!step_special(p, type, word >> 5, room))
				return false;
			continue;
		}
		p->time += word >> 5;
		p->data = p->next + 4;
		length = type * 4;
		if (type == 0) { /* a long record: the length, itself included, stands first */
			length = room < 8 ? 0 : word_at(p->next + 4);
			if (length < 4)
				return page_damaged(p);
			p->data += 4;
		}
		if (length > room - 4)
			return page_damaged(p);
		p->size = type ? length : length - 4;
		p->next += 4 + ((length + 3) & ~3u);
		if (p->next > p->end)
			p->next = p->end;
		return true;
	}
	return false;
}
