// SPDX-License-Identifier: MIT
/*
 * jisapi: what /dev/jis promises and refuses, call by call. Prints what does not hold; status 0
 * when all does.
 *
 *   jisapi hold SESSIONS BYTES   instead: so many of the smallest sessions; a set of system calls
 *                                in each; a pool of BYTES. Says "sessions", "calls" and "pool" when
 *                                it has them, and goes on after a line of its input
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call32.h"
#include "jis/abi.h"

#ifndef JIS_IOC_TARGET_TEST
#define JIS_IOC_TARGET_TEST _IOW(JIS_IOC_MAGIC, 12, struct jis_target)
#endif

#define PAGE 4096u
#define MANY 2100 /* more processes than there is room for */

static int failures;

/* @result must be @want (an errno negated, 0, or a count). */
#define EXPECT(want, result) expect(__LINE__, #result, want, result)

static void expect(int line, const char *what, long want, long result)
{
	if (want == result)
		return;
	printf("line %d: %s is %ld, not %ld\n", line, what, result, want);
	failures++;
}

static int call(int fd, unsigned long request, void *arg)
{
	int result = ioctl(fd, request, arg);

	return result < 0 ? -errno : result;
}

static int device(void)
{
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(JIS_DEVICE);
		exit(1);
	}
	return fd;
}

static struct jis_setup request(void)
{
	return (struct jis_setup){.size = sizeof(struct jis_setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW};
}

static int session(struct jis_setup *setup)
{
	int fd = device();

	EXPECT(0, call(fd, JIS_IOC_SETUP, setup));
	return fd;
}

static int target(int fd, unsigned long how, pid_t pid, unsigned int flags)
{
	struct jis_target t = {.size = sizeof(t), .flags = flags, .pid = (unsigned int)pid};

	return call(fd, how, &t);
}

static int get(int fd, unsigned int cpu, struct jis_get_packet *got)
{
	*got = (struct jis_get_packet){.size = sizeof(*got), .cpu = cpu};
	return call(fd, JIS_IOC_GET_PACKET, got);
}

static struct jis_status status(int fd)
{
	struct jis_status s = {.size = sizeof(s)};

