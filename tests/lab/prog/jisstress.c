// SPDX-License-Identifier: MIT
/*
 * jisstress: everything at once. Sessions on everything the machine does, opened, drained and
 * closed without an end, some with memory allocations that fail; loads that make events as fast as
 * they can; `jis record`; CPUs that go and come; a recorder or a target killed at random several
 * times a second and another in its place.
 *
 *   jisstress round SECONDS JIS DIR   for so long, beside a jiswitness; traces go to DIR
 *   jisstress nth                     each allocation of each call of a session fails once
 *   jisstress sums                    prints the sums of all rounds: $STRESS_STATS
 *
 * A round's status is that of its jiswitness.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "stress.h"

static struct stats *stats;
static const char *self_dir, *jis, *traces;
static time_t end;

/* Memory allocations of this process fail now and then, where the kernel can do that. */
static void fail_allocations(void)
{
	int fd = open("/proc/self/make-it-fail", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1", 1) != 1)
		perror("make-it-fail");
	close(fd);
}

/* An ioctl whose result is not looked at, but for its lack of memory. */
static int call(int fd, unsigned long nr, void *arg)
{
	int result = ioctl(fd, nr, arg);

	add(&stats->ioctls, 1);
	if (result < 0 && errno == ENOMEM)
		add(&stats->failed, 1);
	return result;
}

/* In a child: ends with @parent, which may have been killed already. */
static void end_with(pid_t parent, int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(1);
}

/* Loads -----------------------------------------------------------------------------------------
 */

static void *breed(void *arg)
{
	(void)arg;
	return NULL;
}

/* Threads by the dozen, all gone before the next dozen. */
static void load_threads(void)
{
	pthread_t threads[32];
	pthread_attr_t attr;
	int n;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64u << 10);
	for (;;) {
		for (n = 0; n < 32 && !pthread_create(&threads[n], &attr, breed, NULL); n++)
			;
		while (n--)
			pthread_join(threads[n], NULL);
	}
}

static void load_calls(void)
{
	for (;;)
		syscall(SYS_getppid);
}

