// SPDX-License-Identifier: MIT
/*
 * jisreason: programs whose reasons for being off the CPU are known; each says what it did.
 *
 *   jisreason disk FILE N     N reads of 4 KiB with O_DIRECT between its renames to "begin" and
 *                             "end"; prints how often it waited
 *   jisreason attributes      changes nice value, policy, priority and affinity of its own, prints
 *                             each as "attributes TID policy prio nice nr_cpus cpus"
 *   jisreason attributed      the same of a child, changed by its parent while it sleeps in a pipe
 *   jisreason boosted         the same of a thread that lends its mutex's waiter's priority
 *   jisreason wakers N        three threads sleep N times each: "sleeper TID" in nanosleep, "timer
 *                             TID" in a timerfd, "reader TID" in a pipe that "writer TID CPU"
 *                             writes to, there; "receiver TID" N times more for what it sends it
 *   jisreason spin SECONDS CPU       busy there; prints its tid, and "switches" it was made to take
 *   jisreason hop N           moves N times between CPUs 0 and 1; prints what /proc counted
 *   jisreason ends            a process of 3 threads killed, one that calls exit(3) in a thread
 *   jisreason fault FILE      reads a byte of each page of a mapping of FILE, dropped from memory;
 *                             says where its own code is, "text FROM TO"
 *   jisreason signals N       N times SIGUSR1 to itself
 *   jisreason threads N       N threads at once, then none
 *   jisreason irq SECONDS CPU  busy there, in short sleeps
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int die(const char *what)
{
	perror(what);
	exit(3);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static int disk(const char *file, int n)
{
	int fd = open(file, O_RDONLY | O_DIRECT);
	struct rusage before, after;
	void *buffer;

	if (fd < 0 || posix_memalign(&buffer, 4096, 4096))
		die(file);
	getrusage(RUSAGE_THREAD, &before);
	prctl(PR_SET_NAME, "begin");
	for (int i = 0; i < n; i++)
		if (pread(fd, buffer, 4096, (off_t)i * 4096) != 4096)
			die("pread");
	prctl(PR_SET_NAME, "end");
	getrusage(RUSAGE_THREAD, &after);
	printf("tid %d waits %ld\n", gettid(), after.ru_nvcsw - before.ru_nvcsw);
	return 0;
}

/* A field of /proc/thread-self/stat behind the name, the state being the third. */
static long stat_field(int field)
{
	char text[1024] = "", *p, *save = NULL;
	FILE *f = fopen("/proc/thread-self/stat", "r");

	if (!f || !fgets(text, sizeof(text), f) || !(p = strrchr(text, ')')))
		die("stat");
	fclose(f);
	p = strtok_r(p + 1, " ", &save);
	for (; p && field > 3; field--)
		p = strtok_r(NULL, " ", &save);
	return p ? atol(p) : -1;
}

/* As the kernel has them: the priority is the one it goes by, which may be lent. */
static void say_attributes(void)
{
	unsigned long mask = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < 64; i++)
		mask |= (unsigned long)CPU_ISSET(i, &set) << i;
	printf("attributes %d policy=%ld prio=%ld nice=%d nr_cpus=%d cpus=0x%lx\n", gettid(),
	       stat_field(41), stat_field(18) + 100, getpriority(PRIO_PROCESS, 0), CPU_COUNT(&set),
	       mask);
	fflush(stdout);
	usleep(2000); /* leaves its CPU and takes one */
}

static int attributes(void)
{
	struct sched_param none = {0}, fifo = {.sched_priority = 7};

	say_attributes();
	setpriority(PRIO_PROCESS, 0, 5);
	say_attributes();
	sched_setscheduler(0, SCHED_BATCH, &none);
	say_attributes();
	pin(1);
	say_attributes();
	sched_setscheduler(0, SCHED_FIFO, &fifo);
	say_attributes();
	sched_setscheduler(0, SCHED_OTHER, &none);
	say_attributes();
	pin(0);
	say_attributes();
	return 0;
}

/* Told each time it is woken; ends when the other end of @in is closed. */
static void tell_woken(int in)
{
	char c;

	say_attributes();
	while (read(in, &c, 1) == 1)
		say_attributes();
	exit(0);
}

/* Is the thread asleep in call @nr? */
static int asleep_in(pid_t tid, int nr)
{
	char path[64], text[256];
	int got = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f) && text[0] >= '0' && text[0] <= '9')
		got = atoi(text);
	if (f)
		fclose(f);
	return got == nr;
}

static void set_policy(pid_t pid, int policy, int priority)
{
	struct sched_param param = {.sched_priority = priority};

	if (sched_setscheduler(pid, policy, &param))
		die("sched_setscheduler");
}