	EXPECT(0, call(fd, JIS_IOC_STATUS, &s));
	return s;
}

static int try_setup(struct jis_setup setup)
{
	int fd = device(), result = call(fd, JIS_IOC_SETUP, &setup);

	close(fd);
	return result;
}

#define SETUP_WITH(member, value)                                                                  \
	({                                                                                         \
		struct jis_setup with = request();                                                 \
		with.member = value;                                                               \
		try_setup(with);                                                                   \
	})

static void test_setup(void)
{
	struct jis_setup setup = request();
	int fd;

	EXPECT(-EINVAL, SETUP_WITH(size, 0));
	EXPECT(-EINVAL, SETUP_WITH(size, sizeof(setup) + 8));
	EXPECT(-EPROTO, SETUP_WITH(abi_version, JIS_ABI_VERSION + 1));
	EXPECT(-EINVAL, SETUP_WITH(flags, 0x80000000));
	EXPECT(-EINVAL, SETUP_WITH(clock, 0));
	EXPECT(-EINVAL, SETUP_WITH(clock, 3));
	EXPECT(-EINVAL, SETUP_WITH(base, 12345));
	EXPECT(-EINVAL, SETUP_WITH(base, 1ull << 62));
	EXPECT(-EINVAL, SETUP_WITH(reserved[4], 1));
	EXPECT(-EINVAL, SETUP_WITH(packet_size, 1));
	EXPECT(-EINVAL, SETUP_WITH(packet_size, PAGE - 1));
	EXPECT(-EINVAL, SETUP_WITH(packet_size, 3 * PAGE));
	EXPECT(-EINVAL, SETUP_WITH(packet_size, 8u << 20));
	EXPECT(-EINVAL, SETUP_WITH(packet_size, 0x80000000));
	EXPECT(-ERANGE, SETUP_WITH(buffer_bytes, 1));
	EXPECT(-ERANGE, SETUP_WITH(buffer_bytes, 1ull << 40));
	EXPECT(-ERANGE, SETUP_WITH(buffer_bytes, ~0ull));
	EXPECT(-ERANGE, SETUP_WITH(buffer_bytes, ~0ull << 12));
	EXPECT(0, SETUP_WITH(watermark, ~0u));

	setup.packet_size = 16 * PAGE;
	setup.buffer_bytes = 4u << 20;
	fd = session(&setup);
	EXPECT(16 * PAGE, setup.packet_size);
	EXPECT(JIS_SCHEMA_VERSION, setup.schema_version);
	EXPECT((long)setup.ring_bytes, (long)setup.packets_per_cpu * setup.packet_size);
	EXPECT(1, setup.ring_bytes * setup.nr_cpus <= 4u << 20);
	EXPECT(1, status(fd).memory_bytes >= setup.ring_bytes);
	EXPECT(-EBADFD, call(fd, JIS_IOC_SETUP, &setup));
	close(fd);
}

static void test_states(void)
{
	struct jis_setup setup = request();
	struct jis_get_packet got;
	struct jis_status now;
	int fd = device();

	EXPECT(-EBADFD, call(fd, JIS_IOC_START, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_FLUSH, NULL));
	EXPECT(-EBADFD, get(fd, 0, &got));
	EXPECT(-EBADFD, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(JIS_SESSION_NEW, status(fd).state);
	EXPECT(0, call(fd, JIS_IOC_SETUP, &setup));
	EXPECT(-EBADFD, call(fd, JIS_IOC_PAUSE, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_RESUME, NULL));
	EXPECT(-EAGAIN, get(fd, 0, &got));
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	EXPECT(JIS_SESSION_RUNNING, status(fd).state);
	EXPECT(-EBADFD, call(fd, JIS_IOC_START, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_RESUME, NULL));
	EXPECT(0, call(fd, JIS_IOC_PAUSE, NULL));
	EXPECT(JIS_SESSION_PAUSED, status(fd).state);
	EXPECT(-EBADFD, call(fd, JIS_IOC_PAUSE, NULL));
	EXPECT(0, call(fd, JIS_IOC_RESUME, NULL));
	/* the empty packet each stream begins with, and no other */
	EXPECT(0, get(fd, 0, &got));
	EXPECT(JIS_PACKET_HEADER_SIZE, got.bytes);
	EXPECT(0, call(fd, JIS_IOC_FLUSH, NULL));
	EXPECT(-EAGAIN, get(fd, 0, &got));
	EXPECT(-EINVAL, get(fd, setup.nr_cpus, &got));
	EXPECT(-EINVAL, get(fd, ~0u, &got));
	got = (struct jis_get_packet){.size = sizeof(got), .reserved = 1ull << 40};
	EXPECT(-EINVAL, call(fd, JIS_IOC_GET_PACKET, &got));
	now = (struct jis_status){.size = sizeof(now), .reserved[3] = 1};
	EXPECT(-EINVAL, call(fd, JIS_IOC_STATUS, &now));
	now = (struct jis_status){.size = sizeof(now) - 8};
	EXPECT(-EINVAL, call(fd, JIS_IOC_STATUS, &now));
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_START, NULL));
	EXPECT(-EBADFD, call(fd, JIS_IOC_RESUME, NULL));
	EXPECT(-EBADFD, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(JIS_SESSION_STOPPED, status(fd).state);
	EXPECT(-ENOTTY, call(fd, _IO(JIS_IOC_MAGIC, 99), NULL));
	EXPECT(-ENOTTY, call(fd, _IO('T', 1), NULL));
	EXPECT(-EFAULT, call(fd, JIS_IOC_STATUS, NULL));
	EXPECT(-EFAULT, call(fd, JIS_IOC_COUNTERS, (void *)-PAGE));
	close(fd);
}

/* A 32-bit program's calls are the same, in memory it can point to. */
static void test_32_bit(void)
{
#ifdef __x86_64__
	struct {
		struct jis_setup setup;
		struct jis_status status;
		struct jis_get_packet got;
	} *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		      -1, 0);
	int fd = device();

#define CALL32(request, argument) call32(54, fd, (unsigned int)(request), (long)(argument), 0)
	EXPECT(1, low != MAP_FAILED && (unsigned long)low < 1ul << 32);
	EXPECT(-EBADFD, CALL32(JIS_IOC_START, NULL));
	low->status.size = sizeof(low->status);
	low->status.state = 99;
	EXPECT(0, CALL32(JIS_IOC_STATUS, &low->status));
	EXPECT(JIS_SESSION_NEW, low->status.state);
	low->setup = request();
	low->setup.size--;
	EXPECT(-EINVAL, CALL32(JIS_IOC_SETUP, &low->setup));
	low->setup.size++;
	EXPECT(0, CALL32(JIS_IOC_SETUP, &low->setup));
	EXPECT(JIS_SCHEMA_VERSION, low->setup.schema_version);
	EXPECT(1, low->setup.nr_cpus >= 1);
	EXPECT((long)low->setup.ring_bytes,
	       (long)low->setup.packets_per_cpu * low->setup.packet_size);
	EXPECT(-EBADFD, CALL32(JIS_IOC_SETUP, &low->setup));
	EXPECT(0, CALL32(JIS_IOC_START, NULL));
	EXPECT(0, CALL32(JIS_IOC_STATUS, &low->status));
	EXPECT(JIS_SESSION_RUNNING, low->status.state);
	EXPECT(JIS_SESSION_RUNNING, status(fd).state);
	EXPECT((long)status(fd).memory_bytes, (long)low->status.memory_bytes);
	low->got = (struct jis_get_packet){.size = sizeof(low->got)};
	EXPECT(0, CALL32(JIS_IOC_GET_PACKET, &low->got));
	EXPECT(JIS_PACKET_HEADER_SIZE, low->got.bytes);
	EXPECT(-EFAULT, CALL32(JIS_IOC_STATUS, NULL));
	EXPECT(-EFAULT, CALL32(JIS_IOC_STATUS, -PAGE));
	EXPECT(-ENOTTY, CALL32(_IO(JIS_IOC_MAGIC, 99), NULL));
	EXPECT(0, CALL32(JIS_IOC_STOP, NULL));
	EXPECT(JIS_SESSION_STOPPED, status(fd).state);
#undef CALL32
	close(fd);
	munmap(low, PAGE);
#endif
}

