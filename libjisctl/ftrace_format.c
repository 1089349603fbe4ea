/* SPDX-License-Identifier: MIT */
/*
 * Parses tracefs format files. A line of interest looks like
 *   field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 */
#include "ftrace_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracefs.h"

#define FORMAT_MAX 16384

struct wanted {
	const char *path;
	const char *fields[FT_MAX_FIELDS + 1];
};

static const struct wanted wanted[FT_NR_EVENTS] = {
	[FT_SWITCH] = {"sched/sched_switch",
		       {"prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"}},
	[FT_WAKING] = {"sched/sched_waking", {"comm", "pid", "target_cpu"}},
	[FT_WAKEUP] = {"sched/sched_wakeup", {"comm", "pid", "target_cpu"}},
	[FT_WAKEUP_NEW] = {"sched/sched_wakeup_new", {"comm", "pid", "target_cpu"}},
	[FT_FORK] = {"sched/sched_process_fork", {"parent_pid", "child_comm", "child_pid"}},
	[FT_EXEC] = {"sched/sched_process_exec", {"filename", "pid", "old_pid"}},
	[FT_EXIT] = {"sched/sched_process_exit", {"pid"}},
	[FT_FREE] = {"sched/sched_process_free", {"pid"}},
	[FT_RENAME] = {"task/task_rename", {"pid", "newcomm"}},
	[FT_NEWTASK] = {"task/task_newtask", {"pid", "comm", "clone_flags"}},
	[FT_SYS_ENTER] = {"raw_syscalls/sys_enter", {"id", "args"}},
	[FT_SYS_EXIT] = {"raw_syscalls/sys_exit", {"id", "ret"}},
	[FT_ATTACH] = {"cgroup/cgroup_attach_task", {"dst_root", "dst_id", "pid", "dst_path"}},
	[FT_MIGRATE] = {"sched/sched_migrate_task", {"pid", "orig_cpu", "dest_cpu"}},
	[FT_RQ_ISSUE] = {"block/block_rq_issue", {"dev", "sector", "nr_sector", "bytes", "rwbs"}},
	[FT_RQ_COMPLETE] = {"block/block_rq_complete", {"dev", "sector", "nr_sector", "error"}},
	[FT_IRQ_ENTRY] = {"irq/irq_handler_entry", {"irq"}},
	[FT_IRQ_EXIT] = {"irq/irq_handler_exit", {"irq"}},
	[FT_SOFTIRQ_ENTRY] = {"irq/softirq_entry", {"vec"}},
	[FT_SOFTIRQ_EXIT] = {"irq/softirq_exit", {"vec"}},
	[FT_HRTIMER_ENTRY] = {"timer/hrtimer_expire_entry", {NULL}},
	[FT_HRTIMER_EXIT] = {"timer/hrtimer_expire_exit", {NULL}},
	[FT_TIMER_ENTRY] = {"timer/timer_expire_entry", {NULL}},
	[FT_TIMER_EXIT] = {"timer/timer_expire_exit", {NULL}},
	[FT_SIGNAL_GENERATE] = {"signal/signal_generate", {"sig", "code", "pid", "result"}},
	[FT_SIGNAL_DELIVER] = {"signal/signal_deliver", {"sig", "code"}},
	[FT_CPU_FREQUENCY] = {"power/cpu_frequency", {"state", "cpu_id"}},
	[FT_CPU_IDLE] = {"power/cpu_idle", {"state", "cpu_id"}},
};

const char *ftrace_event_path(enum ftrace_event e)
{
	return wanted[e].path;
}

/* The name in a declaration such as "__data_loc char[] filename" or "char prev_comm[16]". */
static bool declares(const char *decl, size_t len, const char *name)
{
	size_t n = strlen(name), end = len, i;

	for (i = 0; i < len; i++) /* an array's size stands behind the name */
		if (decl[i] == '[' && i > 0 && decl[i - 1] != ' ' && decl[i + 1] != ']')
			end = i;
	if (end < n + 1 || memcmp(decl + end - n, name, n) != 0)
		return false;
	return decl[end - n - 1] == ' ';
}

