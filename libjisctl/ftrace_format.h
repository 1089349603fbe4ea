/* SPDX-License-Identifier: MIT */
/*
 * Where the fields of ftrace's events are: parsed from events/SYSTEM/NAME/format and
 * events/header_page, never taken for granted. Private to libjisctl.
 */
#ifndef JISCTL_FTRACE_FORMAT_H
#define JISCTL_FTRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* The events the ftrace backend switches on. */
enum ftrace_event {
	FT_SWITCH,
	FT_WAKING,
	FT_WAKEUP,
	FT_WAKEUP_NEW,
	FT_FORK,
	FT_EXEC,
	FT_EXIT,
	FT_FREE,
	FT_RENAME,
	FT_NEWTASK,
	FT_SYS_ENTER, /* from here on they need not be there: only what is in them is missing then
		       */
	FT_SYS_EXIT,
	FT_ATTACH,
	FT_MIGRATE,
	FT_RQ_ISSUE,
	FT_RQ_COMPLETE,
	FT_IRQ_ENTRY,
	FT_IRQ_EXIT,
	FT_SOFTIRQ_ENTRY,
	FT_SOFTIRQ_EXIT,
	FT_HRTIMER_ENTRY,
	FT_HRTIMER_EXIT,
	FT_TIMER_ENTRY,
	FT_TIMER_EXIT,
	FT_SIGNAL_GENERATE,
	FT_SIGNAL_DELIVER,
	FT_CPU_FREQUENCY,
	FT_CPU_IDLE,
	FT_NR_EVENTS
};

#define FT_MAX_FIELDS 6

struct ftrace_field {
	uint16_t offset;
	uint16_t size;
	bool data_loc; /* a u32 says where the text is: offset, and length << 16 */
};

/* One event: its number, and its fields in the order of the table in ftrace_format.c. */
struct ftrace_format {
	uint16_t id;
	uint16_t min_size; /* fixed part: a record shorter than this is unsound */
	struct ftrace_field field[FT_MAX_FIELDS];
};

/* Field numbers. */
enum { SWITCH_PREV_COMM, SWITCH_PREV_PID, SWITCH_PREV_STATE, SWITCH_NEXT_COMM, SWITCH_NEXT_PID };
enum { WAKE_COMM, WAKE_PID, WAKE_CPU };
enum { FORK_PARENT_PID, FORK_CHILD_COMM, FORK_CHILD_PID };
enum { EXEC_FILENAME, EXEC_PID, EXEC_OLD_PID };
enum { EXIT_PID };
enum { RENAME_PID, RENAME_COMM };
enum { NEWTASK_PID, NEWTASK_COMM, NEWTASK_FLAGS };
enum { ATTACH_ROOT, ATTACH_ID, ATTACH_PID, ATTACH_PATH };
enum { MIGRATE_PID, MIGRATE_ORIG_CPU, MIGRATE_DEST_CPU };
enum { RQ_DEV, RQ_SECTOR, RQ_NR_SECTOR, RQ_BYTES, RQ_RWBS, RQ_ERROR = RQ_BYTES };
enum { IRQ_NUMBER };
enum { SIGNAL_NUMBER, SIGNAL_CODE, SIGNAL_PID, SIGNAL_RESULT };
enum { POWER_STATE, POWER_CPU };
enum { SYSCALL_ID, SYSCALL_ARGS, SYSCALL_RET = SYSCALL_ARGS };

/* Header of a sub-buffer. */
struct ftrace_page_format {
	uint32_t commit_offset, commit_size;
	uint32_t data_offset;
	uint32_t page_size; /* bytes a read() gives: data_offset and the data behind it */
};

struct ftrace_formats {
	struct ftrace_format event[FT_NR_EVENTS];
	struct ftrace_field common_type, common_flags, common_pid;
	struct ftrace_page_format page;
};

/* System and name of an event, e.g. "sched/sched_switch". */
const char *ftrace_event_path(enum ftrace_event e);

/**
 * ftrace_format_parse - takes one event's fields from the text of its format file.
 * Returns 0, or -EPROTO when a field we need is missing or has a size we cannot read.
 */
int ftrace_format_parse(const char *text, enum ftrace_event e, struct ftrace_formats *out);

/* ftrace_page_parse - the same for events/header_page. */
int ftrace_page_parse(const char *text, struct ftrace_page_format *out);

/**
 * ftrace_formats_load - reads all of them below directory @dirfd (of the instance).
 * Returns 0, -ENOENT when an event is not there that must be, -EPROTO when one cannot be
 * understood.
 */
int ftrace_formats_load(int dirfd, struct ftrace_formats *out);

#endif /* JISCTL_FTRACE_FORMAT_H */
