/* SPDX-License-Identifier: MIT */
/*
 * Generates a session directory: a simulated JVM whose threads wake each other, take CPUs and leave
 * marks. All events of the session have different times, each CPU's prev is its occupant, and no
 * thread is on two CPUs. Only through trace/write.h, so that what it makes is what a recorder
 * makes. Usage: gentrace --out DIR --kernel-streams C --user-streams U --events N [--threads T]
 * [--seed S]
 *                 [--packet BYTES] [--gap TICKS] [--methods M --calls N]
 * With --methods the threads that have a slot call M methods, in place of other marks, until N
 * calls have been made: recursively, with exceptions, blocked and preempted in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/thread_table.h"
#include "trace/write.h"

#define FREQUENCY 3000000000ull
#define REALTIME 1760000000000000000ll
#define PID 1000u
#define DIRECTORY "jvm-1000-5000000"
#define NR_NAMES 16u
#define MAX_DEPTH 24u
#define METHOD_NAMES 1000u /* string_def ids of methods begin here */

struct output {
	struct packet_builder b;
	struct stream_writer *w;
	char path[64];
	uint64_t packets;
};

enum where { SLEEPS, QUEUED, ON_CPU };

struct thread {
	enum where where;
	uint32_t next; /* in its CPU's queue */
	uint32_t span; /* name of the open span, 0: none */
	uint32_t calls[MAX_DEPTH], depth;
};

struct cpu {
	uint32_t current;	    /* thread number + 1, 0: idle */
	uint32_t queue, queue_last; /* thread number + 1 */
};

static struct {
	const char *out;
	uint32_t kernel, user, threads, packet, gap;
	uint64_t events, seed, calls;
	uint32_t methods;
} opt = {.kernel = 4, .user = 4, .packet = 65536, .gap = 600, .seed = 1, .events = 1000000};

static struct output *outputs; /* CPUs, recorder, dict, slots */
static uint32_t nr_outputs;
static struct thread *threads;
static struct cpu *cpus;
static struct thread_table *table;
static uint64_t now = 1 << 20, written, random_state, made_calls;
static uint32_t gc_number;
/* Their last bytes tell seeds apart. */
static uint8_t kernel_uuid[16] = "jis-bench-kern--", user_uuid[16] = "jis-bench-user--",
	       session_uuid[16] = "jis-bench-sess--";

