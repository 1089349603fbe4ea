// SPDX-License-Identifier: MIT
/*
 * jisrights: who may do what with /dev/jis. Prints what does not hold; status 0 when all does.
 *
 *   jisrights passed UID GID      as root: a session's descriptor with user UID, alone and as a
 *                                 member of the module's group GID (0: it has none)
 *   jisrights group UID GID OTHER as root: what members UID and OTHER of group GID may
 *   jisrights api                 as root: what targets and pools may be asked for
 *   jisrights suid PATH ...       waits for SIGUSR1, then executes PATH: a set-user-ID program
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jis/abi.h"

static int failures;

/* @result must be @want (an errno negated, 0, or a count). */
#define EXPECT(want, result) expect(__LINE__, #result, want, result)

static void expect(int line, const char *what, long want, long result)
{
	if (want == result)
		return;
	printf("line %d: %s is %ld, not %ld\n", line, what, result, want);
	fflush(stdout);
	failures++;
}

static int call(int fd, unsigned long request, void *arg)
{
	int result = ioctl(fd, request, arg);

	return result < 0 ? -errno : result;
}

static struct jis_setup request(void)
{
	return (struct jis_setup){.size = sizeof(struct jis_setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW};
}

static int target(int fd, unsigned long how, unsigned int kind, pid_t pid)
{
	struct jis_target t = {.size = sizeof(t), .kind = kind, .pid = (unsigned int)pid};

	if (kind == JIS_TARGET_CGROUP)
		t.fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (kind == JIS_TARGET_EXECUTABLE)
		strcpy(t.name, "true");
	return call(fd, how, &t);
}

static int pool(int fd, pid_t pid)
{
	struct jis_pool_create p = {.size = sizeof(p), .pid = (unsigned int)pid, .bytes = 1 << 20};
	int err = call(fd, JIS_IOC_POOL_CREATE, &p);

	return err ? err : p.fd;
}

static int map(int fd, const struct jis_setup *setup)
{
	void *p = mmap(NULL, setup->ring_bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, setup->ring_bytes);
	return 0;
}

static int get(int fd)
{
	struct jis_get_packet got = {.size = sizeof(got)};

	return call(fd, JIS_IOC_GET_PACKET, &got);
}

static void become(uid_t uid, gid_t group)
{
	if (setgroups(group ? 1 : 0, &group) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid)) {
		perror("become");
		_exit(99);
	}
	prctl(PR_SET_DUMPABLE, 1);
}

/* Runs @f as another user, in a child that has all descriptors; its failures are ours. */
static void as(uid_t uid, gid_t group, void (*f)(int fd, const struct jis_setup *setup), int fd,
	       const struct jis_setup *setup)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		failures = 0;
		become(uid, group);
		f(fd, setup);
		fflush(stdout);
		_exit(failures);
	}
	waitpid(child, &status, 0);
	failures += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A process that sleeps, as a user. */
static pid_t sleeper(uid_t uid, gid_t group)
{
	pid_t child;
	int ready[2];
	char c;

	if (pipe(ready))
		exit(99);
	child = fork();
	if (child == 0) {
		if (uid)
			become(uid, group);
		close(ready[0]);
		close(ready[1]);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1))
		exit(99);
	close(ready[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Each call is refused to who has no rights, though the descriptor is there and the calls are
 * sound. */
static void nothing_allowed(int fd, const struct jis_setup *setup)
{
	struct jis_counters counters = {.size = sizeof(counters)};
	struct jis_status status = {.size = sizeof(status)};
	struct jis_setup again = request();
	unsigned int kind;

	EXPECT(-EPERM, call(fd, JIS_IOC_SETUP, &again));
	for (kind = JIS_TARGET_PROCESS; kind <= JIS_TARGET_ALL; kind++) {
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, getpid()));
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_REMOVE, kind, getppid()));
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_TEST, kind, getppid()));
	}
	EXPECT(-EPERM, pool(fd, getppid()));
	EXPECT(-EPERM, call(fd, JIS_IOC_START, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_PAUSE, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_RESUME, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_FLUSH, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_FREEZE, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_THAW, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_DUMP, NULL));
	EXPECT(-EPERM, call(fd, JIS_IOC_SYSCALLS, &again));
	EXPECT(-EPERM, get(fd));
	EXPECT(-EPERM, call(fd, JIS_IOC_STATUS, &status));
	EXPECT(-EPERM, call(fd, JIS_IOC_COUNTERS, &counters));
	EXPECT(-EPERM, map(fd, setup));
}