static void load_pipe(void)
{
	int there[2], back[2];
	pid_t self = getpid();
	char c = 0;

	if (pipe(there) || pipe(back))
		_exit(1);
	if (fork() == 0) {
		end_with(self, SIGKILL); /* else it would wait for ever */
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	while (write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
		;
}

/* What the descriptors of load_sockets() are, while they are becoming others. */
#define MET 200

static void *use_sockets(void *arg)
{
	char c = 0;

	for (;;) {
		send(MET, &c, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		recv(MET + 1, &c, 1, MSG_DONTWAIT);
	}
	return arg;
}

/* Unix sockets get their names, meet and go, as fast as they can, while another thread uses them.
 */
static void load_sockets(void)
{
	const struct sockaddr_un none = {
		.sun_family = AF_UNIX}; /* bound so it gets a name of the kernel's */
	pthread_t user;

	pthread_create(&user, NULL, use_sockets, NULL);
	for (unsigned int n = 0;; n++) {
		int type = n % 2 ? SOCK_STREAM : SOCK_SEQPACKET, met = -1;
		int server = socket(AF_UNIX, type, 0), client = socket(AF_UNIX, type, 0);
		struct sockaddr_un at;
		socklen_t size = sizeof(at);

		dup2(client, MET);
		if (bind(server, (const void *)&none, sizeof(none.sun_family)) == 0 &&
		    listen(server, 1) == 0 && getsockname(server, (void *)&at, &size) == 0 &&
		    connect(client, (void *)&at, size) == 0)
			met = accept(server, NULL, NULL);
		dup2(met, MET + 1);
		bind(client, (const void *)&none, sizeof(none.sun_family));
		close(server);
		close(client);
		close(met);
	}
}

static void load_children(void)
{
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}

static void run_calls(unsigned long *r)
{
	(void)r;
	load_calls();
}

static void run_load(unsigned long *r)
{
	static void (*const loads[])(void) = {load_threads,  load_calls, load_pipe,
					      load_children, load_calls, load_sockets};

	loads[rnd(r) % 6]();
	_exit(0);
}

/* Recorders ---------------------------------------------------------------------------------------
 */

struct session {
	int fd;
	struct jis_setup setup;
	unsigned long produced, lost; /* as added to the sums */
	const unsigned char *rings[MAX_CPUS];
};

/* What is new is added at once: a recorder may be killed at any moment. */
static void session_sum(struct session *s)
{
	struct jis_status st = {.size = sizeof(st)};

	if (call(s->fd, JIS_IOC_STATUS, &st) || st.state == JIS_SESSION_NEW)
		return;
	add(&stats->events, st.produced - st.lost - (s->produced - s->lost));
	add(&stats->lost, st.lost - s->lost);
	s->produced = st.produced;
	s->lost = st.lost;
}

/* Gets packets, and looks at the begin of each through the mapping. */
static void session_drain(struct session *s, int most)
{
	struct jis_get_packet got = {.size = sizeof(got)};

	for (got.cpu = 0; got.cpu < s->setup.nr_cpus && got.cpu < MAX_CPUS; got.cpu++) {
		const unsigned char **ring = &s->rings[got.cpu];

		for (int n = 0; n < most && !ioctl(s->fd, JIS_IOC_GET_PACKET, &got); n++) {
			const struct jis_packet_header *h;

			add(&stats->packets, 1);
			if (!*ring) {
				void *m = mmap(NULL, s->setup.ring_bytes, PROT_READ, MAP_SHARED,
					       s->fd, (off_t)JIS_MMAP_RING(got.cpu));

				if (m == MAP_FAILED) {
					add(&stats->failed, errno == ENOMEM);
					break;
				}
				*ring = m;
			}
			h = (const void *)(*ring + (size_t)got.index * s->setup.packet_size);
			if (h->magic != JIS_PACKET_MAGIC || h->content_size != got.bytes * 8ull) {
				printf("wrong: packet %u of cpu %u\n", got.index, got.cpu);
				abort();
			}
		}
	}
}

static int session_open(struct session *s, unsigned long *r, unsigned int bytes)
{
	memset(s, 0, sizeof(*s));
	s->setup = (struct jis_setup){.size = sizeof(s->setup),
				      .abi_version = JIS_ABI_VERSION,
				      .clock = rnd(r) % 4 ? JIS_CLOCK_TSC : JIS_CLOCK_RAW,
				      .buffer_bytes = bytes};
	if (rnd(r) % 4 == 0)
		s->setup.flags |= JIS_SETUP_ALL_SWITCHES;
	if (rnd(r) % 4 == 0)
		s->setup.flags |= JIS_SETUP_FLIGHT_RECORDER;
	if (rnd(r) % 4 == 0)
		s->setup.families = (unsigned int)(rnd(r) & JIS_FAMILIES);
	s->fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	if (s->fd < 0) {
		add(&stats->failed, errno == ENOMEM);
		return -1;
	}
	if (call(s->fd, JIS_IOC_SETUP, &s->setup)) {
		close(s->fd);
		return -1;
	}
	add(&stats->sessions, 1);
	return 0;
}

static void session_close(struct session *s)
{
	for (int i = 0; i < MAX_CPUS; i++)
		if (s->rings[i])
			munmap((void *)s->rings[i], s->setup.ring_bytes);
	session_sum(s);
	close(s->fd);
}

static void session_calls(const struct session *s)
{
	static struct jis_syscalls calls;

	calls_select(&calls);
	call(s->fd, JIS_IOC_SYSCALLS, &calls);
}

/* Many sessions at once that record all there is, for some seconds at a time: a call is as many
 * records. */
enum { AT_ONCE = 12 };

static int recorder_open(struct session *s, unsigned long *r)
{
	struct jis_target all = {.size = sizeof(all), .kind = JIS_TARGET_ALL};

	if (session_open(s, r, 512u << 10))
		return -1;
	session_calls(s);
	call(s->fd, JIS_IOC_START, NULL);
	call(s->fd, JIS_IOC_TARGET_ADD, &all);
	return 0;
}

static void run_recorder(unsigned long *r)
{
	struct session s[AT_ONCE];
	int n;

	for (;;) {
		unsigned long rounds = 25 + rnd(r) % 500;

		for (n = 0; n < AT_ONCE && !recorder_open(&s[n], r); n++)
			;
		while (rounds--) {
			pause_ms(20);
			for (int i = 0; i < n; i++) {
				struct pollfd p = {s[i].fd, POLLIN, 0};

				if (poll(&p, 1, 0) > 0)
					session_drain(&s[i], 64);
				session_sum(&s[i]);
			}
		}
		while (n--) {
			if (rnd(r) % 2) {
				call(s[n].fd, JIS_IOC_STOP, NULL);
				session_drain(&s[n], 1000000);
			}
			session_close(&s[n]);
		}
	}
}

/* Any call at any moment, while allocations fail. */
static void wild_step(struct session *s, unsigned long *r)
{
	struct jis_target t = {.size = sizeof(t)};
	struct jis_pool_create p = {.size = sizeof(p),
				    .pid = (unsigned int)getpid(),
				    .bytes = 65536,
				    .words_offset = 32768,
				    .nr_words = 256};

	switch (rnd(r) % 12) {
	case 0:
		call(s->fd, JIS_IOC_START, NULL);
		break;
	case 1:
		call(s->fd, JIS_IOC_PAUSE, NULL);
		break;
	case 2:
		call(s->fd, JIS_IOC_RESUME, NULL);
		break;
	case 3:
		call(s->fd, rnd(r) % 8 ? JIS_IOC_FLUSH : JIS_IOC_STOP, NULL);
		break;
	case 4:
		call(s->fd, rnd(r) % 2 ? JIS_IOC_FREEZE : JIS_IOC_THAW, NULL);
		break;
	case 5:
		call(s->fd, JIS_IOC_DUMP, NULL);
		break;
	case 6:
		session_calls(s);
		break;
	case 7:
		if (!call(s->fd, JIS_IOC_POOL_CREATE, &p))
			close(p.fd);
		break;
	case 8:
	case 9:
		t.pid = (unsigned int)stats->pids[rnd(r) % MAX_PIDS];
		t.kind = (unsigned int)(rnd(r) % 2);
		t.flags = t.kind ? 0 : JIS_TARGET_CHILDREN;
		call(s->fd, rnd(r) % 3 ? JIS_IOC_TARGET_ADD : JIS_IOC_TARGET_REMOVE, &t);
		break;
	case 10:
		t.kind = rnd(r) % 2 ? JIS_TARGET_ALL : JIS_TARGET_EXECUTABLE;
		if (t.kind == JIS_TARGET_EXECUTABLE)
			strcpy(t.name, "true");
		call(s->fd, rnd(r) % 3 ? JIS_IOC_TARGET_ADD : JIS_IOC_TARGET_REMOVE, &t);
		break;
	default:
		session_drain(s, 8);
		session_sum(s);
	}
}

static void run_wild(unsigned long *r)
{
	struct session s;

	fail_allocations();
	for (;;) {
		unsigned long steps = rnd(r) % (rnd(r) % 4 ? 6 : 60);

		if (session_open(&s, r, 1u << 20))
			continue;
		while (steps--)
			wild_step(&s, r);
		session_close(&s);
		pause_ms(rnd(r) % 100); /* a CPU that does nothing else leaves the loads none */
	}
}

/* The recorder itself, on one of the loads. */
static void run_tool(unsigned long *r)
{
	char pid[16], directory[512];
	pid_t self = getpid();

	for (int n = 0;; n++) {
		pid_t child;

		snprintf(pid, sizeof(pid), "%d", stats->pids[rnd(r) % MAX_PIDS]);
		snprintf(directory, sizeof(directory), "%s/%d-%d", traces, getpid(), n);
		add(&stats->tools, 1);
		child = fork();
		if (child == 0) {
			int null = open("/dev/null", O_WRONLY);

			end_with(self, rnd(r) % 2 ? SIGKILL : SIGTERM);
			dup2(null, 1);
			dup2(null, 2);
			execl(jis, "jis", "record", "--backend", "kmod", "--syscalls",
			      "getppid,read,write,futex", "--max-size", "8M", "--duration", "3s",
			      "-o", directory, "-p", pid, NULL);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		pause_ms(rnd(r) % 500);
	}
}

/* CPUs --------------------------------------------------------------------------------------------
 */

static int cpu_online(int cpu, const char *on)
{
	char path[64];
	int fd, ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, on, 1) == 1;
	close(fd);
	return ok;
}

/* One CPU but the first goes, and comes back; not killed, so that it does. */
static void run_hotplug(unsigned long *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	pause_ms((unsigned long)(end - time(NULL)) * 250); /* sessions cannot begin meanwhile */
	while (time(NULL) < end && cpus > 1) {
		int cpu = 1 + (int)(rnd(r) % (unsigned long)(cpus - 1));

		if (cpu_online(cpu, "0"))
			add(&stats->offlines, 1);
		pause_ms(rnd(r) % 300);
		while (!cpu_online(cpu, "1"))
			pause_ms(50);
		pause_ms(12000 + rnd(r) % 12000);
	}
	_exit(0);
}

/* A round -----------------------------------------------------------------------------------------
 */

static void run_witness(unsigned long *r)
{
	char program[512], seconds[16];

	(void)r;
	snprintf(program, sizeof(program), "%s/jiswitness", self_dir);
	snprintf(seconds, sizeof(seconds), "%ld", (long)(end - time(NULL)));
	execl(program, "jiswitness", seconds, NULL);
	_exit(127);
}

enum { LOADS = 5, SLOTS = 13 };
static struct {
	void (*run)(unsigned long *r);
	int last; /* until the round ends, and not killed */
	pid_t pid;
} slots[SLOTS] = {
	{run_load, 0, 0},     {run_load, 0, 0},	    {run_load, 0, 0},	  {run_calls, 0, 0},
	{run_calls, 0, 0},    {run_recorder, 0, 0}, {run_recorder, 0, 0}, {run_recorder, 0, 0},
	{run_recorder, 0, 0}, {run_wild, 0, 0},	    {run_tool, 0, 0},	  {run_hotplug, 1, 0},
	{run_witness, 1, 0},
};

static void slot_start(int i, unsigned long *r)
{
	unsigned long seed = rnd(r);

	slots[i].pid = fork();
	if (slots[i].pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* loads leave room for the kernel's own threads, which sessions and CPUs wait for
		 */
		setpriority(PRIO_PROCESS, 0, i < LOADS ? 19 : 0);
		slots[i].run(&seed);
		_exit(0);
	}
	if (i < LOADS)
		stats->pids[i] = slots[i].pid;
}

static void slot_kill(int i)
{
	kill(slots[i].pid, SIGKILL);
	add(i < LOADS ? &stats->killed_targets : &stats->killed_recorders, 1);
}

/* Whoever has ended is replaced, until the round ends. A packet found wrong ends it. */
static int reap(unsigned long *r, int replace)
{
	int status, wrong = 0, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, replace ? WNOHANG : 0)) > 0) {
		for (i = 0; i < SLOTS && slots[i].pid != pid; i++)
			;
		if (i == SLOTS)
			continue; /* an orphan of one killed */
		slots[i].pid = 0;
		wrong |= WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
		if (slots[i].last)
			wrong |= status != 0;
		else if (replace)
			slot_start(i, r);
	}
	return wrong;
}