/* Finds field @name in @text. Returns 0 or -EPROTO. */
static int field_find(const char *text, const char *name, struct ftrace_field *out)
{
	const char *line = text;
	unsigned int offset, size;

	while ((line = strstr(line, "field:"))) {
		const char *decl = line + 6, *semi = strchr(decl, ';');

		line = decl;
		if (!semi || !declares(decl, (size_t)(semi - decl), name))
			continue;
		if (sscanf(semi, "; offset:%u; size:%u;", &offset, &size) != 2)
			return -EPROTO;
		if (!size || offset > FORMAT_MAX || size > FORMAT_MAX)
			return -EPROTO;
		out->offset = (uint16_t)offset;
		out->size = (uint16_t)size;
		out->data_loc = strncmp(decl, "__data_loc", 10) == 0;
		return out->data_loc && size != 4 ? -EPROTO : 0;
	}
	return -EPROTO;
}

static int common_parse(const char *text, struct ftrace_formats *out)
{
	if (field_find(text, "common_type", &out->common_type) || out->common_type.size != 2 ||
	    field_find(text, "common_flags", &out->common_flags) || out->common_flags.size != 1 ||
	    field_find(text, "common_pid", &out->common_pid) || out->common_pid.size != 4)
		return -EPROTO;
	return 0;
}

int ftrace_format_parse(const char *text, enum ftrace_event e, struct ftrace_formats *out)
{
	struct ftrace_format *f = &out->event[e];
	const char *id = strstr(text, "ID: ");
	unsigned long number;
	int i;

	number = id ? strtoul(id + 4, NULL, 10) : 0;
	if (number == 0 || number > UINT16_MAX || common_parse(text, out))
		return -EPROTO;
	f->id = (uint16_t)number;
	f->min_size = (uint16_t)(out->common_pid.offset + out->common_pid.size);
	for (i = 0; wanted[e].fields[i]; i++) {
		struct ftrace_field *field = &f->field[i];

		if (field_find(text, wanted[e].fields[i], field))
			return -EPROTO;
		if (field->offset + field->size > f->min_size)
			f->min_size = (uint16_t)(field->offset + field->size);
	}
	return 0;
}

int ftrace_page_parse(const char *text, struct ftrace_page_format *out)
{
	struct ftrace_field timestamp, commit, data;

	if (field_find(text, "timestamp", &timestamp) || field_find(text, "commit", &commit) ||
	    field_find(text, "data", &data))
		return -EPROTO;
	if (timestamp.offset != 0 || timestamp.size != 8 || (commit.size != 8 && commit.size != 4))
		return -EPROTO;
	if (data.offset < commit.offset + commit.size || data.offset > 64)
		return -EPROTO;
	out->commit_offset = commit.offset;
	out->commit_size = commit.size;
	out->data_offset = data.offset;
	out->page_size = (uint32_t)data.offset + data.size;
	return 0;
}

int ftrace_formats_load(int dirfd, struct ftrace_formats *out)
{
	char *text = malloc(FORMAT_MAX);
	char path[128];
	int e, err;

	if (!text)
		return -ENOMEM;
	err = tracefs_read(dirfd, "events/header_page", text, FORMAT_MAX);
	if (err >= 0)
		err = ftrace_page_parse(text, &out->page);
	for (e = 0; e < FT_NR_EVENTS && err >= 0; e++) {
		snprintf(path, sizeof(path), "events/%s/format", wanted[e].path);
		err = tracefs_read(dirfd, path, text, FORMAT_MAX);
		if (err >= 0)
			err = ftrace_format_parse(text, e, out);
		if ((err == -ENOENT || err == -EPROTO) && e >= FT_SYS_ENTER) {
			out->event[e].id = 0;
			err = 0;
		}
	}
	free(text);
	return err < 0 ? err : 0;
}