/* As in linux/sched/types.h, whose other names are glibc's too. */
struct deadline {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* ns */
};

/* Change number @i of process @pid. Returns 0 behind the last. */
static int change(pid_t pid, int i)
{
	struct deadline deadline = {.size = sizeof(deadline),
				    .policy = 6,
				    .runtime = 20000000,
				    .deadline = 100000000,
				    .period = 100000000};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	switch (i) {
	case 0:
		return !setpriority(PRIO_PROCESS, (id_t)pid, 7);
	case 1:
		set_policy(pid, SCHED_RR, 3);
		return 1;
	case 2: /* to the same, and there and back: nothing to tell */
		set_policy(pid, SCHED_RR, 3);
		set_policy(pid, SCHED_FIFO, 9);
		set_policy(pid, SCHED_RR, 3);
		return 1;
	case 3: /* all CPUs are allowed still, as it has to be */
		if (syscall(SYS_sched_setattr, pid, &deadline, 0))
			die("sched_setattr");
		return 1;
	case 4:
		set_policy(pid, SCHED_IDLE, 0);
		return 1;
	case 5:
		return !sched_setaffinity(pid, sizeof(set), &set);
	case 6: /* three at once */
		set_policy(pid, SCHED_BATCH, 0);
		CPU_SET(0, &set);
		return !sched_setaffinity(pid, sizeof(set), &set) &&
		       !setpriority(PRIO_PROCESS, (id_t)pid, -4);
	case 7:
		set_policy(pid, SCHED_FIFO, 50);
		return 1;
	case 8:
		set_policy(pid, SCHED_OTHER, 0);
		return 1;
	}
	return 0;
}

static int attributed(void)
{
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (!pid) {
		close(fds[1]);
		tell_woken(fds[0]);
	}
	for (int i = 0;; i++) {
		while (!asleep_in(pid, SYS_read))
			usleep(1000);
		if (!change(pid, i))
			break;
		if (write(fds[1], "", 1) != 1)
			die("write");
		usleep(1000);
	}
	close(fds[1]);
	waitpid(pid, &status, 0);
	return status != 0;
}

static pthread_mutex_t lent;

static void *takes_lent(void *unused)
{
	set_policy(0, SCHED_FIFO, 20);
	pthread_mutex_lock(&lent);
	pthread_mutex_unlock(&lent);
	return unused;
}

static int boosted(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	long own;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lent, &attr);
	say_attributes();
	own = stat_field(18);
	pthread_mutex_lock(&lent);
	pthread_create(&t, NULL, takes_lent, NULL);
	while (stat_field(18) == own)
		usleep(1000);
	say_attributes();
	pthread_mutex_unlock(&lent);
	say_attributes();
	pthread_join(t, NULL);
	return 0;
}

static int rounds;
static int pipe_fds[2];
static int receives;

static void *sleeper(void *unused)
{
	struct timespec t = {.tv_nsec = 3000000};

	printf("sleeper %d\n", gettid());
	for (int i = 0; i < rounds; i++)
		nanosleep(&t, NULL);
	return unused;
}