static int run_round(int seconds)
{
	unsigned long r = (unsigned long)time(NULL) * 2654435761u + (unsigned long)getpid();
	int wrong = 0;

	end = time(NULL) + seconds;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < SLOTS; i++)
		slot_start(i, &r);
	for (int i = LOADS; i < MAX_PIDS; i++)
		stats->pids[i] = stats->pids[i % LOADS];
	while (time(NULL) < end && !wrong) {
		int i = (int)(rnd(&r) % SLOTS);

		pause_ms(100 + rnd(&r) % 2000);
		/* a recorder lives long enough to record: its sessions take seconds to begin */
		if (!slots[i].last && (slots[i].run != run_recorder || rnd(&r) % 6 == 0))
			slot_kill(i);
		wrong = reap(&r, 1);
		for (i = LOADS; i < MAX_PIDS; i++)
			stats->pids[i] = stats->pids[i % LOADS];
	}
	for (int i = 0; i < SLOTS; i++)
		if (!slots[i].last && slots[i].pid)
			slot_kill(i);
	return wrong | reap(&r, 0);
}

/* Allocations that fail one by one ----------------------------------------------------------------
 */

static int nth;	      /* /proc/thread-self/fail-nth */
static int cgroup_fd; /* opened before: what fails is the session's, not the test's own look-up */

