// SPDX-License-Identifier: MIT
/*
 * jiswitness SECONDS: records a load it knows, and compares what was recorded with what was done.
 *
 * The load, a process of its own that is the only target, with its children: threads that come and
 * go by the hundred, forks, a pipe and a futex that pass between two threads, and system calls
 * without a pause. It counts what it does by itself; its lasting threads ask the kernel how often
 * they were switched away between two renames. The recording: what was produced is what was stored
 * and lost, for each CPU and type. Forks, exits and calls produced are exactly those made. Switches
 * stored of a thread are those counted; when switches were lost, no more than those and no fewer
 * than those less what was lost.
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "stress.h"

typedef unsigned long long u64;

enum { CALLER, CALLER2, PIPE_A, PIPE_B, FUTEX_A, FUTEX_B, NR_LASTING };
#define BATCH 100
#define STACK (64u << 10)

/* Written by the load, one thread a field but for atomic ones. */
struct done {
	u64 threads, forks, calls, reads, writes;
	struct {
		int tid;
		long switches; /* between the last renames to "begin" and to "end" */
	} lasting[NR_LASTING];
	int go, stop;
};

static struct done *done;
static struct stats *stats;
static int there[2], back[2], errors;
static unsigned int turn;

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

static void die(const char *what)
{
	printf("jiswitness: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The load ------------------------------------------------------------------------------------- */

static void count(u64 *n, u64 by)
{
	__atomic_fetch_add(n, by, __ATOMIC_RELAXED);
}

static int stopping(void)
{
	return __atomic_load_n(&done->stop, __ATOMIC_RELAXED);
}

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

/* Renames the thread; returns its switches up to the rename, which none comes near. */
static long mark(const char *name)
{
	long before;

	do {
		before = switches();
		prctl(PR_SET_NAME, name);
	} while (switches() != before);
	return before;
}

static void call_on(void)
{
	u64 n = 0;

	for (; !stopping(); n += 100)
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
	count(&done->calls, n);
}

static void pass_on(int in, int out, int leads)
{
	u64 reads = 0, writes = 0;
	char c = 0;

	/* The one who leads says "1" when it is the last time. */
	do {
		if (leads) {
			c = (char)stopping();
			writes += write(out, &c, 1) == 1;
		}
		reads += read(in, &c, 1) == 1;
		if (!leads)
			writes += write(out, &c, 1) == 1;
	} while (!c);
	count(&done->reads, reads);
	count(&done->writes, writes);
}

static void take_turns(unsigned int mine)
{
	while (!stopping()) {
		unsigned int now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
		const struct timespec limit = {0, 100000000};

		if (now % 2 != mine) {
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, &limit, NULL, 0);
			continue;
		}
		__atomic_store_n(&turn, now + 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *lasting(void *arg)
{
	long which = (long)arg, before = mark("begin");

	done->lasting[which].tid = gettid();
	switch (which) {
	case PIPE_A:
		pass_on(back[0], there[1], 1);
		break;
	case PIPE_B:
		pass_on(there[0], back[1], 0);
		break;
	case FUTEX_A:
	case FUTEX_B:
		take_turns(which == FUTEX_B);
		break;
	default:
		call_on();
	}
	done->lasting[which].switches = mark("end") - before;
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

/* As many threads as a batch are there at once, for a moment. */
static void *breed(void *arg)
{
	pthread_t threads[BATCH];
	pthread_attr_t attr;
	int n;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	while (!stopping()) {
		for (n = 0; n < BATCH; n++)
			if (pthread_create(&threads[n], &attr, nothing, NULL))
				break;
		count(&done->threads, (u64)n);
		while (n--)
			pthread_join(threads[n], NULL);
	}
	return arg;
}

static void *fork_on(void *arg)
{
	while (!stopping()) {
		pid_t child = (pid_t)syscall(SYS_fork);

		if (child == 0)
			syscall(SYS_exit_group, 0);
		if (child < 0)
			break;
		count(&done->forks, 1);
		waitpid(child, NULL, 0);
	}
	return arg;
}

/* Until @end, but for 2 s at least: a slow kernel takes long to begin the recording. */
static int load(time_t end)
{
	pthread_t threads[NR_LASTING + 2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 19); /* the one who records it comes first */
	while (!__atomic_load_n(&done->go, __ATOMIC_ACQUIRE))
		pause_ms(10);
	if (end < time(NULL) + 2)
		end = time(NULL) + 2;
	for (long i = 0; i < NR_LASTING + 2; i++)
		if (pthread_create(&threads[i], NULL,
				   i < NR_LASTING    ? lasting
				   : i == NR_LASTING ? breed
						     : fork_on,
				   (void *)i))
			return 1;
	count(&done->threads, NR_LASTING + 2);
	while (time(NULL) < end)
		pause_ms(100);
	__atomic_store_n(&done->stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_LASTING + 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* The recording -------------------------------------------------------------------------------- */

/* Bytes of a payload without the text of its string, and whether it has one. */
struct form {
	unsigned short bytes;
	unsigned char text;
};
#define T_u32 4
#define T_s32 4
#define T_x32 4
#define T_u64 8
#define T_s64 8
#define T_x64 8
#define F(type, name) +T_##type
#define S(name) +4
#define NONE(type, name)
#define ONE(name) +1
#define FORM(id, name) [id] = {0 JIS_FIELDS_##name(F, S), 0 JIS_FIELDS_##name(NONE, ONE)},
static const struct form forms[JIS_MAX_EVENT_ID] = {
	JIS_EVENTS_KERNEL(FORM) JIS_EVENTS_KERNEL_RARE(FORM) JIS_EVENTS_COMMON(FORM)};

static struct {
	const unsigned char *ring;
	u64 packets, lost, stored[JIS_MAX_EVENT_ID];
} cpus[MAX_CPUS];
static struct jis_setup setup;
static int device;

/* Of a lasting thread: switches since its last "begin", and as of its last "end". */
static struct seen {
	long since, at_end;
	u64 begin, end;
} seen[NR_LASTING];

/* What is looked at of each record: its time, since CPUs are read one after the other. */
struct note {
	u64 time;
	unsigned int tid;
	unsigned char what; /* 0 switched away, 1 begin, 2 end */
};
static struct note *notes;
static size_t nr_notes, room;

static void note(u64 time, unsigned int tid, unsigned char what)
{
	if (nr_notes == room) {
		room = room ? room * 2 : 65536;
		notes = realloc(notes, room * sizeof(*notes));
		if (!notes)
			die("notes");
	}
	notes[nr_notes++] = (struct note){time, tid, what};
}

static void look(unsigned int id, const unsigned char *p, u64 time)
{
	const struct jis_ev_sched_switch *sw = (const void *)p;
	const struct jis_ev_task_rename *name = (const void *)p;

	if (id == JIS_EV_sched_switch)
		note(time, sw->prev_tid, 0);
	else if (id == JIS_EV_task_rename && !strcmp(name->comm, "begin"))
		note(time, name->tid, 1);
	else if (id == JIS_EV_task_rename && !strcmp(name->comm, "end"))
		note(time, name->tid, 2);
}

static unsigned int get32(const unsigned char *p)
{
	unsigned int v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns the byte behind the record, or NULL. */
static const unsigned char *record(unsigned int cpu, const unsigned char *p,
				   const unsigned char *end, u64 *time)
{
	unsigned int word = get32(p), id = word % 32, bytes;

	p += 4;
	if (id == JIS_ID_EXTENDED) {
		id = get32(p);
		memcpy(time, p + 4, 8);
		p += 12;
	} else {
		*time += ((word >> 5) - *time) & JIS_TIME_MASK;
	}
	if (id >= JIS_MAX_EVENT_ID || !forms[id].bytes)
		return NULL;
	bytes = forms[id].bytes;
	if (p + bytes > end)
		return NULL;
	if (forms[id].text)
		bytes += get32(p + bytes - 4);
	if (p + bytes > end)
		return NULL;
	look(id, p, *time);
	cpus[cpu].stored[id]++;
	return p + bytes;
}

static void packet(unsigned int cpu, const struct jis_packet_header *h, unsigned int bytes)
{
	const unsigned char *p = (const void *)(h + 1), *end = (const unsigned char *)h + bytes;
	u64 time = h->timestamp_begin;

	if (h->packet_seq != cpus[cpu].packets++ || h->content_size != bytes * 8ull)
		wrong("cpu %u: packet %llu where %llu is due", cpu, (u64)h->packet_seq,
		      cpus[cpu].packets - 1);
	cpus[cpu].lost = h->events_discarded;
	while (p && p < end)
		p = record(cpu, p, end, &time);
	if (!p || time != h->timestamp_end)
		wrong("cpu %u: packet %llu does not decode", cpu, (u64)h->packet_seq);
}

static void drain(int most)
{
	struct jis_get_packet got = {.size = sizeof(got)};

	for (got.cpu = 0; got.cpu < setup.nr_cpus && got.cpu < MAX_CPUS; got.cpu++) {
		for (int n = 0; n != most && !ioctl(device, JIS_IOC_GET_PACKET, &got); n++) {
			if (!cpus[got.cpu].ring)
				cpus[got.cpu].ring =
					mmap(NULL, setup.ring_bytes, PROT_READ, MAP_SHARED, device,
					     (off_t)JIS_MMAP_RING(got.cpu));
			if (cpus[got.cpu].ring == MAP_FAILED)
				die("mmap");
			packet(got.cpu,
			       (const void *)(cpus[got.cpu].ring +
					      (size_t)got.index * setup.packet_size),
			       got.bytes);
			add(&stats->packets, 1);
		}
	}
}

static void open_session(void)
{
	static struct jis_syscalls calls;

	setup = (struct jis_setup){.size = sizeof(setup),
				   .abi_version = JIS_ABI_VERSION,
				   .clock = JIS_CLOCK_TSC,
				   .buffer_bytes = 32u << 20};
	calls_select(&calls);
	device = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, JIS_IOC_SETUP, &setup) ||
	    ioctl(device, JIS_IOC_SYSCALLS, &calls))
		die(JIS_DEVICE);
	add(&stats->sessions, 1);
}

static int by_time(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void follow_notes(void)
{
	qsort(notes, nr_notes, sizeof(*notes), by_time);
	for (size_t i = 0; i < nr_notes; i++) {
		for (int t = 0; t < NR_LASTING; t++) {
			if ((int)notes[i].tid != done->lasting[t].tid)
				continue;
			if (notes[i].what == 0)
				seen[t].since++;
			else if (notes[i].what == 1)
				seen[t].since = 0, seen[t].begin++;
			else
				seen[t].at_end = seen[t].since, seen[t].end++;
		}
	}
}

static void must_be(const char *what, u64 produced, u64 made)
{
	if (produced != made)
		wrong("%s: %llu were made, %llu are recorded or counted as lost", what, made,
		      produced);
}

static void check_switches(u64 lost_switches, u64 lost_renames)
{
	follow_notes();
	for (int t = 0; t < NR_LASTING; t++) {
		long is = seen[t].at_end, due = done->lasting[t].switches;

		if (!seen[t].begin || !seen[t].end) {
			if (!lost_renames)
				wrong("thread %d: no begin or no end", done->lasting[t].tid);
			continue;
		}
		if (lost_renames)
			continue; /* the last ones may be missing */
		if (is > due || is < due - (long)lost_switches)
			wrong("thread %d (%d): switched away %ld times, %ld are recorded, %llu "
			      "lost",
			      done->lasting[t].tid, t, due, is, lost_switches);
	}
}

static void check(void)
{
	u64 produced[JIS_MAX_EVENT_ID] = {0}, lost[JIS_MAX_EVENT_ID] = {0}, all = 0, gone = 0;
	struct jis_counters c = {.size = sizeof(c)};

	for (c.cpu = 0; c.cpu < setup.nr_cpus && c.cpu < MAX_CPUS; c.cpu++) {
		u64 lost_here = 0;

		if (ioctl(device, JIS_IOC_COUNTERS, &c))
			die("counters");
		for (int id = 0; id < JIS_MAX_EVENT_ID; id++) {
			if (c.produced[id] != cpus[c.cpu].stored[id] + c.lost[id])
				wrong("cpu %u type %d: produced %llu stored %llu lost %llu", c.cpu,
				      id, (u64)c.produced[id], cpus[c.cpu].stored[id],
				      (u64)c.lost[id]);
			produced[id] += c.produced[id];
			lost[id] += c.lost[id];
			lost_here += c.lost[id];
			all += c.produced[id];
		}
		/* a CPU for which there was no memory has no packet to tell it in */
		if (cpus[c.cpu].packets && lost_here != cpus[c.cpu].lost)
			wrong("cpu %u: lost %llu told %llu", c.cpu, lost_here, cpus[c.cpu].lost);
		gone += lost_here;
	}
	must_be("forks", produced[JIS_EV_sched_process_fork], done->threads + done->forks);
	must_be("exits", produced[JIS_EV_sched_process_exit], done->threads + done->forks + 1);
	must_be("getppid", produced[JIS_EV_syscall_enter], done->calls);
	must_be("reads and writes", produced[JIS_EV_syscall_io], done->reads + done->writes);
	check_switches(lost[JIS_EV_sched_switch], lost[JIS_EV_task_rename]);
	add(&stats->events, all - gone);
	add(&stats->lost, gone);
	add(&stats->witnessed, 1);
	add(&stats->exact, !gone);
	printf("events %llu lost %llu threads %llu forks %llu calls %llu pipe %llu switches",
	       all - gone, gone, done->threads, done->forks, done->calls,
	       done->reads + done->writes);
	for (int t = 0; t < NR_LASTING; t++)
		printf(" %ld/%ld", seen[t].at_end, done->lasting[t].switches);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct jis_target target = {.size = sizeof(target), .flags = JIS_TARGET_CHILDREN};
	time_t begin = time(NULL);
	int seconds = argc > 1 ? atoi(argv[1]) : 10, status = -1;
	pid_t child;

	stats = stats_map();
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || pipe(there) || pipe(back))
		die("set-up");
	child = fork();
	if (child == 0)
		_exit(load(begin + seconds));
	open_session();
	target.pid = (unsigned int)child;
	if (ioctl(device, JIS_IOC_START) || ioctl(device, JIS_IOC_TARGET_ADD, &target))
		die("start");
	__atomic_store_n(&done->go, 1, __ATOMIC_RELEASE);
	while (waitpid(child, &status, WNOHANG) == 0) {
		ioctl(device, JIS_IOC_FLUSH);
		drain(64);
		pause_ms(50);
	}
	if (ioctl(device, JIS_IOC_STOP))
		die("stop");
	drain(-1);
	if (status)
		wrong("the load ended with 0x%x", status);
	check();
	return errors != 0;
}
