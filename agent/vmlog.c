/* SPDX-License-Identifier: MIT */
/*
 * The JVM's log, switched on live (VM.log) into a file in memory and read from there. The file's
 * pages are given back as they are read.
 */
#include "compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "vmlog.h"

#define PAGE 4096u

static pthread_mutex_t logs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vmlog *logs; /* under the lock */
static int news = -1;	   /* inotify: something is written into a log; -1: cannot be had */
static int news_of_all;	   /* ... of all logs: else they are looked at by the clock */
static int quiet;	   /* nothing had come when the logs were read last: news will tell */

/* Time --------------------------------------------------------------------------------------- */

/* Both clocks at one moment: the closest of some tries. */
static void clocks_read(struct vmlog_clocks *out)
{
	__u64 least = UINT64_MAX, before, after;
	struct timespec t;
	int i;

	for (i = 0; i < 5; i++) {
		before = jis_ticks(&agent.writer);
		clock_gettime(CLOCK_MONOTONIC, &t);
		after = jis_ticks(&agent.writer);
		if (after - before >= least)
			continue;
		least = after - before;
		out->ticks = before + least / 2;
		out->monotonic = (__u64)t.tv_sec * 1000000000u + (__u64)t.tv_nsec;
	}
}

/* The session's time of @time: on the line through the last two readings of both. */
static __u64 ticks_of(const struct vmlog *log, __u64 time)
{
	double span = (double)(__s64)(log->now.monotonic - log->before.monotonic);
	double rate = (double)(__s64)(log->now.ticks - log->before.ticks) / (span > 0 ? span : 1);
	double after = (double)(__s64)(time - log->before.monotonic) * rate;

	return log->before.ticks + (__u64)(__s64)after;
}

/* News --------------------------------------------------------------------------------------- */

static int news_came(void)
{
	struct pollfd p = {.fd = news, .events = POLLIN};

	return news >= 0 && poll(&p, 1, 0) == 1;
}

/* All events say the same. */
static void news_drain(void)
{
	char events[16 * (sizeof(struct inotify_event) + 16)];

	while (news_came() && read(news, events, sizeof(events)) > 0)
		;
}

static void news_close(void)
{
	if (news >= 0)
		close(news);
	news = -1;
	quiet = 0;
}

/* Does writing into @path make news, by who opens it by that name, as the JVM will? */
static int news_try(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), works;

	if (fd < 0)
		return 0;
	works = write(fd, "", 1) == 1 && news_came() && !ftruncate(fd, 0);
	close(fd);
	return works;
}

/*
 * For a file that is empty and no log yet. It is tried, as not every file without a directory need
 * make news. While there are logs @news stays open: somebody may be waiting for it.
 */
static void news_of(const char *path)
{
	pthread_mutex_lock(&logs_lock);
	if (!logs && news < 0)
		news_of_all = (news = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) >= 0;
	news_drain();
	if (news_of_all)
		news_of_all = inotify_add_watch(news, path, IN_MODIFY) >= 0 && news_try(path);
	pthread_mutex_unlock(&logs_lock);
}

/* Lines -------------------------------------------------------------------------------------- */

void vmlog_write(struct vmlog *log, __u64 time, unsigned int id, const void *payload, size_t size)
{
	if (agent_wants(id))
		jis_write_slow(&agent.writer, log->slot, id, payload, size, ticks_of(log, time));
}

/* "[123456ns] text"; anything else is not of the log as we asked for it. */
static void line_take(struct vmlog *log, char *line)
{
	char *end;
	__u64 time;

	if (line[0] != '[')
		return;
	time = strtoull(line + 1, &end, 10);
	if (end == line + 1 || strncmp(end, "ns]", 3))
		return;
	end += 3;
	log->line(log, time, end + (*end == ' '));
}

/* All whole lines of the text; the rest is kept. A line too long to keep is none of ours. */
static void lines_take(struct vmlog *log)
{
	char *line = log->text, *end;

	log->text[log->kept] = 0;
	while ((end = strchr(line, '\n'))) {
		*end = 0;
		line_take(log, line);
		line = end + 1;
	}
	log->kept -= (size_t)(line - log->text);
	if (log->kept == sizeof(log->text) - 1)
		log->kept = 0;
	memmove(log->text, line, log->kept);
}

/*
 * Returns whether there was anything. All of it is of the time since the last reading: one more
 * look at the clocks amid it would leave no distance between the two to judge by.
 */