/* The @n-th allocation or copy from now on fails. */
static void fail_nth(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	if (pwrite(nth, text, strlen(text), 0) < 0) {
		printf("wrong: fail-nth: %s\n", strerror(errno));
		exit(1);
	}
}

/* Has it failed by now? Whether or not, no other will. What fails here is this very look. */
static int has_failed(void)
{
	char text[16] = "";
	int looked = pread(nth, text, sizeof(text) - 1, 0) > 0, left = atoi(text);

	while (left && pwrite(nth, "0", 1, 0) != 1)
		;
	return looked && !left;
}

enum {
	OPEN,
	SETUP,
	CALLS,
	ADD_PROCESS,
	ADD_THREAD,
	ADD_CGROUP,
	ADD_NAME,
	ADD_ALL,
	START,
	POOL,
	DUMP,
	PAUSE,
	RESUME,
	MMAP,
	COUNTERS,
	FREEZE,
	STOP,
	CLOSE,
	NR_CALLS
};
static const char *const names[] = {"open",   "setup",	    "syscalls", "process", "thread",
				    "cgroup", "executable", "all",	"start",   "pool",
				    "dump",   "pause",	    "resume",	"mmap",	   "counters",
				    "freeze", "stop",	    "close"};

static int nth_target(int fd, unsigned int kind)
{
	struct jis_target t = {.size = sizeof(t), .kind = kind};

	if (kind == JIS_TARGET_PROCESS || kind == JIS_TARGET_THREAD)
		t.pid = (unsigned int)getpid();
	if (kind == JIS_TARGET_CGROUP)
		t.fd = cgroup_fd;
	if (kind == JIS_TARGET_EXECUTABLE)
		strcpy(t.name, "true");
	return ioctl(fd, JIS_IOC_TARGET_ADD, &t);
}

