// SPDX-License-Identifier: MIT
/*
 * Descriptors: copied, closed while they are in use, inherited, passed on to those who have no
 * rights; and what members of the module's group may do with their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../passfd.h"
#include "fuzz.h"

#define MEMBER_UID 4001
#define MEMBER_GID 4321
#define NOBODY 65534

/* In a child: it ends with its parent and takes no signals of ours. */
static void child_begin(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, SIG_IGN);
}

static void reap(struct ctx *c, pid_t child)
{
	int status;

	if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	    WTERMSIG(status) != SIGKILL)
		wrong(c, "a child ended by signal %d", WTERMSIG(status));
}

static void calls(struct ctx *c, int fd, uint64_t n)
{
	while (n--) {
		enum op op = (enum op)below(&c->r, NR_OPS);

		if (op == OP_DUMP && !one_in(&c->r, 4))
			continue;
		args_make(c, op);
		if (one_in(&c->r, 3))
			args_mutate(c, op);
		if (call_with(c, fd, op) == 0 && op == OP_POOL_CREATE)
			close(c->args.pool.fd);
	}
}

static int ready_session(struct ctx *c)
{
	int fd = device();

	if (fd < 0)
		return -1;
	args_make(c, OP_SETUP);
	call_with(c, fd, OP_SETUP);
	args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)world.mill);
	call_with(c, fd, OP_TARGET_ADD);
	return fd;
}

/* A child that goes on with the session after we have closed it. */
static void inherit(struct ctx *c, int fd)
{
	bool first = one_in(&c->r, 2);
	pid_t child = fork();

	if (child == 0) {
		child_begin();
		calls(c, fd, 8);
		_exit(0);
	}
	if (first)
		calls(c, fd, 4);
	close(fd);
	reap(c, child);
}

/* A child that is killed in the middle of a set-up, or of making a pool. */
static void kill_in_the_middle(struct ctx *c, int fd)
{
	uint64_t wait = below(&c->r, 20000);
	bool pool = one_in(&c->r, 2);
	pid_t child = fork();

	if (child == 0) {
		child_begin();
		if (pool) {
			args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)getpid());
			call_with(c, fd, OP_TARGET_ADD);
			args_make(c, OP_POOL_CREATE);
			c->args.pool.pid = (uint32_t)getpid();
			c->args.pool.bytes = 128u << 20;
			call_with(c, fd, OP_POOL_CREATE);
		} else {
			close(fd);
			fd = device();
			args_make(c, OP_SETUP);
			c->args.setup.buffer_bytes = 256u << 20;
			call_with(c, fd, OP_SETUP);
			call(fd, OP_START, NULL);
		}
		_exit(0);
	}
	usleep((unsigned int)wait);
	if (child > 0)
		kill(child, SIGKILL);
	reap(c, child);
	close(fd);
}

struct waiter {
	int fd;
	int timeout;
};

static void *wait_on(void *arg)
{
	const struct waiter *w = arg;
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	poll(&p, 1, w->timeout);
	return NULL;
}

/* Closed, or made another session, while somebody polls it. */
static void close_in_use(struct ctx *c, int fd)
{
	struct waiter w = {dup(fd), (int)below(&c->r, 20)};
	pthread_t thread;

	if (w.fd < 0 || pthread_create(&thread, NULL, wait_on, &w)) {
		close(fd);
		return;
	}
	if (one_in(&c->r, 2))
		calls(c, fd, 3);
	close(fd);
	if (one_in(&c->r, 2))
		close(w.fd);
	else
		w.timeout = 0;
	pthread_join(thread, NULL);
	if (!w.timeout)
		close(w.fd);
}

