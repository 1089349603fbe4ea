// SPDX-License-Identifier: MIT
/*
 * What the rounds find around them: sessions all threads share, cgroups, words that change, a
 * process that does all that can be recorded, CPUs that come and go.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define CGROUP "/sys/fs/cgroup/jisfuzz-%d"
#define CPU1 "/sys/devices/system/cpu/cpu1/online"
#define CROWD 2100 /* more processes than a session takes */

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* The mill ---------------------------------------------------------------------------------- */

static void *mill_thread(void *arg)
{
	prctl(PR_SET_NAME, "mill-thread");
	usleep(500);
	return arg;
}

static void mill_child(unsigned int n)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NAME, "mill-child");
		if (n % 2)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void mill_move(unsigned int n)
{
	char path[64];

	snprintf(path, sizeof(path), CGROUP "/cgroup.procs", (int)(n % NR_CGROUPS));
	write_to(path, "0");
}

/* Forks, becomes another program, renames, moves, sends itself signals, faults and sleeps, until
 * its end. */
static void mill(void)
{
	pthread_t thread;
	unsigned int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, SIG_IGN);
	for (n = 0;; n++) {
		usleep(3000);
		prctl(PR_SET_NAME, n % 2 ? "mill-odd" : "mill-even");
		if (n % 4 == 0 && !pthread_create(&thread, NULL, mill_thread, NULL))
			pthread_join(thread, NULL);
		if (n % 16 == 0)
			mill_child(n / 16);
		if (n % 8 == 0)
			mill_move(n / 8);
		kill(getpid(), SIGUSR1);
		(void)!setpriority(PRIO_PROCESS, 0, (int)(n % 3));
		close(open("/dev/zero", O_RDONLY));
	}
}

/* The words that change ------------------------------------------------------------------------ */

static void *scribble(void *arg)
{
	struct rng r = {4711};

	for (;;) {
		uint32_t i = (uint32_t)below(&r, PAGE / 4);

		world.scribbled[i] = (uint32_t)odd(&r);
		if (i % 16 == 0) { /* and now and then nearly right */
			enum op op = (enum op)below(&r, NR_OPS);

			world.scribbled[0] = (uint32_t)ops[op].size;
			world.scribbled[1] = JIS_ABI_VERSION;
			usleep(100);
		}
	}
	return arg;
}

static void scribble_begin(void)
{
	pthread_t thread;

	world.scribbled =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_create(&thread, NULL, scribble, NULL);
}

/* Made and ended ------------------------------------------------------------------------------- */

static void cgroups_make(void)
{
	char path[64];

	for (int i = 0; i < NR_CGROUPS; i++) {
		snprintf(path, sizeof(path), CGROUP, i);
		mkdir(path, 0755);
		world.cgroups[i] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

/* What this kernel gives, as a session is told. */
static void features_ask(void)
{
	struct jis_setup setup = {.size = sizeof(setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW};
	int fd = device();

	if (fd < 0) {
		perror(JIS_DEVICE);
		exit(2);
	}
	if (call(fd, OP_SETUP, &setup)) {
		perror("set up");
		exit(2);
	}
	world.nr_cpus = setup.nr_cpus;
	world.features = setup.features;
	close(fd);
}

static bool module_has_group(void)
{
	int fd = open("/sys/module/jis/parameters/gid", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && atoi(text) == 4321;
}

void world_make(void)
{
	struct rlimit files = {16384, 16384};

	setrlimit(RLIMIT_NOFILE, &files);
	features_ask();
	cgroups_make();
	world.mill = fork();
	if (world.mill == 0)
		mill();
	for (int i = 0; i < NR_SHARED; i++)
		world.shared[i] = device();
	world.member = module_has_group();
	world.inject = inject_init();
	world.hotplug = access(CPU1, W_OK) == 0;
	scribble_begin();
}

void world_end(void)
{
	char path[64];

	kill(world.mill, SIGKILL);
	waitpid(world.mill, NULL, 0);
	for (int i = 0; i < NR_SHARED; i++)
		close(world.shared[i]);
	for (int i = 0; i < NR_CGROUPS; i++) {
		close(world.cgroups[i]);
		snprintf(path, sizeof(path), CGROUP, i);
		for (int tries = 0; rmdir(path) && errno == EBUSY && tries < 1000; tries++)
			usleep(10000);
	}
}

/* CPUs ------------------------------------------------------------------------------------------
 */

/* A session that is set up while a CPU is away, which then comes, and goes, at any time. */
void round_hotplug(struct ctx *c)
{
	int fd = device();
	enum op op;

	if (fd < 0)
		return;
	if (!world.hotplug || !write_to(CPU1, "0")) {
		close(fd);
		return;
	}
	args_make(c, OP_SETUP);
	call_with(c, fd, OP_SETUP);
	for (int i = 0; i < 12; i++) {
		op = (enum op)below(&c->r, NR_OPS);
		if (i == 2)
			op = OP_START;
		args_make(c, op);
		if (op == OP_GET_PACKET || op == OP_COUNTERS)
			c->args.packet.cpu = 1;
		if (call_with(c, fd, op) == 0 && op == OP_POOL_CREATE)
			close(c->args.pool.fd);
		if (one_in(&c->r, 6))
			write_to(CPU1, one_in(&c->r, 2) ? "1" : "0");
		if (one_in(&c->r, 6))
			mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)JIS_MMAP_RING(1));
	}
	write_to(CPU1, "1");
	close(fd);
}

/* More targets than there is room for --------------------------------------------------------- */

static int crowd_member(void *arg)
{
	pause();
	return 0;
}

void round_crowd(struct ctx *c)
{
	size_t stack = 2 * PAGE;
	uint8_t *stacks = mmap(NULL, CROWD * stack, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long refused = 0, added = 0;
	int fd = device(), result, i;
	pid_t pids[CROWD];

	args_make(c, OP_SETUP);
	c->args.setup.buffer_bytes = 0;
	c->args.setup.packet_size = 0;
	c->args.setup.clock = JIS_CLOCK_RAW;
	call_with(c, fd, OP_SETUP);
	for (i = 0; i < CROWD; i++) {
		pids[i] = clone(crowd_member, stacks + (size_t)(i + 1) * stack, CLONE_VM | SIGCHLD,
				NULL);
		if (pids[i] < 0)
			break;
		args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)pids[i]);
		result = call_with(c, fd, OP_TARGET_ADD);
		added += result == 0;
		refused += result == -ENOSPC;
	}
	if (i == CROWD && (added + refused != CROWD || !refused))
		wrong(c, "of %d targets %lu are added, %lu refused", i, added, refused);
	while (i--) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(fd);
	munmap(stacks, CROWD * stack);
}
