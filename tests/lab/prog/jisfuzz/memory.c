// SPDX-License-Identifier: MIT
/*
 * Mappings: of rings, which nobody may write to or keep longer than the pages; and of pools, whose
 * words may say anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* A session of our own, set up with small rings; or -1. */
static int small_session(struct ctx *c, struct jis_setup *setup)
{
	int fd = device();

	if (fd < 0)
		return -1;
	memset(&c->args, 0, sizeof(c->args));
	c->args.setup =
		(struct jis_setup){.size = sizeof(c->args.setup),
				   .abi_version = JIS_ABI_VERSION,
				   .clock = JIS_CLOCK_RAW,
				   .packet_size = PAGE,
				   .buffer_bytes = world.nr_cpus * PAGE * (4 + below(&c->r, 32))};
	if (call_with(c, fd, OP_SETUP)) {
		close(fd);
		return -1;
	}
	*setup = c->args.setup;
	return fd;
}

/* No way of the kernel's to write into the ring may work. */
static void try_to_write(struct ctx *c, uint8_t *ring, size_t len)
{
	struct iovec from = {c->args.bytes, 64}, to = {ring, 64};
	int fd;

	if (mprotect(ring, len, PROT_READ | PROT_WRITE) == 0 ||
	    mprotect(ring, PAGE, PROT_WRITE) == 0 ||
	    mprotect(ring, len, PROT_READ | PROT_EXEC) == 0)
		wrong(c, "a ring can be made writable");
	if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) > 0)
		wrong(c, "process_vm_writev() writes to a ring");
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (pwrite(fd, c->args.bytes, 8, (off_t)(uintptr_t)ring) > 0)
		wrong(c, "/proc/self/mem writes to a ring");
	close(fd);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (read(fd, ring, 8) > 0)
		wrong(c, "read() writes to a ring");
	close(fd);
}

static void read_all(struct ctx *c, const uint8_t *ring, size_t len)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return;
	for (size_t at = 0; at + PAGE <= len; at += PAGE * (1 + below(&c->r, 8)))
		(void)!write(pipes[1], ring + at, 8);
	close(pipes[0]);
	close(pipes[1]);
}

/* Takes a part of a mapping away. What is put there keeps other threads' mappings out of it. */
static void unmap_part(uint8_t *at, size_t len)
{
	mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* What can be done to a mapping, in any order; it may be gone in parts afterwards. */
static void maltreat(struct ctx *c, uint8_t *ring, size_t len)
{
	bool replaced = false; /* its first page: what begins there is no ring any more */
	size_t at, part;
	pid_t child;

	for (uint64_t n = 1 + below(&c->r, 8); n; n--) {
		at = below(&c->r, len / PAGE) * PAGE;
		part = (1 + below(&c->r, (len - at) / PAGE)) * PAGE;
		switch (below(&c->r, 8)) {
		case 0:
			mprotect(ring + at, part, (int)below(&c->r, 8));
			break;
		case 1:
			if (!replaced &&
			    mremap(ring, len, len + PAGE, MREMAP_MAYMOVE) != MAP_FAILED)
				wrong(c, "a ring's mapping grows");
			break;
		case 2:
			unmap_part(ring + at, part);
			replaced |= at == 0;
			break;
		case 3:
			madvise(ring + at, part, (int)below(&c->r, 26));
			break;
		case 4:
			mlock(ring + at, part);
			msync(ring + at, part, (int)below(&c->r, 8));
			break;
		case 5:
			child = fork();
			if (child == 0)
				_exit(mprotect(ring, len, PROT_READ) == 0);
			waitpid(child, NULL, 0);
			break;
		default:
			read_all(c, ring, len);
		}
	}
}

static void map_wrongly(struct ctx *c, int fd, size_t len)
{
	size_t other = one_in(&c->r, 2) ? len + PAGE - 2 * PAGE * below(&c->r, 2)
					: odd(&c->r) & ((1ull << 34) - 1);
	uint64_t offset = one_in(&c->r, 2) ? JIS_MMAP_RING(below(&c->r, 4)) : odd(&c->r) & ~4095ull;
	int prot = (int)below(&c->r, 8);
	int flags = one_in(&c->r, 4) ? MAP_PRIVATE : MAP_SHARED;
	uint8_t *p = mmap(NULL, other, prot, flags, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return;
	if (other != len || prot & (PROT_WRITE | PROT_EXEC) || flags == MAP_PRIVATE ||
	    offset & ((1ull << 40) - 1))
		wrong(c, "mapped %zu bytes at 0x%llx, protection %d", other,
		      (unsigned long long)offset, prot);
	munmap(p, other);
}

void round_memory(struct ctx *c)
{
	struct jis_setup setup;
	int fd = small_session(c, &setup);
	uint8_t *ring;
	size_t len;

	if (fd < 0)
		return;
	len = setup.ring_bytes;
	for (int i = 0; i < 6; i++)
		map_wrongly(c, fd, len);
	ring = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		wrong(c, "mmap: %s", strerror(errno));
		close(fd);
		return;
	}
	args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)world.mill);
	call_with(c, fd, OP_TARGET_ADD);
	if (one_in(&c->r, 3))
		call(fd, OP_START, NULL);
	try_to_write(c, ring, len);
	if (one_in(&c->r, 2)) {
		close(fd);
		fd = -1;
	}
	maltreat(c, ring, len);
	munmap(ring, len);
	if (fd >= 0)
		close(fd);
}