static void die(const char *what, int err)
{
	fprintf(stderr, "gentrace: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* xorshift64*, upper half; below @n by multiplication. */
static uint32_t below(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)(((random_state * 0x2545f4914f6cdd1dull >> 32) * n) >> 32);
}

static uint32_t tid_of(uint32_t thread)
{
	return PID + thread;
}

static void flush(struct output *o)
{
	struct jis_packet_header *p = packet_builder_close(&o->b, 0);
	int err;

	if (!p)
		return;
	err = stream_writer_append(o->w, p);
	if (!err)
		err = thread_table_add_packet(table, PID, p, 0);
	if (err)
		die(o->path, err);
	o->packets++;
}

static void emit(struct output *o, uint32_t id, const void *payload, uint32_t len, const char *text)
{
	int err;

	now += 1 + below(2 * opt.gap);
	err = packet_builder_add(&o->b, id, now, payload, len, text);
	if (err == -ENOSPC) {
		flush(o);
		err = packet_builder_add(&o->b, id, now, payload, len, text);
	}
	if (err)
		die(o->path, err);
	written++;
}

/* EMIT(output, event, text, fields...): the fixed fields by name; a string's length word is no
 * part. */
#define EMIT(o, event, string, ...)                                                                \
	do {                                                                                       \
		const struct jis_ev_##event payload_ = {__VA_ARGS__};                              \
		const char *text_ = (string);                                                      \
                                                                                                   \
		emit(o, JIS_EV_##event, &payload_, sizeof(payload_) - (text_ ? 4 : 0), text_);     \
	} while (0)

#define recorder (&outputs[opt.kernel])
#define dict (&outputs[opt.kernel + 1])
#define slot(i) (&outputs[opt.kernel + 2 + (i)])

static void output_open(int dirfd, uint32_t stream_class, uint64_t instance, const char *path)
{
	struct output *o = &outputs[nr_outputs++];
	bool kernel = stream_class == JIS_STREAM_KERNEL || stream_class == JIS_STREAM_RECORDER;
	int err;

	snprintf(o->path, sizeof(o->path), "%s", path);
	err = stream_writer_create(dirfd, path, &o->w);
	if (!err)
		err = packet_builder_init(&o->b, opt.packet, stream_class, instance,
					  kernel ? kernel_uuid : user_uuid);
	if (err)
		die(path, err);
	o->b.proto.pid = kernel ? 0 : PID;
	if (stream_class == JIS_STREAM_USER)
		o->b.proto.owner = tid_of((uint32_t)instance - 1);
	packet_builder_open(&o->b, now);
	flush(o);
}

static void outputs_open(int dirfd)
{
	char path[64];

	outputs = calloc(opt.kernel + opt.user + 2, sizeof(*outputs));
	if (!outputs)
		die("memory", ENOMEM);
	for (uint32_t i = 0; i < opt.kernel; i++) {
		snprintf(path, sizeof(path), "kernel/cpu-%u", i);
		output_open(dirfd, JIS_STREAM_KERNEL, i, path);
	}
	output_open(dirfd, JIS_STREAM_RECORDER, 0, "kernel/recorder");
	output_open(dirfd, JIS_STREAM_DICT, 0, DIRECTORY "/dict");
	for (uint32_t i = 0; i < opt.user; i++) {
		snprintf(path, sizeof(path), DIRECTORY "/slot-%u", i + 1);
		output_open(dirfd, JIS_STREAM_USER, i + 1, path);
	}
}

static uint64_t to_ns(uint64_t ticks)
{
	return ticks / 3;
}

static void note_clocks(void)
{
	EMIT(recorder, clock_sync, NULL, .tsc = now, .monotonic_raw = to_ns(now),
	     .monotonic = to_ns(now), .boottime = to_ns(now),
	     .realtime = (uint64_t)REALTIME + to_ns(now), .uncertainty = 60);
}

/* What a recorder and an agent say first: all threads sleep, all CPUs are idle. */
static void prologue(void)
{
	char name[32];

	EMIT(recorder, session_mark, NULL, .mark = JIS_MARK_START);
	note_clocks();
	EMIT(recorder, target_added, "java", .pid = PID, .flags = JIS_TARGET_CHILDREN);
	EMIT(dict, vm_info, "Bench VM 21", .pid = PID, .version = 21);
	for (uint32_t i = 1; i <= NR_NAMES; i++) {
		snprintf(name, sizeof(name), i == 1 ? "main" : "request-%u", i);
		EMIT(dict, string_def, name, .id = i);
	}
	for (uint32_t i = 1; i <= opt.methods; i++) {
		snprintf(name, sizeof(name), "method%u", i);
		EMIT(dict, string_def, name, .id = METHOD_NAMES + i);
		snprintf(name, sizeof(name), "com.acme.Class%u", i / 8);
		EMIT(dict, method_def, name, .id = i, .name = METHOD_NAMES + i);
		EMIT(dict, traced_method, NULL, .id = i, .method = i, .first_line = -1,
		     .last_line = -1);
	}
	for (uint32_t i = 0; i < opt.threads; i++) {
		snprintf(name, sizeof(name), i ? "java-%u" : "java", i);
		EMIT(&outputs[i % opt.kernel], thread_state, name, .tid = tid_of(i), .pid = PID,
		     .ns_tid = tid_of(i), .state = JIS_TASK_INTERRUPTIBLE, .cpu = i % opt.kernel,
		     .start_time = 5000000 + i);
		snprintf(name, sizeof(name), "http-nio-8080-exec-%u", i);
		EMIT(dict, java_thread_start, name, .java_tid = i + 1, .tid = tid_of(i),
		     .flags = JIS_JTHREAD_RUNNING, .group = 1);
	}
	for (uint32_t i = 0; i < opt.user; i++)
		EMIT(slot(i), thread_bind, NULL, .tid = tid_of(i));
}

static void enqueue(uint32_t cpu, uint32_t thread)
{
	struct cpu *c = &cpus[cpu];

	threads[thread].where = QUEUED;
	threads[thread].next = 0;
	if (c->queue)
		threads[c->queue_last - 1].next = thread + 1;
	else
		c->queue = thread + 1;
	c->queue_last = thread + 1;
}

static uint32_t tid_on(uint32_t current)
{
	return current ? tid_of(current - 1) : 0;
}

/* @cpu takes the next thread of its queue, or none; the former one sleeps or goes to the queue. */
static void cpu_switch(uint32_t cpu, bool preempt)
{
	struct cpu *c = &cpus[cpu];
	uint32_t prev = c->current, next = c->queue;

	if (prev == next)
		return;
	EMIT(&outputs[cpu], sched_switch, NULL, .prev_tid = tid_on(prev), .next_tid = tid_on(next),
	     .prev_state = !prev || preempt ? JIS_TASK_PREEMPTED : JIS_TASK_INTERRUPTIBLE,
	     .prev_syscall = prev ? 202 : JIS_SYSCALL_UNKNOWN);
	if (next) {
		c->queue = threads[next - 1].next;
		threads[next - 1].where = ON_CPU;
	}
	c->current = next;
	if (prev && preempt)
		enqueue(cpu, prev - 1);
	else if (prev)
		threads[prev - 1].where = SLEEPS;
}

/* The context on @cpu wakes a sleeping thread, if a few tries find one. */
static void cpu_wake(uint32_t cpu)
{
	uint32_t waker = cpus[cpu].current, target = below(opt.kernel), thread;
	uint32_t context = waker && below(4) ? JIS_WAKER_TASK : JIS_WAKER_HARDIRQ;

	for (int tries = 0; tries < 8; tries++) {
		thread = below(opt.threads);
		if (threads[thread].where == SLEEPS)
			break;
	}
	if (threads[thread].where != SLEEPS)
		return;
	EMIT(&outputs[cpu], sched_waking, NULL, .tid = tid_of(thread), .waker_tid = tid_on(waker),
	     .context = context, .target_cpu = target);
	EMIT(&outputs[target], sched_wakeup, NULL, .tid = tid_of(thread), .target_cpu = target);
	enqueue(target, thread);
}

/* The running thread @thread, which has slot @thread, leaves a mark. */
static void user_event(uint32_t thread)
{
	struct thread *t = &threads[thread];
	uint32_t dice = below(4096);

	if (dice < 1500) {
		EMIT(slot(thread), java_marker, NULL, .java_tid = thread + 1, .type = dice % 8,
		     .value = (int64_t)now);
	} else if (dice < 2000) {
		EMIT(slot(thread), marker, NULL, .type = 100 + dice % 8, .value = -(int64_t)dice);
	} else if (dice < 4080 && t->span) {
		EMIT(slot(thread), span_end, NULL, .java_tid = thread + 1, .name = t->span);
		t->span = 0;
	} else if (dice < 4080) {
		t->span = 2 + dice % (NR_NAMES - 1);
		EMIT(slot(thread), span_begin, NULL, .java_tid = thread + 1, .name = t->span);
	} else if (dice < 4090) {
		EMIT(slot(thread), thread_bind, NULL, .tid = tid_of(thread));
	} else {
		EMIT(slot(thread), gc_start, NULL, .number = gc_number);
		EMIT(slot(thread), gc_finish, NULL, .number = gc_number++);
	}
}

/* @thread leaves its innermost call: by an exception now and then, which more calls may pass on. */
static void call_exit(uint32_t thread)
{
	struct thread *t = &threads[thread];
	bool thrown = !below(32);

	do
		EMIT(slot(thread), method_exit, NULL,
		     .method = t->calls[--t->depth] | (thrown ? JIS_METHOD_UNWOUND : 0));
	while (thrown && t->depth && below(4));
}

/* What a method calls: itself now and then, else one of two further down. */
static uint32_t callee_of(uint32_t caller)
{
	uint32_t step = opt.methods / 14 + 1;

	if (!caller)
		return 1 + below(step);
	return below(32) ? caller + step * (1 + below(2)) : caller;
}

/* Some calls of @thread. */
static void call_events(uint32_t thread)
{
	struct thread *t = &threads[thread];

	for (uint32_t n = 1 + below(60); n; n--) {
		bool deeper = t->depth < MAX_DEPTH && below(MAX_DEPTH) >= t->depth;
		uint32_t callee = callee_of(t->depth ? t->calls[t->depth - 1] : 0);

		if (t->depth && (!deeper || callee > opt.methods || made_calls >= opt.calls)) {
			call_exit(thread);
		} else if (made_calls < opt.calls) {
			t->calls[t->depth] = callee;
			EMIT(slot(thread), method_enter, NULL, .method = t->calls[t->depth]);
			t->depth++;
			made_calls++;
		}
	}
}

static bool calls_go_on(void)
{
	if (!opt.methods)
		return written < opt.events;
	for (uint32_t i = 0; i < opt.user; i++)
		if (threads[i].depth)
			return true;
	return made_calls < opt.calls;
}

static void step(void)
{
	uint32_t cpu = below(opt.kernel), dice = below(16), current = cpus[cpu].current;

	if (current && current <= opt.user && dice < 8 && opt.methods)
		call_events(current - 1);
	else if (current && current <= opt.user && dice < 8)
		user_event(current - 1);
	else if (dice < 11 || (!current && !cpus[cpu].queue))
		cpu_wake(cpu);
	else
		cpu_switch(cpu, dice == 15 && current && cpus[cpu].queue);
}

static void simulate(void)
{
	uint64_t next_sync = now + FREQUENCY;

	prologue();
	while (calls_go_on()) {
		step();
		if (now < next_sync)
			continue;
		note_clocks();
		next_sync = now + FREQUENCY;
	}
	note_clocks();
	EMIT(recorder, session_mark, NULL, .mark = JIS_MARK_STOP);
}

static void write_metadata(int dirfd, bool kernel)
{
	struct metadata_params p = {.kernel = kernel,
				    .clock = JIS_CLOCK_TSC,
				    .frequency = FREQUENCY,
				    .offset_s = REALTIME / 1000000000,
				    .hostname = "bench",
				    .process = kernel ? NULL : "java",
				    .pid = kernel ? 0 : PID};
	int fd = openat(dirfd, kernel ? "kernel" : DIRECTORY, O_RDONLY | O_DIRECTORY), err;

	memcpy(p.uuid, kernel ? kernel_uuid : user_uuid, 16);
	memcpy(p.clock_uuid, session_uuid, 16);
	err = fd < 0 ? -errno : metadata_write(fd, &p);
	if (err)
		die("metadata", err);
	close(fd);
}

static void fill_streams(struct manifest *m)
{
	m->streams = calloc(nr_outputs, sizeof(*m->streams));
	if (!m->streams)
		die("memory", ENOMEM);
	for (uint32_t i = 0; i < nr_outputs; i++) {
		struct stream_entry *s = &m->streams[m->nr_streams++];
		const struct output *o = &outputs[i];

		s->path = strdup(o->path);
		s->stream_class = o->b.proto.stream_class;
		s->instance = o->b.proto.stream_instance;
		s->packets = o->packets;
		s->clean = true;
		memcpy(s->stored, o->b.stored, sizeof(s->stored));
		memcpy(s->produced, o->b.stored, sizeof(s->produced));
	}
}

static void write_manifest(int dirfd)
{
	struct manifest *m = manifest_new();
	int err;

	if (!m)
		die("memory", ENOMEM);
	m->complete = true;
	m->jis_version = strdup("bench");
	m->hostname = strdup("bench");
	m->kernel_release = strdup("simulated");
	m->machine = strdup("x86_64");
	m->backend = strdup("kmod");
	m->stop_reason = strdup("command ended");
	memcpy(m->uuid, session_uuid, 16);
	memcpy(m->kernel_uuid, kernel_uuid, 16);
	m->clock = JIS_CLOCK_TSC;
	m->frequency = FREQUENCY;
	m->begin = 1 << 20;
	m->end = now;
	m->realtime_offset = REALTIME;
	m->nr_cpus = opt.kernel;
	m->all_switches = true;
	m->processes = calloc(1, sizeof(*m->processes));
	if (!m->processes)
		die("memory", ENOMEM);
	m->nr_processes = 1;
	m->processes[0].pid = PID;
	m->processes[0].directory = strdup(DIRECTORY);
	memcpy(m->processes[0].uuid, user_uuid, 16);
	fill_streams(m);
	err = thread_table_fill(table, m);
	if (!err)
		err = manifest_save(dirfd, m);
	if (err)
		die("manifest", err);
	manifest_free(m);
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (!*text || *end || v > most)
		die(text, EINVAL);
	return v;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"out", 1, NULL, 'o'},	   {"kernel-streams", 1, NULL, 'k'},
		{"events", 1, NULL, 'e'},  {"user-streams", 1, NULL, 'u'},
		{"threads", 1, NULL, 't'}, {"seed", 1, NULL, 's'},
		{"packet", 1, NULL, 'p'},  {"gap", 1, NULL, 'g'},
		{"methods", 1, NULL, 'm'}, {"calls", 1, NULL, 'c'},
		{NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			opt.out = optarg;
			break;
		case 'k':
			opt.kernel = (uint32_t)number(optarg, 65536);
			break;
		case 'u':
			opt.user = (uint32_t)number(optarg, 65536);
			break;
		case 'e':
			opt.events = number(optarg, UINT64_MAX / 2);
			break;
		case 't':
			opt.threads = (uint32_t)number(optarg, 1 << 22);
			break;
		case 's':
			opt.seed = number(optarg, UINT64_MAX);
			break;
		case 'p':
			opt.packet = (uint32_t)number(optarg, 1 << 24);
			break;
		case 'm':
			opt.methods = (uint32_t)number(optarg, 100000);
			break;
		case 'c':
			opt.calls = number(optarg, UINT64_MAX / 4);
			break;
		case 'g':
			opt.gap = (uint32_t)number(optarg, 1 << 30);
			break;
		default:
			exit(2);
		}
	}
	if (!opt.threads)
		opt.threads = opt.user > 2 * opt.kernel ? opt.user : 2 * opt.kernel;
	if (!opt.out || !opt.kernel || !opt.gap || opt.threads < opt.user || optind != argc)
		die("needs --out DIR, --kernel-streams > 0, --threads >= --user-streams", EINVAL);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	int dirfd;

	parse(argc, argv);
	random_state = opt.seed * 2 + 1;
	kernel_uuid[15] = user_uuid[15] = session_uuid[15] = (uint8_t)opt.seed;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (mkdir(opt.out, 0755))
		die(opt.out, errno);
	dirfd = open(opt.out, O_RDONLY | O_DIRECTORY);
	if (dirfd < 0 || mkdirat(dirfd, "kernel", 0755) || mkdirat(dirfd, DIRECTORY, 0755))
		die(opt.out, errno);
	table = thread_table_new();
	threads = calloc(opt.threads, sizeof(*threads));
	cpus = calloc(opt.kernel, sizeof(*cpus));
	if (!table || !threads || !cpus)
		die("memory", ENOMEM);
	outputs_open(dirfd);
	simulate();
	for (uint32_t i = 0; i < nr_outputs; i++) {
		flush(&outputs[i]);
		if (stream_writer_close(outputs[i].w))
			die(outputs[i].path, EIO);
		packet_builder_fini(&outputs[i].b);
	}
	write_metadata(dirfd, true);
	write_metadata(dirfd, false);
	write_manifest(dirfd);
	printf("%" PRIu64 " events in %u streams\n", written, nr_outputs);
	thread_table_free(table);
	free(outputs);
	free(threads);
	free(cpus);
	return 0;
}