static long map(int fd, size_t len, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, len, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, len);
	return 0;
}

static void test_mapping(void)
{
	struct jis_setup setup = request();
	int fd = session(&setup), memory = open("/proc/self/mem", O_RDWR), state;
	size_t len = setup.ring_bytes;
	char *ring;
	pid_t child;

	EXPECT(-EPERM, map(fd, len, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT(-EPERM, map(fd, len, PROT_WRITE, MAP_SHARED, 0));
	EXPECT(-EPERM, map(fd, len, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
	EXPECT(-EINVAL, map(fd, len, PROT_READ, MAP_PRIVATE, 0));
	EXPECT(-EINVAL, map(fd, len - PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT(-EINVAL, map(fd, len + PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT(-EINVAL, map(fd, len, PROT_READ, MAP_SHARED, PAGE));
	EXPECT(-EINVAL, map(fd, len, PROT_READ, MAP_SHARED, (off_t)JIS_MMAP_RING(setup.nr_cpus)));
	EXPECT(-EINVAL, map(fd, len, PROT_READ, MAP_SHARED, (off_t)JIS_MMAP_RING(0x7fffff)));

	ring = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(1, ring != MAP_FAILED);
	EXPECT(-1, mprotect(ring, len, PROT_READ | PROT_WRITE));
	EXPECT(EACCES, errno);
	EXPECT(-1, mprotect(ring, len, PROT_READ | PROT_EXEC));
	EXPECT(EACCES, errno);
	EXPECT(1, mremap(ring, len, len + PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT(-1, pwrite(memory, "x", 1, (off_t)(size_t)ring));
	for (size_t i = 0; i < len; i++)
		if (ring[i]) {
			EXPECT(0, ring[i]);
			break;
		}
	child = fork();
	if (child == 0)
		_exit(msync(ring, PAGE, MS_ASYNC) < 0 && errno == ENOMEM ? 0 : 1);
	waitpid(child, &state, 0);
	EXPECT(0, state);
	munmap(ring, len);
	close(memory);
	close(fd);
}

/* Uses of the module, as /proc/modules has them. */
static int module_uses(void)
{
	char line[512], name[64];
	int uses = -1, n;
	FILE *f = fopen("/proc/modules", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*d %d", name, &n) == 2 && !strcmp(name, "jis"))
			uses = n;
	if (f)
		fclose(f);
	return uses;
}

/* The session ends with its last descriptor; a mapping that is left stays readable and pins
 * nothing. */
static void test_close_while_mapped(void)
{
	struct jis_setup setup = request();
	const struct jis_packet_header *ring;
	int fd = session(&setup), copy = dup(fd);

	ring = mmap(NULL, setup.ring_bytes, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(1, (const void *)ring != MAP_FAILED);
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	close(fd);
	EXPECT(1, module_uses());
	EXPECT(JIS_SESSION_RUNNING, status(copy).state);
	close(copy);
	EXPECT(0, module_uses());
	EXPECT(JIS_PACKET_MAGIC, ring->magic);
	EXPECT(0, munmap((void *)ring, setup.ring_bytes));
}

static int pair[2];

static void *ping(void *arg)
{
	char c;

	while (read(pair[0], &c, 1) == 1)
		;
	return arg;
}

static int ready(int fd, unsigned int nr_cpus)
{
	struct jis_get_packet got;
	int most = 0;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int n = 0;

		while (get(fd, cpu, &got) == 0)
			n++;
		if (n > most)
			most = n;
	}
	return most;
}

/* Writes to a sleeping thread of this process from a child that is no target. */
static pid_t waker(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			if (write(pair[1], "x", 1) != 1 || usleep(100))
				_exit(0);
	return child;
}

static void test_poll(void)
{
	struct jis_setup setup = request();
	struct pollfd p = {.events = POLLIN};
	pthread_t thread;
	pid_t child;

	setup.packet_size = PAGE;
	setup.buffer_bytes = 1u << 20;
	setup.watermark = 3;
	p.fd = session(&setup);
	EXPECT(3, setup.watermark);
	EXPECT(0, pipe(pair));
	pthread_create(&thread, NULL, ping, NULL);
	EXPECT(0, target(p.fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, call(p.fd, JIS_IOC_START, NULL));
	EXPECT(1, ready(p.fd, setup.nr_cpus));
	EXPECT(0, poll(&p, 1, 0));
	child = waker();
	EXPECT(1, poll(&p, 1, 60000));
	EXPECT(POLLIN, p.revents);
	EXPECT(1, ready(p.fd, setup.nr_cpus) >= 3);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT(0, call(p.fd, JIS_IOC_STOP, NULL));
	EXPECT(1, poll(&p, 1, 0));
	EXPECT(POLLIN, p.revents);
	ready(p.fd, setup.nr_cpus);
	EXPECT(1, poll(&p, 1, 0));
	EXPECT(POLLHUP, p.revents);
	close(p.fd);
	close(pair[1]);
	pthread_join(thread, NULL);
	close(pair[0]);
}

static void *idler(void *arg)
{
	*(pid_t *)arg = gettid();
	pause();
	return NULL;
}

static void test_targets(void)
{
	struct jis_setup setup = request();
	int fd = session(&setup);
	volatile pid_t tid = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, idler, (void *)&tid);
	while (!tid)
		usleep(100);
	EXPECT(-EINVAL, target(fd, JIS_IOC_TARGET_ADD, 0, 0));
	EXPECT(-EINVAL, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0x10));
	EXPECT(-EINVAL, target(fd, JIS_IOC_TARGET_REMOVE, getpid(), JIS_TARGET_CHILDREN));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_ADD, tid, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_ADD, -1, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_ADD, 0x3fffffff, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_TEST, getpid(), 0));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(-EEXIST, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, target(fd, JIS_IOC_TARGET_TEST, getpid(), 0));
	EXPECT(1, status(fd).nr_targets);
	EXPECT(0, target(fd, JIS_IOC_TARGET_REMOVE, getpid(), 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_REMOVE, getpid(), 0));
	EXPECT(0, status(fd).nr_targets);
	close(fd);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

/* The table has a limit: what does not fit is refused, counted, and fits when others have gone. */
static void test_many_targets(void)
{
	struct jis_setup setup = request();
	int fd = session(&setup), added = 0, refused = 0, i, err;
	static pid_t pids[MANY];

	for (i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			pause();
			_exit(0);
		}
		err = target(fd, JIS_IOC_TARGET_ADD, pids[i], 0);
		added += err == 0;
		refused += err == -ENOSPC;
	}
	EXPECT(MANY, added + refused);
	EXPECT(1, added >= 1024 && refused > 0);
	EXPECT(added, status(fd).nr_targets);
	EXPECT(refused, (long)status(fd).targets_refused);
	for (i = 0; i < MANY; i++)
		EXPECT(i < added ? 0 : -ESRCH, target(fd, JIS_IOC_TARGET_TEST, pids[i], 0));
	for (i = 0; i < MANY; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < MANY; i++)
		waitpid(pids[i], NULL, 0);
	for (i = 0; i < 600 && status(fd).nr_targets; i++)
		usleep(100000); /* they are freed by RCU */
	EXPECT(0, status(fd).nr_targets);
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	close(fd);
}

static int set_call(int fd, unsigned int nr, struct jis_syscall_desc how)
{
	struct jis_syscalls set = {.size = sizeof(set)};

	if (nr < JIS_MAX_SYSCALL)
		set.native[nr] = how;
	return call(fd, JIS_IOC_SYSCALLS, &set);
}

/* Reads all there is; returns how many records of type @id were produced until now. */
static unsigned long produced(int fd, unsigned int nr_cpus, unsigned int id)
{
	unsigned long n = 0;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		struct jis_counters c = {.size = sizeof(c), .cpu = cpu};

		EXPECT(0, call(fd, JIS_IOC_COUNTERS, &c));
		n += c.produced[id];
	}
	return n;
}

static unsigned long made(int fd, unsigned int nr_cpus, unsigned int id, int n)
{
	unsigned long before = produced(fd, nr_cpus, id);

	while (n--)
		syscall(SYS_getppid);
	return produced(fd, nr_cpus, id) - before;
}

#define DESC(...) ((struct jis_syscall_desc){__VA_ARGS__})
#define NONE JIS_ARG_NONE

static void test_syscall_sets(int fd)
{
	struct jis_syscalls set = {.size = sizeof(set)};

	EXPECT(0, set_call(fd, 0, DESC(JIS_SHAPE_IO, 0, 2, NONE)));
	EXPECT(0, set_call(fd, 511, DESC(JIS_SHAPE_PLAIN | JIS_SHAPE_RESULT_FD, NONE, NONE, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_NR_SHAPES, NONE, NONE, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_MASK, NONE, NONE, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_IO, 6, 2, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_IO, 0, 0xfe, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_PATH, 0, 1, 200)));
	EXPECT(-EINVAL,
	       set_call(fd, 0, DESC(JIS_SHAPE_FUTEX, 0, 5, 3))); /* no argument behind it */
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_FUTEX32, 0, NONE, 3)));
	EXPECT(0, set_call(fd, 0, DESC(JIS_SHAPE_FUTEX2, 0, 5, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_FUTEX2, 0, 6, NONE)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_OFF, 0, 0, 1)));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_SHAPE_RESULT_FD, 0, 0, 0)));
	set.reserved = 1;
	EXPECT(-EINVAL, call(fd, JIS_IOC_SYSCALLS, &set));
	set.reserved = 0;
	set.size--;
	EXPECT(-EINVAL, call(fd, JIS_IOC_SYSCALLS, &set));
	EXPECT(-EFAULT, call(fd, JIS_IOC_SYSCALLS, NULL));
}

