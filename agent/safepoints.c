/* SPDX-License-Identifier: MIT */
/*
 * Safepoints, from the JVM's log: it writes one line at the end of each, with the VM operation that
 * it was for, and how long it took to reach it and in all, in ns.
 */
#include <stdlib.h>

#include "vmlog.h"

#define NAME_BYTES 128

/* The number behind @key in a line; -1: there is none. */
static __s64 number_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	char *end;
	__s64 n;

	if (!p)
		return -1;
	p += strlen(key);
	n = strtoll(p, &end, 10);
	return end == p || n < 0 ? -1 : n;
}

/* Safepoint "NAME", Time since last: 1 ns, Reaching safepoint: 2 ns, ..., Total: 4 ns */
static void safepoint_line(struct vmlog *log, __u64 time, const char *text)
{
	static const char head[] = "Safepoint \"";
	struct jis_ev_safepoint_begin record = {0, JIS_SAFEPOINT_LOG};
	__s64 reaching = number_after(text, "Reaching safepoint: ");
	__s64 total = number_after(text, "Total: ");
	const char *name = text + sizeof(head) - 1, *end;

	if (strncmp(text, head, sizeof(head) - 1) || reaching < 0 || total < reaching ||
	    (__u64)total > time)
		return;
	end = strchr(name, '"');
	if (end && end - name < NAME_BYTES)
		record.operation = name_intern(name, (size_t)(end - name));
	vmlog_write(log, time - (__u64)total, JIS_EV_safepoint_begin, &record, sizeof(record));
	vmlog_write(log, time - (__u64)(total - reaching), JIS_EV_safepoint_reached, &record,
		    sizeof(record));
	vmlog_write(log, time, JIS_EV_safepoint_end, &record, sizeof(record));
}

static struct vmlog safepoint_log = {.what = "safepoint=info", .line = safepoint_line};

int safepoints_enable(JNIEnv *env)
{
	return vmlog_begin(env, &safepoint_log, "safepoints");
}

void safepoints_disable(JNIEnv *env)
{
	vmlog_end(env, &safepoint_log);
}
