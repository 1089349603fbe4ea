// SPDX-License-Identifier: MIT
/*
 * Failures on request: memory that the module asks for, and copies from and to user space, fail at
 * the n-th time, or from then on. Needs a kernel that injects failures
 * (Documentation/fault-injection); only those under a function of jis.ko fail, and only in the
 * thread that asks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define DEBUGFS "/sys/kernel/debug/"

static bool put(const char *directory, const char *file, const char *text)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", directory, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return done;
}

/* Where the module's code is. */
static bool module_text(uint64_t *begin, uint64_t *end)
{
	FILE *f = fopen("/sys/module/jis/sections/.text", "r");
	char line[256], name[64];
	unsigned long size = 0;
	bool found;

	found = f && fscanf(f, "%lx", begin) == 1;
	if (f)
		fclose(f);
	f = fopen("/proc/modules", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lu", name, &size) == 2 && !strcmp(name, "jis"))
			break;
	if (f)
		fclose(f);
	*end = *begin + size;
	return found && *begin;
}

static bool attribute(const char *name, uint64_t begin, uint64_t end)
{
	char from[32], to[32];

	snprintf(from, sizeof(from), "0x%llx", (unsigned long long)begin);
	snprintf(to, sizeof(to), "0x%llx", (unsigned long long)end);
	put(name, "verbose", "0");
	put(name, "ignore-gfp-wait", "N");
	put(name, "ignore-gfp-highmem", "N");
	put(name, "min-order", "0");
	return put(name, "task-filter", "Y") && put(name, "require-start", from) &&
	       put(name, "require-end", to) && put(name, "times", "-1") &&
	       put(name, "probability", "100");
}

/* Only what kmalloc() and its kin give out fails: kmemleak says under a lock of its own what it
 * lacks. */
static bool only_kmalloc(void)
{
	static const char *const families[] = {"kmalloc-", "kmalloc-cg-"};
	bool any = false;
	char path[128];
	int fd;

	for (unsigned int size = 8; size <= 8192; size *= 2) {
		for (size_t i = 0; i < NR(families); i++) {
			snprintf(path, sizeof(path),
				 size < 1024 ? "/sys/kernel/slab/%s%u/failslab"
					     : "/sys/kernel/slab/%s%uk/failslab",
				 families[i], size < 1024 ? size : size / 1024);
			fd = open(path, O_WRONLY | O_CLOEXEC);
			any |= fd >= 0 && write(fd, "1", 1) == 1;
			close(fd);
		}
	}
	return put("failslab", "cache-filter", "Y") && any;
}

static bool kmemleak_works(void)
{
	char line[4096] = "";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);

	(void)!read(fd, line, sizeof(line) - 1);
	close(fd);
	return access(DEBUGFS "kmemleak", F_OK) == 0 && !strstr(line, "kmemleak=off");
}

/* Sets the kernel up for it. Returns whether it can. Pages only where kmemleak needs none. */
bool inject_init(void)
{
	uint64_t begin, end;

	if (access("/proc/thread-self/fail-nth", W_OK) || !module_text(&begin, &end))
		return false;
	if (!kmemleak_works())
		attribute("fail_page_alloc", begin, end);
	return attribute("failslab", begin, end) && only_kmalloc() &&
	       attribute("fail_usercopy", begin, end);
}

static void thread_put(const char *file, unsigned int n)
{
	char path[64], text[16];
	int fd;

	snprintf(path, sizeof(path), "/proc/thread-self/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%u", n);
	if (fd >= 0)
		(void)!write(fd, text, strlen(text));
	close(fd);
}

/* The next failure was made: nothing is left to count. */
static bool was_hit(void)
{
	char text[16] = "";
	int fd = open("/proc/thread-self/fail-nth", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && atoi(text) == 0;
}

/* The @nth request fails; with @all those that follow, too. */
static void inject_begin(unsigned int nth, bool all)
{
	thread_put("make-it-fail", all);
	thread_put("fail-nth", nth);
}

static void inject_end(void)
{
	thread_put("make-it-fail", 0);
	if (was_hit())
		__atomic_fetch_add(&stats->injected, 1, __ATOMIC_RELAXED);
	thread_put("fail-nth", 0);
}

/* A right call during which the kernel fails; what it may say then is what any failure says. */
static int fail(struct ctx *c, int fd, enum op op)
{
	unsigned int nth = 1 + (unsigned int)below(&c->r, one_in(&c->r, 2) ? 4 : 40);
	bool all = one_in(&c->r, 3);
	int result;

	inject_begin(nth, all);
	result = call_with(c, fd, op);
	inject_end();
	if (result < 0 && result != -ENOMEM && result != -EFAULT && result != -EINTR &&
	    result != -EBADFD && result != -ESRCH && result != -EEXIST && result != -ENOSPC &&
	    result != -EAGAIN && result != -EINVAL && result != -EBADF && result != -EOPNOTSUPP &&
	    result != -ERANGE && result != -ENXIO && result != -EMFILE)
		wrong(c, "%s while memory fails: %s", ops[op].name, strerror(-result));
	if (result >= 0 && op == OP_POOL_CREATE)
		close(c->args.pool.fd);
	return result;
}

static int open_failing(struct ctx *c)
{
	int fd;

	inject_begin(1 + (unsigned int)below(&c->r, 3), one_in(&c->r, 2));
	fd = device();
	inject_end();
	return fd >= 0 ? fd : device();
}

static void map_failing(struct ctx *c, int fd, size_t len)
{
	void *ring;

	inject_begin(1 + (unsigned int)below(&c->r, 20), one_in(&c->r, 2));
	ring = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	inject_end();
	if (ring != MAP_FAILED)
		munmap(ring, len);
}

/* Set up at last: each failure leaves a session that can be set up again. */
static bool setup_failing(struct ctx *c, int fd)
{
	int result = -ENOMEM, tries;

	for (tries = 0; result && tries < 4; tries++) {
		args_make(c, OP_SETUP);
		c->args.setup.buffer_bytes = 256 << 10;
		c->args.setup.packet_size = PAGE;
		c->args.setup.clock = JIS_CLOCK_RAW;
		result = fail(c, fd, OP_SETUP);
	}
	if (result == -EFAULT || result == -EBADFD)
		return false;
	if (result) {
		result = call_with(c, fd, OP_SETUP);
		if (result == -EBADFD)
			return false;
		if (result && result != -EINTR && result != -ENOMEM)
			wrong(c, "set up after failures: %s", strerror(-result));
	}
	return result == 0;
}

void round_inject(struct ctx *c)
{
	static const enum op some[] = {OP_TARGET_ADD,  OP_TARGET_ADD, OP_TARGET_ADD, OP_POOL_CREATE,
				       OP_POOL_CREATE, OP_SYSCALLS,   OP_START,	     OP_PAUSE,
				       OP_RESUME,      OP_DUMP,	      OP_COUNTERS,   OP_STATUS,
				       OP_GET_PACKET,  OP_FREEZE};
	int fd;

	if (!world.inject)
		return;
	fd = open_failing(c);
	if (fd < 0)
		return;
	if (setup_failing(c, fd)) {
		map_failing(c, fd, c->args.setup.ring_bytes);
		args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)getpid());
		fail(c, fd, OP_TARGET_ADD);
		call_with(c, fd, OP_TARGET_ADD);
		for (uint64_t n = 4 + below(&c->r, 16); n; n--) {
			enum op op = some[below(&c->r, NR(some))];

			args_make(c, op);
			fail(c, fd, op);
		}
		fail(c, fd, OP_STOP);
	}
	close(fd);
}