/* Call number @what on the session; *fd is set by the first. Returns 0 or -1. */
static int nth_call(int what, struct session *s)
{
	static struct jis_syscalls calls;
	struct jis_counters c = {.size = sizeof(c)};
	struct jis_pool_create p = {.size = sizeof(p),
				    .pid = (unsigned int)getpid(),
				    .bytes = 1u << 20};
	void *m;
	int result;

	switch (what) {
	case OPEN:
		s->fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
		return s->fd < 0 ? -1 : 0;
	case SETUP:
		s->setup = (struct jis_setup){.size = sizeof(s->setup),
					      .abi_version = JIS_ABI_VERSION,
					      .flags = JIS_SETUP_FLIGHT_RECORDER,
					      .clock = JIS_CLOCK_TSC,
					      .families = JIS_FAMILIES & ~JIS_FAMILY_FAULT,
					      .buffer_bytes = 256u << 10};
		return ioctl(s->fd, JIS_IOC_SETUP, &s->setup);
	case CALLS:
		calls_select(&calls);
		return ioctl(s->fd, JIS_IOC_SYSCALLS, &calls);
	case START:
		return ioctl(s->fd, JIS_IOC_START);
	case POOL:
		result = ioctl(s->fd, JIS_IOC_POOL_CREATE, &p);
		if (!result)
			close(p.fd);
		return result;
	case DUMP:
		return ioctl(s->fd, JIS_IOC_DUMP);
	case PAUSE:
		return ioctl(s->fd, JIS_IOC_PAUSE);
	case RESUME:
		return ioctl(s->fd, JIS_IOC_RESUME);
	case MMAP:
		m = mmap(NULL, s->setup.ring_bytes, PROT_READ, MAP_SHARED, s->fd, 0);
		if (m != MAP_FAILED)
			munmap(m, s->setup.ring_bytes);
		return m == MAP_FAILED ? -1 : 0;
	case COUNTERS:
		return ioctl(s->fd, JIS_IOC_COUNTERS, &c);
	case FREEZE:
		return ioctl(s->fd, JIS_IOC_FREEZE);
	case STOP:
		return ioctl(s->fd, JIS_IOC_STOP);
	case CLOSE:
		return close(s->fd);
	default:
		return nth_target(s->fd, what - ADD_PROCESS + JIS_TARGET_PROCESS);
	}
}

