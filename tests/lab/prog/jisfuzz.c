// SPDX-License-Identifier: MIT
/*
 * jisfuzz: calls /dev/jis with nonsense for some seconds, from threads that share sessions. What
 * the calls return does not matter; what the kernel says about itself afterwards does.
 *
 *   jisfuzz SECONDS [SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"

#define NR_FDS 3
#define NR_THREADS 4

static int fds[NR_FDS];
static time_t end;
static unsigned long calls[16], good[16];

struct rng {
	unsigned long state;
};

static unsigned long rnd(struct rng *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

static unsigned long pick(struct rng *r)
{
	static const unsigned long odd[] = {0,		1,	   2,	      4,	 4096,
					    4097,	65536,	   1ul << 20, 1ul << 27, 1ul << 31,
					    1ul << 32,	1ul << 40, 1ul << 63, ~0ul,	 ~0ul - 1,
					    0x7fffffff, 0xffffffff};

	if (rnd(r) % 4 == 0)
		return rnd(r);
	return odd[rnd(r) % (sizeof(odd) / sizeof(odd[0]))];
}

/* A structure that is nearly right: most of its words are zero, its size mostly true. */
static void *argument(struct rng *r, unsigned int nr, unsigned char *buffer, size_t n)
{
	unsigned int size = _IOC_SIZE(nr), words;

	switch (rnd(r) % 16) {
	case 0:
		return NULL;
	case 1:
		return (void *)pick(r);
	case 2:
		for (size_t i = 0; i < n; i++)
			buffer[i] = (unsigned char)rnd(r);
		return buffer;
	}
	memset(buffer, 0, n);
	for (words = rnd(r) % 4; words; words--) {
		unsigned long v = pick(r);

		memcpy(buffer + rnd(r) % (size / 4 + 1) * 4, &v, rnd(r) % 2 ? 4 : 8);
	}
	if (rnd(r) % 8)
		memcpy(buffer, &size, 4);
	return buffer;
}

static void likely_setup(struct rng *r, struct jis_setup *s)
{
	s->abi_version = JIS_ABI_VERSION;
	s->clock = 1 + rnd(r) % 2;
	s->flags &= 1;
	s->base = 0;
	memset(s->reserved, 0, sizeof(s->reserved));
	if (s->buffer_bytes > 64u << 20)
		s->buffer_bytes &= (64u << 20) - 1;
}

static void fuzz_ioctl(struct rng *r, int fd)
{
	static const unsigned int known[] = {
		JIS_IOC_SETUP,
		JIS_IOC_TARGET_ADD,
		JIS_IOC_TARGET_REMOVE,
		JIS_IOC_START,
		JIS_IOC_PAUSE,
		JIS_IOC_RESUME,
		JIS_IOC_STOP,
		JIS_IOC_FLUSH,
		JIS_IOC_GET_PACKET,
		JIS_IOC_STATUS,
		JIS_IOC_COUNTERS,
		JIS_IOC_SETUP,
		_IOW(JIS_IOC_MAGIC, 12, struct jis_target),
	};
	unsigned int which = rnd(r) % 13, nr = known[which];
	unsigned char buffer[2048];
	void *arg;
	int result;

	if (nr == JIS_IOC_STOP && rnd(r) % 16)
		return;
	arg = argument(r, nr, buffer, sizeof(buffer));
	if (nr == JIS_IOC_SETUP && arg == buffer && rnd(r) % 2)
		likely_setup(r, arg);
	if (nr == JIS_IOC_TARGET_ADD && arg == buffer && rnd(r) % 2)
		((struct jis_target *)arg)->pid = (unsigned int)getpid();
	if (rnd(r) % 32 == 0)
		nr = (unsigned int)pick(r);
	result = ioctl(fd, nr, arg);
	__atomic_fetch_add(&calls[which], 1, __ATOMIC_RELAXED);
	if (result == 0)
		__atomic_fetch_add(&good[which], 1, __ATOMIC_RELAXED);
}

static void fuzz_map(struct rng *r, int fd)
{
	struct jis_setup guess = {.ring_bytes = (rnd(r) % 64 + 1) << 12};
	size_t len = rnd(r) % 2 ? guess.ring_bytes : pick(r) & ((1ul << 34) - 1);
	off_t offset = (off_t)(rnd(r) % 2 ? JIS_MMAP_RING(rnd(r) % 4) : pick(r) & ~4095ul);
	volatile char *p = mmap(NULL, len, (int)(rnd(r) % 8), rnd(r) % 4 ? MAP_SHARED : MAP_PRIVATE,
				fd, offset);

	if (p == MAP_FAILED)
		return;
	if (rnd(r) % 2)
		madvise((void *)p, len, (int)(rnd(r) % 26));
	mprotect((void *)p, len, (int)(rnd(r) % 8));
	munmap((void *)p, len);
}

static void fuzz_others(struct rng *r, int fd)
{
	struct pollfd p = {.fd = fd, .events = (short)rnd(r)};
	char buffer[16];

	poll(&p, 1, 0);
	if (rnd(r) % 2)
		(void)!read(fd, buffer, sizeof(buffer));
	else
		(void)!write(fd, buffer, sizeof(buffer));
	lseek(fd, (off_t)pick(r), SEEK_SET);
}

static void reopen(struct rng *r, unsigned int slot)
{
	int fresh = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);

	if (fresh >= 0) {
		dup3(fresh, fds[slot], O_CLOEXEC);
		close(fresh);
	}
}

static void *fuzz(void *arg)
{
	struct rng r = {(unsigned long)arg};

	while (time(NULL) < end) {
		unsigned int slot = rnd(&r) % NR_FDS;
		unsigned long what = rnd(&r) % 256;

		if (what == 0)
			reopen(&r, slot);
		else if (what < 20)
			fuzz_map(&r, fds[slot]);
		else if (what < 30)
			fuzz_others(&r, fds[slot]);
		else
			fuzz_ioctl(&r, fds[slot]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 42;
	pthread_t threads[NR_THREADS];

	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	for (int i = 0; i < NR_FDS; i++)
		fds[i] = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	if (fds[0] < 0) {
		perror(JIS_DEVICE);
		return 1;
	}
	for (unsigned long i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, fuzz,
			       (void *)(seed * 0x9e3779b97f4a7c15ul + i + 1));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 13; i++)
		printf("call %d: %lu, %lu good\n", i, calls[i], good[i]);
	return 0;
}