static int log_read(struct vmlog *log)
{
	__u64 from = log->at;
	ssize_t n;

	for (;;) {
		n = pread(log->fd, log->text + log->kept, sizeof(log->text) - 1 - log->kept,
			  (off_t)log->at);
		if (n <= 0)
			break;
		if (log->at == from)
			clocks_read(&log->now);
		if (log->at / PAGE != (log->at + (__u64)n) / PAGE)
			(void)!fallocate(log->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
					 (off_t)((log->at + (__u64)n) & ~(__u64)(PAGE - 1)));
		log->at += (__u64)n;
		log->kept += (size_t)n;
		lines_take(log);
	}
	if (log->at == from)
		return 0;
	log->before = log->now;
	return 1;
}

void vmlogs_read(void)
{
	struct vmlog *log;
	int any = 0;

	if (!agent_enter())
		return;
	pthread_mutex_lock(&logs_lock);
	news_drain(); /* before: what comes from now on is news */
	for (log = logs; log; log = log->next)
		any |= log_read(log);
	quiet = logs && news_of_all && !any;
	pthread_mutex_unlock(&logs_lock);
	agent_leave();
}

int vmlogs_timeout(int *fd)
{
	int timeout = -1;

	pthread_mutex_lock(&logs_lock);
	*fd = quiet ? news : -1;
	if (agent.features & (JIS_FEATURE_SAFEPOINTS | JIS_FEATURE_HEAP) && !quiet)
		timeout = VMLOG_PERIOD_MS;
	pthread_mutex_unlock(&logs_lock);
	return timeout;
}

/* Begin and end ------------------------------------------------------------------------------ */

/* The thread whose doings the log tells: the JVM's own. 0: not found. */
static __u32 vm_thread_tid(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *e;
	char path[300], comm[16];
	__u32 tid = 0;
	ssize_t n;
	int fd;

	while (tasks && !tid && (e = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, comm, sizeof(comm));
		if (fd >= 0)
			close(fd);
		if (n == 10 && !memcmp(comm, "VM Thread\n", 10))
			tid = (__u32)strtoul(e->d_name, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return tid;
}

static int slot_take(struct vmlog *log)
{
	__u32 tid = vm_thread_tid();

	if (!agent_enter())
		return -ENOENT;
	log->slot = jis_slot_take(&agent.writer, tid ? tid : agent_tid());
	agent_leave();
	return log->slot ? 0 : -ENOSPC;
}

static int log_switch(JNIEnv *env, const struct vmlog *log, const char *what, char *answer,
		      size_t n)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "VM.log output=file=%s output_options=filecount=0 what=%s decorators=timenanos",
		 log->path, what);
	return dcmd_execute(env, command, answer, n);
}

static int log_open(JNIEnv *env, struct vmlog *log, char *answer, size_t n)
{
	int error;

	log->at = 0;
	log->kept = 0;
	log->fd = memfd_create("jis-vmlog", MFD_CLOEXEC);
	if (log->fd < 0)
		return -errno;
	snprintf(log->path, sizeof(log->path), "/proc/self/fd/%d", log->fd);
	news_of(log->path);
	error = slot_take(log);
	clocks_read(&log->before);
	if (!error)
		error = log_switch(env, log, log->what, answer, n);
	if (!error && answer[0])
		error = -EINVAL;
	if (error)
		close(log->fd);
	return error;
}

int vmlog_begin(JNIEnv *env, struct vmlog *log, const char *wanted)
{
	char answer[128] = "";
	int error = log_open(env, log, answer, sizeof(answer));

	if (error) {
		pthread_mutex_lock(&logs_lock);
		if (!logs)
			news_close();
		pthread_mutex_unlock(&logs_lock);
		recorder_note("the JVM's log cannot be had (%s): %s are not recorded",
			      answer[0] ? answer : strerror(-error), wanted);
		return error;
	}
	log->open = 1;
	pthread_mutex_lock(&logs_lock);
	log->next = logs;
	__atomic_store_n(&logs, log, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&logs_lock);
	return 0;
}

void vmlog_end(JNIEnv *env, struct vmlog *log)
{
	struct vmlog **p;
	char answer[128];

	if (!log->open)
		return;
	pthread_mutex_lock(&logs_lock);
	for (p = &logs; *p && *p != log; p = &(*p)->next)
		;
	if (*p)
		__atomic_store_n(p, log->next, __ATOMIC_RELAXED);
	if (!logs)
		news_close();
	pthread_mutex_unlock(&logs_lock);
	log->open = 0;
	if (env && log_switch(env, log, "all=off", answer, sizeof(answer)) < 0)
		agent_warn("the JVM's log of %s could not be switched off", log->what);
	close(log->fd);
}