/* The set holds from call to call, in each state; an empty one ends it. */
static void test_syscalls(void)
{
	struct jis_syscall_desc plain = DESC(JIS_SHAPE_PLAIN, NONE, NONE, NONE);
	struct jis_setup setup = request();
	unsigned int cpus, enter = JIS_EV_syscall_enter, leave = JIS_EV_syscall_exit;
	int fd = device();

	EXPECT(-EBADFD, set_call(fd, SYS_getppid, plain));
	setup.buffer_bytes = 4u << 20;
	EXPECT(0, call(fd, JIS_IOC_SETUP, &setup));
	EXPECT(JIS_FEATURE_SYSCALLS, (long)(setup.features & JIS_FEATURE_SYSCALLS));
	cpus = setup.nr_cpus;
	EXPECT(0, set_call(fd, JIS_MAX_SYSCALL, plain)); /* none */
	test_syscall_sets(fd);
	EXPECT(0, set_call(fd, SYS_getppid, plain));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	EXPECT(10, (long)made(fd, cpus, enter, 10));
	EXPECT(10, (long)made(fd, cpus, leave, 10));
	EXPECT(-EINVAL, set_call(fd, 0, DESC(JIS_NR_SHAPES, 0, 0, 0)));
	EXPECT(10, (long)made(fd, cpus, enter, 10)); /* as it was */
	EXPECT(0, set_call(fd, SYS_getpgid, plain));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, set_call(fd, JIS_MAX_SYSCALL, plain));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, set_call(fd, SYS_getppid, plain));
	EXPECT(10, (long)made(fd, cpus, leave, 10));
	EXPECT(0, call(fd, JIS_IOC_PAUSE, NULL));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, set_call(fd, SYS_getpgid, plain));
	EXPECT(0, set_call(fd, SYS_getppid, plain));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, call(fd, JIS_IOC_RESUME, NULL));
	EXPECT(10, (long)made(fd, cpus, enter, 10));
	EXPECT(0, target(fd, JIS_IOC_TARGET_REMOVE, getpid(), 0));
	EXPECT(0, (long)made(fd, cpus, enter, 10));
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(-EBADFD, set_call(fd, SYS_getppid, plain));
	close(fd);
}