static void cannot_open(int unused, const struct jis_setup *setup)
{
	EXPECT(-1, open(JIS_DEVICE, O_RDWR));
}

/* A mapping is not handed on by fork(). */
static char *ring;

static void cannot_read_ring(int fd, const struct jis_setup *setup)
{
	int memory = open("/proc/self/mem", O_RDONLY);
	char c;

	EXPECT(-1, pread(memory, &c, 1, (off_t)(size_t)ring));
	EXPECT(-1, madvise(ring, setup->ring_bytes, MADV_NORMAL));
}

static int do_passed(uid_t uid, gid_t gid)
{
	struct jis_status status = {.size = sizeof(status)};
	struct jis_setup setup = request();
	int fd = open(JIS_DEVICE, O_RDWR);

	EXPECT(0, call(fd, JIS_IOC_SETUP, &setup));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_PROCESS, getpid()));
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	ring = mmap(NULL, setup.ring_bytes, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(1, ring != MAP_FAILED);
	as(uid, 0, nothing_allowed, fd, &setup);
	as(uid, 0, cannot_read_ring, fd, &setup);
	as(uid, 0, cannot_open, fd, &setup);
	/* A member of the group may open the device, but not use a session that shows all. */
	if (gid)
		as(uid, gid, nothing_allowed, fd, &setup);
	EXPECT(0, call(fd, JIS_IOC_STATUS, &status));
	EXPECT(JIS_SESSION_RUNNING, status.state);
	EXPECT(1, status.nr_targets);
	EXPECT(0, get(fd));
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	return failures != 0;
}

static pid_t roots, others, undumpable, own;

static int try_setup(struct jis_setup setup)
{
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = call(fd, JIS_IOC_SETUP, &setup);
	close(fd);
	return err;
}

#define SETUP_WITH(member, value)                                                                  \
	({                                                                                         \
		struct jis_setup with = request();                                                 \
		with.member = value;                                                               \
		try_setup(with);                                                                   \
	})

static unsigned long long memory(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return (unsigned long long)info.totalram * info.mem_unit;
}

/* Of the machine's memory members get a quarter, by many sessions or by one, where root gets half.
 */
static void member_memory(void)
{
	unsigned long long sixteenth = memory() / 16;
	struct jis_setup setup;
	int fds[5], n, err = 0;

	EXPECT(-ENOMEM, SETUP_WITH(buffer_bytes, 5 * sixteenth));
	for (n = 0; n < 5; n++) {
		setup = request();
		setup.buffer_bytes = sixteenth;
		fds[n] = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
		err = call(fds[n], JIS_IOC_SETUP, &setup);
		if (err)
			break;
	}
	EXPECT(3, n); /* of four times as much nothing would be left for notes */
	EXPECT(-ENOMEM, err);
	if (n != 3)
		return;
	close(fds[0]);
	EXPECT(0, call(fds[3], JIS_IOC_SETUP, &setup));
	EXPECT(-ENOMEM, SETUP_WITH(buffer_bytes, sixteenth));
	for (n = 1; n < 4; n++)
		close(fds[n]);
}