static void *timer(void *unused)
{
	struct itimerspec t = {.it_interval = {.tv_nsec = 3000000},
			       .it_value = {.tv_nsec = 3000000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t n;

	printf("timer %d\n", gettid());
	timerfd_settime(fd, 0, &t, NULL);
	for (int i = 0; i < rounds; i++)
		if (read(fd, &n, sizeof(n)) != sizeof(n))
			die("timerfd");
	return unused;
}

static void *reader(void *unused)
{
	char c;

	printf("reader %d\n", gettid());
	for (int i = 0; i < rounds; i++)
		if (read(pipe_fds[0], &c, 1) != 1)
			die("read");
	return unused;
}

static void *receiver(void *unused)
{
	char c;

	printf("receiver %d\n", gettid());
	for (int i = 0; i < rounds; i++)
		if (recv(receives, &c, 1, 0) != 1)
			die("recv");
	return unused;
}

/* A datagram to this host is received in the softirq of who sent it. */
static int loopback(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sends = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(address);

	receives = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(receives, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(receives, (struct sockaddr *)&address, &size) ||
	    connect(sends, (struct sockaddr *)&address, sizeof(address)))
		die("loopback");
	return sends;
}

static int wakers(int n)
{
	void *(*const threads[])(void *) = {sleeper, timer, reader, receiver};
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) > 1, sends;
	pthread_t t[4];
	char c = 0;

	rounds = n;
	if (pipe(pipe_fds))
		die("pipe");
	sends = loopback();
	printf("writer %d %d\n", gettid(), cpu);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, threads[i], NULL);
	pin(cpu);
	for (int i = 0; i < n; i++) {
		usleep(3000);
		if (write(pipe_fds[1], &c, 1) != 1)
			die("write");
		usleep(3000);
		if (send(sends, &c, 1, 0) != 1)
			die("send");
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int spin(int length, int cpu, int naps)
{
	double end = seconds() + length;
	struct rusage u;

	pin(cpu);
	printf("tid %d\n", gettid());
	fflush(stdout);
	while (seconds() < end)
		if (naps)
			usleep(500);
	getrusage(RUSAGE_THREAD, &u);
	printf("switches %ld\n", u.ru_nivcsw);
	return 0;
}

/* Migrations the kernel has counted of this thread; -1: it does not tell. */
static long migrations(void)
{
	FILE *f = fopen("/proc/thread-self/sched", "r");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "se.nr_migrations : %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

static int hop(int n)
{
	long before, after;

	pin(0);
	usleep(1000);
	before = migrations();
	prctl(PR_SET_NAME, "begin");
	for (int i = 0; i < n; i++) {
		pin((i + 1) % 2);
		if (sched_getcpu() != (i + 1) % 2)
			die("sched_getcpu");
	}
	prctl(PR_SET_NAME, "end");
	after = migrations();
	printf("tid %d hops %d counted %ld\n", gettid(), n, before < 0 ? -1 : after - before);
	return 0;
}

static void *waits(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *leaves(void *unused)
{
	usleep(10000);
	exit(3);
	return unused;
}

static int ends(void)
{
	pthread_t t;
	pid_t pid;

	pid = fork();
	if (!pid) {
		pthread_create(&t, NULL, waits, NULL);
		pthread_create(&t, NULL, waits, NULL);
		waits(NULL);
	}
	usleep(50000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("killed %d\n", pid);
	fflush(stdout); /* not by the next child too */
	pid = fork();
	if (!pid) {
		pthread_create(&t, NULL, waits, NULL);
		pthread_create(&t, NULL, leaves, NULL);
		waits(NULL);
	}
	waitpid(pid, NULL, 0);
	printf("left %d\n", pid);
	return 0;
}

extern const char __executable_start, etext; /* from the linker */

static int fault(const char *file)
{
	int fd = open(file, O_RDONLY);
	struct stat st;
	unsigned char *p;
	unsigned long sum = 0, pages = 0;
	struct rusage before, after;

	if (fd < 0 || fstat(fd, &st))
		die(file);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, (size_t)st.st_size, MADV_RANDOM); /* no reading ahead */
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	getrusage(RUSAGE_SELF, &before);
	for (off_t i = 0; i < st.st_size; i += 4096, pages++)
		sum += p[i];
	getrusage(RUSAGE_SELF, &after);
	printf("tid %d from %lu to %lu pages %lu major %ld waits %ld sum %lu\n", gettid(),
	       (unsigned long)p, (unsigned long)p + (unsigned long)st.st_size, pages,
	       after.ru_majflt - before.ru_majflt, after.ru_nvcsw - before.ru_nvcsw, sum);
	printf("text %lu %lu\n", (unsigned long)&__executable_start, (unsigned long)&etext);
	return 0;
}

static volatile int handled;

static void handle(int signal)
{
	handled += signal == SIGUSR1;
}

static int signals(int n)
{
	struct sigaction action = {.sa_handler = handle};

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < n; i++)
		kill(getpid(), SIGUSR1);
	printf("tid %d handled %d\n", gettid(), handled);
	return 0;
}

static pthread_barrier_t barrier;

static void *meets(void *unused)
{
	pthread_barrier_wait(&barrier);
	return unused;
}

static int threads(int n)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_barrier_init(&barrier, NULL, (unsigned int)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &attr, meets, NULL))
			die("pthread_create");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "";
	int n = atoi(arg), cpu = argc > 3 ? atoi(argv[3]) : 0;

	if (!strcmp(what, "disk"))
		return disk(arg, cpu);
	if (!strcmp(what, "attributes"))
		return attributes();
	if (!strcmp(what, "attributed"))
		return attributed();
	if (!strcmp(what, "boosted"))
		return boosted();
	if (!strcmp(what, "wakers"))
		return wakers(n);
	if (!strcmp(what, "spin"))
		return spin(n, cpu, 0);
	if (!strcmp(what, "irq"))
		return spin(n, cpu, 1);
	if (!strcmp(what, "hop"))
		return hop(n);
	if (!strcmp(what, "ends"))
		return ends();
	if (!strcmp(what, "fault"))
		return fault(arg);
	if (!strcmp(what, "signals"))
		return signals(n);
	if (!strcmp(what, "threads"))
		return threads(n);
	return 2;
}
