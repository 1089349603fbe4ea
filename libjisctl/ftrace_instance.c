/* SPDX-License-Identifier: MIT */
/*
 * The instances of tracefs that a session has: one for what is told of targets, and where
 * interrupts are recorded one for these. set_event_pid passes what happens while a target runs,
 * and who wakes a thread is most often an interrupt of a CPU that idles or runs another.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ftrace.h"
#include "host.h"

int ft_instance_open(struct backend *b, char *why, size_t n)
{
	int err;

	b->tracefs = tracefs_open(why, n);
	if (b->tracefs < 0)
		return b->tracefs;
	tracefs_instances_clean(b->tracefs);
	b->instance = tracefs_instance_create(b->tracefs, b->name);
	if (b->instance < 0) {
		b->name[0] = 0;
		snprintf(why, n, "no tracefs instance can be made: %s", strerror(-b->instance));
		return b->instance;
	}
	err = ftrace_formats_load(b->instance, &b->formats);
	if (err)
		snprintf(why, n, "this kernel's scheduler events cannot be used: %s",
			 strerror(-err));
	return err;
}

static int option(int instance, const char *name, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "options/%s", name);
	return tracefs_write(instance, path, value);
}

int ft_instance_option(struct backend *b, const char *name, const char *value)
{
	return option(b->instance, name, value);
}

static int clock_set(const struct backend *b, int instance, char *why, size_t n)
{
	const char *name = b->config.clock == JIS_CLOCK_TSC ? "x86-tsc" : "mono_raw";
	int err = tracefs_write(instance, "trace_clock", name);

	if (err)
		snprintf(why, n, "ftrace has no clock %s", name);
	return err == -EINVAL ? -EOPNOTSUPP : err;
}

/* @bytes: for its rings, of all CPUs. */
static int set_up(const struct backend *b, int instance, uint64_t bytes, char *why, size_t n)
{
	char text[32];
	int err;

	tracefs_write(instance, "tracing_on", "0");
	err = clock_set(b, instance, why, n);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(bytes / b->nr_cpus / 1024));
	err = tracefs_write(instance, "buffer_size_kb", text);
	if (err) {
		snprintf(why, n, "no memory for ring buffers of %s KiB a CPU", text);
		return err;
	}
	err = option(instance, "overwrite", "0");
	if (err)
		snprintf(why, n, "an option of the instance cannot be set: %s", strerror(-err));
	option(instance, "record-cmd", "0"); /* costs each switch, and we do not read it */
	tracefs_write(instance, "buffer_percent", "25"); /* when poll() wakes; else at 50 */
	return err;
}

int ft_instance_setup(struct backend *b, char *why, size_t n)
{
	uint64_t bytes = b->config.buffer_bytes ? b->config.buffer_bytes : host_default_buffer();
	int err;

	if (!(b->config.families & JIS_FAMILY_IRQ))
		return set_up(b, b->instance, bytes, why, n);
	b->irq_instance = tracefs_instance_create(b->tracefs, b->irq_name);
	if (b->irq_instance < 0) {
		b->irq_name[0] = 0;
		snprintf(why, n, "no second tracefs instance can be made: %s",
			 strerror(-b->irq_instance));
		return b->irq_instance;
	}
	err = set_up(b, b->instance, bytes / 2, why, n);
	return err ? err : set_up(b, b->irq_instance, bytes / 2, why, n);
}

int ft_instance_trace(struct backend *b, bool on)
{
	const char *text = on ? "1" : "0";
	int err = tracefs_write(b->instance, "tracing_on", text), other = 0;

	if (b->irq_instance >= 0)
		other = tracefs_write(b->irq_instance, "tracing_on", text);
	return err ? err : other;
}

void ft_instance_close(struct backend *b)
{
	if (b->instance >= 0)
		close(b->instance);
	if (b->irq_instance >= 0)
		close(b->irq_instance);
	if (b->tracefs >= 0 && b->name[0])
		tracefs_instance_remove(b->tracefs, b->name);
	if (b->tracefs >= 0 && b->irq_name[0])
		tracefs_instance_remove(b->tracefs, b->irq_name);
	if (b->tracefs >= 0)
		close(b->tracefs);
}