static void member(int passed, const struct jis_setup *unused)
{
	struct jis_setup setup = request();
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	unsigned int kind;

	EXPECT(1, fd >= 0);
	EXPECT(-EPERM, SETUP_WITH(flags, JIS_SETUP_ALL_SWITCHES));
	EXPECT(-EPERM, SETUP_WITH(families, JIS_FAMILY_BLOCK));
	EXPECT(-EPERM, SETUP_WITH(families, JIS_FAMILY_POWER));
	EXPECT(0, call(fd, JIS_IOC_SETUP, &setup));
	for (kind = JIS_TARGET_PROCESS; kind <= JIS_TARGET_THREAD; kind++) {
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, roots));
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, others));
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, undumpable));
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, 1));
		EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, kind, own));
	}
	for (kind = JIS_TARGET_CGROUP; kind <= JIS_TARGET_ALL; kind++)
		EXPECT(-EPERM, target(fd, JIS_IOC_TARGET_ADD, kind, 0));
	EXPECT(-ESRCH, pool(fd, roots));
	EXPECT(1, pool(fd, own) >= 0);
	EXPECT(0, call(fd, JIS_IOC_START, NULL));
	EXPECT(0, map(fd, &setup));
	EXPECT(0, get(fd));
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	/* somebody else's restricted session */
	EXPECT(-EPERM, get(passed));
	EXPECT(-EPERM, call(passed, JIS_IOC_START, NULL));
	close(fd);
	member_memory();
}