/* A packet whose number the caller could not be told is not taken: the next call gives it. */
static void test_packet_untold(void)
{
	struct jis_setup setup = request();
	int fd = session(&setup), told = 0;
	struct jis_get_packet got, *read_only;

	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	for (int i = 0; i < 20; i++)
		usleep(1000);
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	read_only = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned int cpu = 0; cpu < setup.nr_cpus; cpu++) {
		*read_only = (struct jis_get_packet){.size = sizeof(got), .cpu = cpu};
		mprotect(read_only, PAGE, PROT_READ);
		if (call(fd, JIS_IOC_GET_PACKET, read_only) == -EFAULT) {
			told++;
			EXPECT(-EFAULT, call(fd, JIS_IOC_GET_PACKET, read_only));
			EXPECT(0, get(fd, cpu, &got));
			EXPECT(0, got.index);
		}
		mprotect(read_only, PAGE, PROT_READ | PROT_WRITE);
	}
	EXPECT(1, told > 0);
	munmap(read_only, PAGE);
	close(fd);
}

static unsigned long long memory(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return (unsigned long long)info.totalram * info.mem_unit;
}

/* A session with so large rings. Its descriptor, or how it was refused; adds what it took. */
static int large(unsigned long long bytes, unsigned long long *taken)
{
	struct jis_setup setup = request();
	int fd = device(), err;

	setup.buffer_bytes = bytes;
	err = call(fd, JIS_IOC_SETUP, &setup);
	if (err) {
		close(fd);
		return err;
	}
	*taken += status(fd).memory_bytes;
	return fd;
}

