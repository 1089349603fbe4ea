// SPDX-License-Identifier: MIT
/*
 * jisraw: records with the kmod backend and writes each record as a line of text, so that guest
 * tests can check it with awk. Checks by itself what holds for every recording (see check_*);
 * shares no code with the recorder or the trace reader.
 *
 *   jisraw [-aClnrsU] [-b BYTES] [-e N] [-f MS] [-o FILE] [-p PID]... [-S LIST] [-x TARGET]...
 *          [COMMAND [ARG]...]
 *     -a all switches   -C children too   -l read only when something was lost
 *     -n read nothing before the stop   -r CLOCK_MONOTONIC_RAW   -s start before targets are added
 *     -e families of events (JIS_FAMILY_*, a number)   -S these system calls
 *     -b buffer bytes   -f flush interval (default 100)   -o records as text   -p target process
 *     -x thread:TID, cgroup:PATH, executable:NAME or all: a target of another kind
 *     -U targets only until they execute another program, but the command's own first one
 * Records until COMMAND has ended, or SIGINT or SIGTERM. Pauses at SIGUSR1, resumes at SIGUSR2.
 * Says which calls are "selected", by number, and "recording" when it records. Ends with a summary
 * and status 0, or 1 and what is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "libjisctl/backend.h"
#include "libjisctl/syscalls.h"

typedef unsigned long long u64;

#define NR(x) (sizeof(x) / sizeof((x)[0]))

enum { U32, S32, X32, U64, S64, X64, STR };
static const int sizes[] = {4, 4, 4, 8, 8, 8, 4};

struct field {
	const char *name;
	int type;
};
struct event {
	const char *name;
	struct field fields[12];
};

#define T_u32 U32
#define T_s32 S32
#define T_x32 X32
#define T_u64 U64
#define T_s64 S64
#define T_x64 X64
#define F(type, name) {#name, T_##type},
#define S(name) {#name, STR},
#define EVENT(id, name) [id] = {#name, {JIS_FIELDS_##name(F, S)}},
static const struct event events[JIS_MAX_EVENT_ID] = {
	JIS_EVENTS_KERNEL(EVENT) JIS_EVENTS_KERNEL_RARE(EVENT) JIS_EVENTS_COMMON(EVENT)};

/* What is known of one CPU's stream. */
struct stream {
	u64 packets, last, discarded;
	u64 stored[JIS_MAX_EVENT_ID];
	u64 told[JIS_MAX_EVENT_ID]; /* by lost_records */
};