/* A session of another member, opened by that one and left to us. */
static int session_of(uid_t uid, gid_t gid)
{
	struct jis_setup setup = request();
	int pair[2], fd;
	pid_t child;

	if (pipe(pair))
		exit(99);
	child = fork();
	if (child == 0) {
		become(uid, gid);
		fd = open(JIS_DEVICE, O_RDWR);
		if (call(fd, JIS_IOC_SETUP, &setup) || write(pair[1], &fd, sizeof(fd)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	if (read(pair[0], &fd, sizeof(fd)) != sizeof(fd))
		exit(99);
	/* Not a new open of the device: the open file itself. */
	fd = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, child, 0), fd, 0);
	if (fd < 0) {
		perror("pidfd_getfd");
		exit(99);
	}
	end(child);
	return fd;
}

static int do_group(uid_t uid, gid_t gid, uid_t other)
{
	int passed = session_of(other, gid);

	roots = sleeper(0, 0);
	others = sleeper(other, gid);
	own = sleeper(uid, gid);
	fflush(stdout);
	undumpable = fork();
	if (undumpable == 0) {
		become(uid, gid);
		prctl(PR_SET_DUMPABLE, 0);
		pause();
		_exit(0);
	}
	usleep(200000);
	as(uid, gid, member, passed, NULL);
	end(roots);
	end(others);
	end(own);
	end(undumpable);
	/* full rights may use a restricted session, which stays one */
	EXPECT(0, call(passed, JIS_IOC_FLUSH, NULL));
	EXPECT(-EPERM, target(passed, JIS_IOC_TARGET_ADD, JIS_TARGET_ALL, 0));
	EXPECT(-EPERM, target(passed, JIS_IOC_TARGET_ADD, JIS_TARGET_PROCESS, getpid()));
	EXPECT(0, SETUP_WITH(buffer_bytes, memory() / 16 * 5));
	return failures != 0;
}

static int add(int fd, struct jis_target t)
{
	t.size = sizeof(t);
	return call(fd, JIS_IOC_TARGET_ADD, &t);
}

static int named(int fd, unsigned long how, const char *name, size_t length)
{
	struct jis_target t = {.size = sizeof(t), .kind = JIS_TARGET_EXECUTABLE};

	memcpy(t.name, name, length);
	return call(fd, how, &t);
}

static void api_targets(int fd)
{
	char longest[JIS_TARGET_NAME_MAX] = "", name[16];
	int directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), i;
	unsigned int me = (unsigned int)getpid(), kind;

	EXPECT(-EINVAL, add(fd, (struct jis_target){.kind = 5, .pid = me}));
	EXPECT(-EINVAL, add(fd, (struct jis_target){.kind = ~0u, .pid = me}));
	for (kind = JIS_TARGET_CGROUP; kind <= JIS_TARGET_ALL; kind++)
		EXPECT(-EINVAL, add(fd, (struct jis_target){.kind = kind, .pid = me}));
	for (kind = JIS_TARGET_PROCESS; kind <= JIS_TARGET_ALL; kind++) {
		if (kind != JIS_TARGET_CGROUP)
			EXPECT(-EINVAL,
			       add(fd, (struct jis_target){.kind = kind, .pid = me, .fd = 3}));
		if (kind != JIS_TARGET_EXECUTABLE)
			EXPECT(-EINVAL,
			       add(fd, (struct jis_target){.kind = kind, .pid = me, .name = "x"}));
		EXPECT(-EINVAL, add(fd, (struct jis_target){.kind = kind, .pid = me, .flags = 8}));
		EXPECT(-EINVAL,
		       add(fd, (struct jis_target){.kind = kind, .pid = me, .reserved = 1}));
	}
	EXPECT(-EINVAL,
	       add(fd, (struct jis_target){.kind = JIS_TARGET_THREAD, .pid = me, .flags = 1}));
	EXPECT(-EINVAL, add(fd, (struct jis_target){.kind = JIS_TARGET_ALL, .flags = 1}));
	EXPECT(-EINVAL, add(fd, (struct jis_target){.pid = me, .flags = JIS_TARGET_FIRST_EXEC}));

	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_THREAD, getpid()));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_THREAD, 0x3fffffff));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_THREAD, getpid()));
	EXPECT(-EEXIST, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_THREAD, getpid()));
	EXPECT(0, target(fd, JIS_IOC_TARGET_TEST, JIS_TARGET_THREAD, getpid()));
	EXPECT(0, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_THREAD, getpid()));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_TEST, JIS_TARGET_THREAD, getpid()));

	EXPECT(-EBADF, add(fd, (struct jis_target){.kind = JIS_TARGET_CGROUP, .fd = -1}));
	EXPECT(-EBADF, add(fd, (struct jis_target){.kind = JIS_TARGET_CGROUP, .fd = directory}));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_CGROUP, 0));
	EXPECT(-EEXIST, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_CGROUP, 0));
	EXPECT(0, target(fd, JIS_IOC_TARGET_TEST, JIS_TARGET_PROCESS, 1)); /* it is the root */
	EXPECT(0, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_CGROUP, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_CGROUP, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_TEST, JIS_TARGET_PROCESS, 1));

	EXPECT(-EINVAL, named(fd, JIS_IOC_TARGET_ADD, "a/b", 4));
	EXPECT(-EINVAL, named(fd, JIS_IOC_TARGET_ADD, "a\0b", 4));
	memset(longest, 'x', sizeof(longest));
	EXPECT(-EINVAL, named(fd, JIS_IOC_TARGET_ADD, longest, sizeof(longest)));
	EXPECT(0, named(fd, JIS_IOC_TARGET_ADD, longest, sizeof(longest) - 1));
	EXPECT(0, named(fd, JIS_IOC_TARGET_REMOVE, longest, sizeof(longest) - 1));
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "name-%d", i);
		EXPECT(0, named(fd, JIS_IOC_TARGET_ADD, name, strlen(name)));
	}
	EXPECT(-EEXIST, named(fd, JIS_IOC_TARGET_ADD, name, strlen(name)));
	EXPECT(-ENOSPC, named(fd, JIS_IOC_TARGET_ADD, "name-9", 6));
	EXPECT(0, named(fd, JIS_IOC_TARGET_REMOVE, name, strlen(name)));
	EXPECT(-ESRCH, named(fd, JIS_IOC_TARGET_TEST, name, strlen(name)));
	EXPECT(0, named(fd, JIS_IOC_TARGET_ADD, "name-9", 6));

	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_ALL, 0));
	EXPECT(-EEXIST, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_ALL, 0));
	EXPECT(0, target(fd, JIS_IOC_TARGET_TEST, JIS_TARGET_PROCESS, 1));
	EXPECT(0, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_ALL, 0));
	EXPECT(-ESRCH, target(fd, JIS_IOC_TARGET_REMOVE, JIS_TARGET_ALL, 0));
	close(directory);
}

static int try_pool(int fd, struct jis_pool_create p)
{
	int err;

	p.size = sizeof(p);
	err = call(fd, JIS_IOC_POOL_CREATE, &p);
	return err ? err : p.fd;
}

#define POOL_WITH(...)                                                                             \
	({                                                                                         \
		struct jis_pool_create with = {.pid = (unsigned int)getpid(), .bytes = 1 << 20};   \
		__VA_ARGS__;                                                                       \
		try_pool(fd, with);                                                                \
	})