/* Entries for threads of this process whose words are at any address there is or is not. */
static void rubbish(struct ctx *c, uint8_t *pool, const struct jis_pool_create *made)
{
	struct jis_thread_words *w = (void *)(pool + made->words_offset);
	uint32_t n = made->nr_words, tid = (uint32_t)gettid();

	for (uint32_t i = 0; i < n && i < 64; i++) {
		struct jis_thread_words *one = &w[(JIS_WORDS_HASH(tid) + i) & (n - 1)];

		one->vm_state =
			one_in(&c->r, 2) ? odd(&c->r) : (uintptr_t)&c->args + below(&c->r, 64);
		one->os_state = one_in(&c->r, 2) ? odd(&c->r) : (uintptr_t)c->pages + 2 * PAGE - 2;
		__atomic_store_n(&one->tid, one_in(&c->r, 2) ? tid : (uint32_t)odd(&c->r),
				 __ATOMIC_RELEASE);
	}
}

static void try_to_resize(struct ctx *c, int fd, uint64_t bytes)
{
	if (ftruncate(fd, 0) == 0 || ftruncate(fd, (off_t)bytes * 2) == 0 ||
	    fallocate(fd, 0, (off_t)bytes, PAGE) == 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		wrong(c, "a pool's size can be changed");
	if (one_in(&c->r, 2))
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

static void use_pool(struct ctx *c, int session, const struct jis_pool_create *made)
{
	uint8_t *pool = mmap(NULL, made->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd, 0);
	volatile struct jis_pool_header *h = (void *)pool;
	bool holes = one_in(&c->r, 3);
	pid_t child;

	if (pool == MAP_FAILED) {
		wrong(c, "a pool cannot be mapped: %s", strerror(errno));
		return;
	}
	h->event_mask = ~0ull;
	if (holes)
		try_to_resize(c, made->fd, made->bytes);
	rubbish(c, pool, made);
	for (uint64_t n = below(&c->r, 6); n; n--) {
		usleep((unsigned int)below(&c->r, 3000));
		rubbish(c, pool, made);
	}
	if (one_in(&c->r, 4)) {
		child = fork();
		if (child == 0) {
			rubbish(c, pool, made);
			usleep(100);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (one_in(&c->r, 4))
		unmap_part(pool + PAGE, made->bytes - PAGE);
	close(session);
	/* A child of another thread may have the session open for a moment longer. */
	for (int i = 0; !holes && i < 10000 && h->event_mask; i++)
		usleep(1000);
	if (!holes && h->event_mask)
		wrong(c, "the session is gone, the pool's writers are on");
	munmap(pool, made->bytes);
}

void round_pool(struct ctx *c)
{
	struct jis_pool_create made;
	struct jis_setup setup;
	int fd = small_session(c, &setup);

	if (fd < 0)
		return;
	args_target(&c->args, JIS_TARGET_PROCESS, (uint32_t)getpid());
	call_with(c, fd, OP_TARGET_ADD);
	if (one_in(&c->r, 2))
		call(fd, OP_START, NULL);
	args_make(c, OP_POOL_CREATE);
	c->args.pool.pid = (uint32_t)getpid();
	if (call_with(c, fd, OP_POOL_CREATE)) {
		close(fd);
		return;
	}
	made = c->args.pool;
	if (one_in(&c->r, 2))
		call(fd, OP_START, NULL);
	use_pool(c, fd, &made);
	close(made.fd);
}