static struct stream *streams;
static struct backend *backend;
static const struct backend_ops *ops = &backend_kmod;
static FILE *text;
static int errors;
static uint8_t uuid[16] = "jisraw's uuid..";

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *format, ...)
{
	va_list args;

	if (errors++ > 20)
		return;
	va_start(args, format);
	printf("wrong: ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static void die(const char *what, int err)
{
	printf("jisraw: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void check(const char *what, int err)
{
	if (err)
		die(what, err);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static u64 get64(const uint8_t *p)
{
	u64 v;

	memcpy(&v, p, 8);
	return v;
}

/*
 * No number is an address of the kernel's: these are above all others, with 4 and with 5 levels of
 * pages. The last page has the results below zero, the last 10^9 bytes, at the end of the modules,
 * other numbers below it. A mask of CPUs may be anything.
 */
static void check_no_address(const struct field *f, u64 v)
{
	u64 end = f->type == X64 ? (u64)-4096 : (u64)-999999999;

	if (sizes[f->type] == 8 && v >= 0xffull << 56 && v < end && strcmp(f->name, "cpus") != 0)
		wrong("an address of the kernel's: %s 0x%llx", f->name, v);
}

static void print_string(const struct field *f, const uint8_t *p)
{
	char buffer[JIS_STRING_MAX];

	snprintf(buffer, sizeof(buffer), "%s", (const char *)p + 4);
	for (char *c = buffer; *c; c++)
		if (*c == ' ' || *c == '\n')
			*c = '_';
	fprintf(text, " %s=%s", f->name, buffer);
}

static void decode_field(const struct field *f, const uint8_t *p)
{
	u64 v;

	if (f->type == STR) {
		if (text)
			print_string(f, p);
		return;
	}
	v = sizes[f->type] == 8 ? get64(p) : f->type == S32 ? (u64)(int32_t)get32(p) : get32(p);
	check_no_address(f, v);
	if (!text)
		return;
	if (f->type == X32 || f->type == X64)
		fprintf(text, " %s=0x%llx", f->name, v);
	else
		fprintf(text, " %s=%lld", f->name, (long long)v);
}

/* Decodes one payload; returns the byte after it, or NULL when it does not fit. */
static const uint8_t *decode_payload(uint32_t id, const uint8_t *p, const uint8_t *end)
{
	const struct field *f;
	uint32_t len;

	for (f = events[id].fields; f->name; f++) {
		if (end - p < sizes[f->type])
			return NULL;
		len = 4;
		if (f->type == STR) {
			len = get32(p);
			if (!len || len % 4 || len > JIS_STRING_MAX || len > (u64)(end - p) - 4 ||
			    p[4 + len - 1] || strlen((const char *)p + 4) + 4 < len)
				return NULL;
			len += 4;
		}
		decode_field(f, p);
		p += f->type == STR ? (int)len : sizes[f->type];
	}
	return p;
}

static const uint8_t *decode_record(struct stream *s, uint32_t cpu, const uint8_t *p,
				    const uint8_t *end, u64 *time)
{
	uint32_t word = get32(p), id = word & 31;
	const uint8_t *payload = p + 4;

	if (id == JIS_ID_EXTENDED) {
		if (end - p < 16)
			return NULL;
		id = get32(p + 4);
		if (id <= JIS_COMPACT_ID_MAX && get64(p + 8) - *time <= JIS_TIME_MASK)
			wrong("cpu %u: an extended header %llu ticks after the record before", cpu,
			      get64(p + 8) - *time);
		*time = get64(p + 8);
		payload = p + 16;
	} else {
		*time += ((word >> 5) - *time) & JIS_TIME_MASK;
	}
	if (id >= NR(events) || !events[id].name)
		return NULL;
	if (text)
		fprintf(text, "%u %llu %s", cpu, *time, events[id].name);
	p = decode_payload(id, payload, end);
	if (text)
		fprintf(text, "\n");
	if (!p)
		return NULL;
	s->stored[id]++;
	if (id == JIS_EV_lost_records && get32(payload) < JIS_MAX_EVENT_ID) {
		s->told[get32(payload)] += get64(payload + 4);
		if (get64(payload + 12) > get64(payload + 20) || get64(payload + 20) > *time)
			wrong("cpu %u: lost_records: the times of the loss", cpu);
	}
	return p;
}

static void check_header(struct stream *s, uint32_t cpu, const struct jis_packet_header *h)
{
	if (h->magic != JIS_PACKET_MAGIC || memcmp(h->uuid, uuid, 16) ||
	    h->stream_class != JIS_STREAM_KERNEL || h->stream_instance != cpu || h->owner != cpu ||
	    h->pid || h->flags || h->crc32c)
		wrong("cpu %u packet %llu: header", cpu, s->packets);
	if (h->packet_seq != s->packets)
		wrong("cpu %u: packet %llu has number %llu", cpu, s->packets, h->packet_seq);
	if (h->timestamp_begin < s->last || h->timestamp_end < h->timestamp_begin)
		wrong("cpu %u packet %llu: times %llu (before), %llu..%llu", cpu, s->packets,
		      s->last, h->timestamp_begin, h->timestamp_end);
	if (h->events_discarded < s->discarded)
		wrong("cpu %u packet %llu: events_discarded fell", cpu, s->packets);
	if (h->content_size % 32 || h->packet_size < h->content_size ||
	    h->content_size < JIS_PACKET_HEADER_SIZE * 8)
		wrong("cpu %u packet %llu: sizes", cpu, s->packets);
	if ((s->packets == 0) != (h->content_size == JIS_PACKET_HEADER_SIZE * 8))
		wrong("cpu %u packet %llu: %llu bits", cpu, s->packets, h->content_size);
}

static void check_packet(uint32_t cpu, const struct jis_packet_header *h)
{
	struct stream *s = &streams[cpu];
	const uint8_t *p = (const uint8_t *)(h + 1),
		      *end = (const uint8_t *)h + h->content_size / 8;
	u64 time = h->timestamp_begin, before = time;

	check_header(s, cpu, h);
	while (p && p < end) {
		p = decode_record(s, cpu, p, end, &time);
		if (!p)
			wrong("cpu %u packet %llu: a record does not decode", cpu, s->packets);
		if (time < before || time > h->timestamp_end)
			wrong("cpu %u packet %llu: time", cpu, s->packets);
		before = time;
	}
	if (time != h->timestamp_end)
		wrong("cpu %u packet %llu: does not end with its last record", cpu, s->packets);
	s->last = h->timestamp_end;
	s->discarded = h->events_discarded;
	s->packets++;
}

/* Reads what there is, but no more than @most packets of one CPU: a busy one may never be empty. */
static int drain(int most)
{
	const struct jis_packet_header *h;
	int n = 0, left, err;
	uint32_t cpu;

	for (cpu = 0; cpu < ops->nr_cpus(backend); cpu++) {
		for (left = most; left; left--) {
			err = ops->get_packet(backend, cpu, &h);
			if (err < 0)
				die("get_packet", err);
			if (!err)
				break;
			check_packet(cpu, h);
			n++;
		}
	}
	return n;
}

/* After the stop: produced = stored + lost for each type, and each loss told in the stream. */
static void check_counts(void)
{
	u64 produced = 0, stored = 0, lost = 0;
	struct backend_counts c;
	uint32_t cpu, id;

	for (cpu = 0; cpu < ops->nr_cpus(backend); cpu++) {
		struct stream *s = &streams[cpu];
		u64 cpu_lost = 0;

		ops->counts(backend, cpu, &c);
		for (id = 0; id < JIS_MAX_EVENT_ID; id++) {
			u64 made = c.produced[id], gone = c.lost[id];

			if (made != s->stored[id] + gone)
				wrong("cpu %u type %u: produced %llu stored %llu lost %llu", cpu,
				      id, made, s->stored[id], gone);
			if (s->told[id] != gone)
				wrong("cpu %u type %u: lost %llu told %llu", cpu, id, gone,
				      s->told[id]);
			produced += made;
			stored += s->stored[id];
			cpu_lost += gone;
		}
		if (cpu_lost != s->discarded)
			wrong("cpu %u: lost %llu events_discarded %llu", cpu, cpu_lost,
			      s->discarded);
		lost += cpu_lost;
		if (cpu == 0)
			printf("clock_steps %llu\nthreads_refused %llu\nqueues_refused %llu\n",
			       (u64)c.clock_steps, (u64)c.threads_refused, (u64)c.queues_refused);
	}
	printf("produced %llu stored %llu lost %llu\n", produced, stored, lost);
}

static u64 now(uint32_t clock)
{
	struct timespec t;

#ifdef __x86_64__
	if (clock == JIS_CLOCK_TSC)
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Starts the command; it waits until it is let go by closing *gate. */
static pid_t command(char **argv, int *gate)
{
	int fds[2];
	char c;
	pid_t pid;

	if (pipe(fds))
		die("pipe", -errno);
	pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		close(fds[1]);
		if (read(fds[0], &c, 1) < 0)
			_exit(126);
		close(fds[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[0]);
	*gate = fds[1];
	return pid;
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum { READ_SOON, READ_AFTER_LOSS, READ_AT_STOP };

/* Has anything been lost since the last call? */
static int lost_more(void)
{
	static u64 before;
	struct backend_counts c;
	u64 lost = 0;

	for (uint32_t cpu = 0; cpu < ops->nr_cpus(backend); cpu++) {
		check("counts", ops->counts(backend, cpu, &c));
		for (uint32_t id = 0; id < JIS_MAX_EVENT_ID; id++)
			lost += c.lost[id];
	}
	if (lost == before)
		return 0;
	before = lost;
	return 1;
}

/* Until the command ends or a signal says so. */
static void record(int fd, pid_t child, int flush_ms, int late, int *status)
{
	struct pollfd fds[] = {{fd, POLLIN, 0}, {ops->poll_fd(backend), POLLIN, 0}};
	struct signalfd_siginfo info;

	for (;;) {
		poll(fds, late ? 1 : 2, flush_ms);
		if (late == READ_SOON || (late == READ_AFTER_LOSS && lost_more())) {
			check("flush", ops->flush(backend));
			drain(16);
		}
		while (read(fd, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGUSR1)
				check("pause", ops->pause(backend));
			else if (info.ssi_signo == SIGUSR2)
				check("resume", ops->resume(backend));
			else if (info.ssi_signo != SIGCHLD)
				return;
		}
		if (child && waitpid(child, status, WNOHANG) == child)
			return;
	}
}

static const struct jis_syscalls *syscalls(const char *list)
{
	static struct jis_syscalls calls;
	struct utsname host;
	char why[256];

	uname(&host);
	if (syscalls_parse(list, host.machine, &calls, why, sizeof(why))) {
		printf("jisraw: %s\n", why);
		exit(2);
	}
	for (uint32_t i = 0; i < JIS_MAX_SYSCALL; i++) {
		if (calls.native[i].shape)
			printf("selected %u\n", i);
		if (calls.compat[i].shape)
			printf("selected %u\n", i | JIS_SYSCALL_COMPAT);
	}
	return &calls;
}

/* Adds the target that -x names. */
static void add_other(const char *what, uint32_t flags)
{
	struct jis_target t = {.size = sizeof(t)};
	const char *value = strchr(what, ':');

	value = value ? value + 1 : "";
	if (!strncmp(what, "thread:", 7)) {
		t.kind = JIS_TARGET_THREAD;
		t.pid = (uint32_t)atoi(value);
	} else if (!strncmp(what, "cgroup:", 7)) {
		t.kind = JIS_TARGET_CGROUP;
		t.fd = open(value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else if (!strncmp(what, "executable:", 11)) {
		t.kind = JIS_TARGET_EXECUTABLE;
		t.flags = flags & ~JIS_TARGET_FIRST_EXEC;
		snprintf(t.name, sizeof(t.name), "%s", value);
	} else {
		t.kind = JIS_TARGET_ALL;
	}
	check(what, ops->filter(backend, JIS_IOC_TARGET_ADD, &t));
}

int main(int argc, char **argv)
{
	const char *others[16];
	int nr_others = 0;
	struct backend_config config = {.clock = JIS_CLOCK_TSC};
	int opt, fd, gate = -1, nr_pids = 0, flush_ms = 100, status = 0;
	int late = READ_SOON, start_first = 0;
	uint32_t flags = 0;
	pid_t pids[64], child = 0;

	while ((opt = getopt(argc, argv, "+aClnrsUb:e:f:o:p:S:x:")) != -1) {
		switch (opt) {
		case 'a':
			config.all_switches = true;
			break;
		case 'C':
			flags |= JIS_TARGET_CHILDREN;
			break;
		case 'l':
			late = READ_AFTER_LOSS;
			break;
		case 'n':
			late = READ_AT_STOP;
			break;
		case 's':
			start_first = 1;
			break;
		case 'r':
			config.clock = JIS_CLOCK_RAW;
			break;
		case 'e':
			config.families = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'b':
			config.buffer_bytes = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			flush_ms = atoi(optarg);
			break;
		case 'o':
			text = fopen(optarg, "w");
			break;
		case 'S':
			config.syscalls = syscalls(optarg);
			break;
		case 'U':
			flags |= JIS_TARGET_UNTIL_EXEC | JIS_TARGET_FIRST_EXEC;
			break;
		case 'x':
			others[nr_others++ % 16] = optarg;
			break;
		case 'p':
			pids[nr_pids++ % 64] = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	fd = signals();
	memcpy(config.uuid, uuid, sizeof(uuid));
	config.base = now(config.clock) & ~(u64)JIS_TIME_MASK;
	check("open", ops->open(&config, &backend));
	streams = calloc(ops->nr_cpus(backend), sizeof(*streams));
	if (argv[optind])
		pids[nr_pids++ % 64] = child = command(argv + optind, &gate);
	if (start_first)
		check("start", ops->start(backend));
	for (int i = 0; i < nr_pids; i++)
		check("target_add", ops->target_add(backend, pids[i], flags));
	for (int i = 0; i < nr_others; i++)
		add_other(others[i], flags);
	for (int i = 0; i < nr_pids; i++)
		if (!ops->is_target(backend, pids[i]))
			wrong("%d is no target", pids[i]);
	if (!start_first)
		check("start", ops->start(backend));
	printf("features 0x%x\n", ops->features(backend));
	printf("recording\n");
	fflush(stdout);
	close(gate);
	record(fd, child, flush_ms, late, &status);
	check("stop", ops->stop(backend));
	drain(INT_MAX);
	if (drain(1))
		wrong("packets after the last one");
	check_counts();
	if (WIFEXITED(status) ? WEXITSTATUS(status) : 1)
		wrong("the command ended with 0x%x", status);
	if (text)
		fclose(text);
	ops->close(backend);
	return errors != 0;
}