static void api_pools(int fd)
{
	struct jis_pool_create *nowhere = (void *)-4096;
	const unsigned char *m;
	int first, i;
	struct stat st;

	EXPECT(-ESRCH, POOL_WITH(with.nr_words = 0));
	EXPECT(0, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_PROCESS, getpid()));
	EXPECT(-EFAULT, call(fd, JIS_IOC_POOL_CREATE, nowhere));
	EXPECT(-EINVAL, POOL_WITH(with.pid = 0));
	EXPECT(-EINVAL, POOL_WITH(with.fd = 1));
	EXPECT(-EINVAL, POOL_WITH(with.reserved[3] = 1));
	EXPECT(-EINVAL, POOL_WITH(with.bytes = 0));
	EXPECT(-EINVAL, POOL_WITH(with.bytes = 4097));
	EXPECT(-ENOMEM, POOL_WITH(with.bytes = 1ull << 50));
	EXPECT(-ENOMEM, POOL_WITH(with.bytes = ~0ull << 12));
	EXPECT(-EINVAL, POOL_WITH(with.words_offset = 4096));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 16));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 24, with.words_offset = 4096));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 16, with.words_offset = 4100));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 1u << 17, with.words_offset = 4096));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 1u << 31, with.words_offset = 4096));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 16, with.words_offset = (1 << 20) - 448));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 16, with.words_offset = ~0ull - 63));
	EXPECT(-EINVAL, POOL_WITH(with.nr_words = 32768, with.words_offset = 4096));

	first = POOL_WITH(with.nr_words = 16, with.words_offset = (1 << 20) - 512);
	EXPECT(1, first >= 0);
	EXPECT(FD_CLOEXEC, fcntl(first, F_GETFD));
	EXPECT(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, fcntl(first, F_GET_SEALS));
	EXPECT(0, fstat(first, &st));
	EXPECT(1 << 20, st.st_size);
	EXPECT(2048, st.st_blocks); /* all of it is there */
	m = mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, first, 0);
	for (i = 0; i < 1 << 20 && !m[i]; i++)
		;
	EXPECT(1 << 20, i);
	for (i = 1; i < 16; i++)
		EXPECT(1, POOL_WITH(with.nr_words = 0) >= 0);
	EXPECT(-ENOSPC, POOL_WITH(with.nr_words = 0));
}

static int do_api(void)
{
	struct jis_setup setup = request();
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);

	EXPECT(-EBADFD, POOL_WITH(with.nr_words = 0));
	EXPECT(0, call(fd, JIS_IOC_SETUP, &setup));
	EXPECT(JIS_FEATURE_CGROUP | JIS_FEATURE_WORDS,
	       setup.features & (JIS_FEATURE_CGROUP | JIS_FEATURE_WORDS));
	api_targets(fd);
	api_pools(fd);
	EXPECT(0, call(fd, JIS_IOC_STOP, NULL));
	EXPECT(-EBADFD, POOL_WITH(with.nr_words = 0));
	EXPECT(-EBADFD, target(fd, JIS_IOC_TARGET_ADD, JIS_TARGET_ALL, 0));
	return failures != 0;
}

static void on_signal(int sig)
{
}

int main(int argc, char **argv)
{
	int result = 2;

	if (argc > 3 && !strcmp(argv[1], "passed"))
		result = do_passed((uid_t)atoi(argv[2]), (gid_t)atoi(argv[3]));
	else if (argc > 4 && !strcmp(argv[1], "group"))
		result = do_group((uid_t)atoi(argv[2]), (gid_t)atoi(argv[3]), (uid_t)atoi(argv[4]));
	else if (argc > 1 && !strcmp(argv[1], "api"))
		result = do_api();
	else if (argc > 2 && !strcmp(argv[1], "suid")) {
		signal(SIGUSR1, on_signal);
		printf("waiting\n");
		fflush(stdout);
		pause();
		execv(argv[2], argv + 2);
		return 127;
	}
	printf("%d failures\n", failures);
	return result;
}