/*
 * A session whose call @what has its @n-th allocation fail, and goes on as if nothing had happened.
 * Returns whether there was an @n-th. A call that fails says ENOMEM, and can be made again.
 */
static int nth_try(int what, int n, unsigned long *errors)
{
	struct session s = {.fd = -1};
	int failed = 0, result, error, i;

	for (i = 0; i < NR_CALLS; i++) {
		if (i != what) {
			if (nth_call(i, &s)) {
				printf("wrong: %s after %s with failure %d: %s\n", names[i],
				       names[what], n, strerror(errno));
				exit(1);
			}
			continue;
		}
		fail_nth(n);
		result = nth_call(i, &s);
		error = errno;
		failed = has_failed();
		if (!result)
			continue;
		++*errors;
		if (error == EFAULT) {
			close(s.fd);
			break;
		}
		if (error != ENOMEM) {
			printf("wrong: %s with failure %d: %s\n", names[i], n, strerror(error));
			exit(1);
		}
		if (nth_call(i, &s)) {
			printf("wrong: %s once more after failure %d: %s\n", names[i], n,
			       strerror(errno));
			exit(1);
		}
	}
	return failed;
}

static int run_nth(void)
{
	unsigned long all = 0;

	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth < 0) {
		printf("this kernel cannot fail allocations\n");
		return 77;
	}
	cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup_fd < 0) {
		printf("wrong: /sys/fs/cgroup: %s\n", strerror(errno));
		return 1;
	}
	for (int what = 0; what < NR_CALLS; what++) {
		unsigned long errors = 0;
		int n = 1;

		while (nth_try(what, n, &errors))
			n++;
		printf("%s: %d failures, %lu errors\n", names[what], n - 1, errors);
		fflush(stdout);
		all += (unsigned long)n - 1;
	}
	printf("%lu failures\n", all);
	return 0;
}

int main(int argc, char **argv)
{
	static char path[512];
	const char *what = argc > 1 ? argv[1] : "";

	stats = stats_map();
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 && strrchr(path, '/'))
		*strrchr(path, '/') = 0;
	self_dir = path;
	if (!strcmp(what, "sums")) {
		printf("events %lu lost %lu packets %lu sessions %lu ioctls %lu enomem %lu "
		       "killed_recorders %lu "
		       "killed_targets %lu tools %lu offlines %lu witnessed %lu exact %lu\n",
		       stats->events, stats->lost, stats->packets, stats->sessions, stats->ioctls,
		       stats->failed, stats->killed_recorders, stats->killed_targets, stats->tools,
		       stats->offlines, stats->witnessed, stats->exact);
		return 0;
	}
	if (!strcmp(what, "nth"))
		return run_nth();
	if (argc < 5 || strcmp(what, "round"))
		return 2;
	jis = argv[3];
	traces = argv[4];
	return run_round(atoi(argv[2]));
}
