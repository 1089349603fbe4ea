/* SPDX-License-Identifier: MIT */
/*
 * Steps through the records of one sub-buffer as read from trace_pipe_raw (format: the kernel's
 * Documentation/trace/ring-buffer-design.rst and include/linux/ring_buffer.h). Nothing in the bytes
 * is trusted. Private to libjisctl.
 */
#ifndef JISCTL_FTRACE_PAGE_H
#define JISCTL_FTRACE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ftrace_format.h"

struct ftrace_page {
	const uint8_t *next, *end;
	uint64_t time;	     /* of the current record, raw ticks of the trace clock */
	const uint8_t *data; /* current record, 4-byte aligned */
	uint32_t size;
	bool missed;	       /* records before this sub-buffer are missing */
	uint64_t missed_count; /* how many; 0 when the kernel does not say */
	bool damaged; /* the last step met something that is no record; the rest is skipped */
};

/**
 * ftrace_page_begin - looks at @bytes bytes that one read() gave.
 * Returns 0 or -EBADMSG: the header makes no sense.
 */
int ftrace_page_begin(struct ftrace_page *p, const struct ftrace_page_format *format,
		      const void *page, uint32_t bytes);

/* ftrace_page_next - steps to the next record. Returns true, or false at the end. */
bool ftrace_page_next(struct ftrace_page *p);

#endif /* JISCTL_FTRACE_PAGE_H */