/* All sessions together have half of the machine's memory, and what one gives back others get. */
static void test_memory(void)
{
	unsigned long long each = memory() / 4 - (8u << 20), taken = 0, one;
	int fds[4] = {-1, -1, -1, -1}, n;

	for (n = 0; n < 4; n++) {
		fds[n] = large(each, &taken);
		if (fds[n] < 0)
			break;
	}
	one = n ? taken / (unsigned int)n : 0;
	EXPECT(2, n);
	EXPECT(-ENOMEM, fds[2]);
	EXPECT(1, one >= each - each / 100);
	EXPECT(1, taken <= memory() / 2);
	EXPECT(1, taken + one > memory() / 2);
	EXPECT(0, SETUP_WITH(buffer_bytes, 1 << 20)); /* there is room for a small one */
	close(fds[0]);
	EXPECT(-ENOMEM, large(each + (64u << 20), &taken));
	fds[0] = large(each, &taken);
	EXPECT(1, fds[0] >= 0);
	EXPECT(-ENOMEM, large(each, &taken));
	close(fds[0]);
	close(fds[1]);
	fds[0] = large(2 * each, &taken); /* by one alone */
	EXPECT(1, fds[0] >= 0);
	close(fds[0]);
}

static void said(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
	if (getchar() == EOF)
		exit(1);
}

static int hold(int n, unsigned long long bytes)
{
	struct jis_pool_create pool = {.size = sizeof(pool),
				       .pid = (unsigned int)getpid(),
				       .bytes = bytes};
	int *fds = calloc((size_t)n, sizeof(*fds)), i;

	for (i = 0; i < n; i++) {
		struct jis_setup setup = request();

		setup.packet_size = PAGE;
		setup.buffer_bytes = 4ull * PAGE * (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
		fds[i] = session(&setup);
	}
	said("sessions");
	for (i = 0; i < n; i++)
		EXPECT(0, set_call(fds[i], SYS_read, DESC(JIS_SHAPE_IO, 0, 2, NONE)));
	said("calls");
	EXPECT(0, target(fds[0], JIS_IOC_TARGET_ADD, getpid(), 0));
	EXPECT(0, call(fds[0], JIS_IOC_POOL_CREATE, &pool));
	said("pool");
	return failures != 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "hold"))
		return hold(atoi(argv[2]), strtoull(argv[3], NULL, 0));
	test_syscalls();
	test_setup();
	test_states();
	test_32_bit();
	test_mapping();
	test_close_while_mapped();
	test_poll();
	test_packet_untold();
	test_targets();
	test_many_targets();
	test_memory();
	printf("%d failures\n", failures);
	return failures != 0;
}