static int become(uid_t uid, gid_t gid, gid_t group)
{
	if (setgroups(group ? 1 : 0, &group) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

/* Who has no rights: each call is refused, in whatever shape, and mapping as well. */
static void use_without_rights(struct ctx *c, int fd)
{
	for (int i = 0; i < 20; i++) {
		enum op op = (enum op)below(&c->r, NR_OPS);
		int result;

		args_make(c, op);
		if (one_in(&c->r, 3))
			args_mutate(c, op);
		result = call(fd, op, args_place(c, op));
		if (result != -EPERM)
			wrong(c, "%s without rights: %s", ops[op].name, strerror(-result));
	}
	if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		wrong(c, "a ring is mapped without rights");
}

static void pass_on(struct ctx *c, int fd)
{
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		close(fd);
		return;
	}
	child = fork();
	if (child == 0) {
		child_begin();
		close(fd);
		close(pair[0]);
		fd = become(NOBODY, NOBODY, 0) ? -1 : receive_fd(pair[1], NULL, 0);
		if (fd >= 0)
			use_without_rights(c, fd);
		_exit(0);
	}
	close(pair[1]);
	send_fd(pair[0], fd);
	if (one_in(&c->r, 2))
		calls(c, fd, 4);
	close(fd);
	reap(c, child);
	close(pair[0]);
}

void round_share(struct ctx *c)
{
	uint64_t what = below(&c->r, 8);
	int fd = ready_session(c);

	if (fd < 0)
		return;
	if (what < 2)
		inherit(c, fd);
	else if (what < 4)
		kill_in_the_middle(c, fd);
	else if (what < 6)
		close_in_use(c, fd);
	else
		pass_on(c, fd);
}

static void expect(struct ctx *c, const char *what, int want, int result)
{
	if (result != want && result != -ENOMEM)
		wrong(c, "%s as a member: %d, not %d", what, result, want);
}

static int add(struct ctx *c, int fd, uint32_t kind, pid_t pid)
{
	args_target(&c->args, kind, (uint32_t)pid);
	if (kind == JIS_TARGET_CGROUP)
		c->args.target.fd = world.cgroups[0];
	if (kind == JIS_TARGET_EXECUTABLE)
		strcpy(c->args.target.name, "true");
	return call_with(c, fd, OP_TARGET_ADD);
}

/* A member's session: what is its user's, and nothing of others'. */
static void live_as_member(struct ctx *c)
{
	int fd = device();

	if (fd < 0) {
		expect(c, "open", 0, -errno);
		return;
	}
	args_make(c, OP_SETUP);
	c->args.setup = (struct jis_setup){.size = sizeof(c->args.setup),
					   .abi_version = JIS_ABI_VERSION,
					   .clock = JIS_CLOCK_RAW,
					   .flags = JIS_SETUP_ALL_SWITCHES};
	expect(c, "all switches", -EPERM, call_with(c, fd, OP_SETUP));
	c->args.setup.flags = (uint32_t)below(&c->r, 2) * JIS_SETUP_FLIGHT_RECORDER;
	c->args.setup.families = JIS_FAMILY_POWER & world.features;
	if (c->args.setup.families)
		expect(c, "the machine's frequencies", -EPERM, call_with(c, fd, OP_SETUP));
	c->args.setup.families = (JIS_FAMILY_SIGNAL | JIS_FAMILY_IRQ) & world.features;
	if (call_with(c, fd, OP_SETUP) == 0) {
		expect(c, "root's process", -EPERM, add(c, fd, JIS_TARGET_PROCESS, getppid()));
		expect(c, "root's thread", -EPERM, add(c, fd, JIS_TARGET_THREAD, getppid()));
		expect(c, "all", -EPERM, add(c, fd, JIS_TARGET_ALL, 0));
		expect(c, "a program", -EPERM, add(c, fd, JIS_TARGET_EXECUTABLE, 0));
		if (world.cgroups[0] >= 0)
			expect(c, "a cgroup", -EPERM, add(c, fd, JIS_TARGET_CGROUP, 0));
		expect(c, "its own", 0, add(c, fd, one_in(&c->r, 2), getpid()));
		if (one_in(&c->r, 2))
			expect(c, "start", 0, call(fd, OP_START, NULL));
		calls(c, fd, 12);
	}
	close(fd);
}

void round_rights(struct ctx *c)
{
	int fd = one_in(&c->r, 3) ? ready_session(c) : -1;
	pid_t child = fork();

	if (child == 0) {
		child_begin();
		if (become(MEMBER_UID, MEMBER_UID, MEMBER_GID))
			_exit(0);
		if (fd >= 0)
			use_without_rights(c, fd); /* of a session that shows all */
		if (world.member)
			live_as_member(c);
		else if (device() >= 0)
			wrong(c, "who has no rights opens the device");
		_exit(0);
	}
	close(fd);
	reap(c, child);
}
