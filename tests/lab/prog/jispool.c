// SPDX-License-Identifier: MIT
/*
 * jispool: a program in a recording that uses its pool in known ways, and misuses it.
 *
 *   jispool markers N   N markers, from two threads each
 *   jispool words N     sleeps N times; before the i-th its two words are i and ~i; prints its tid
 *                       and how often the kernel says it slept
 *   jispool bad         threads with words at addresses that are none; prints "what TID"
 *   jispool until-off   marks until its pool is switched off; prints "writing", then "off"
 *   jispool hurt        asks for a pool and does what it can to it, then writes rubbish
 *   jispool rate N      N round trips of two threads with words; ns each. rate-bare: without words
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"
#include "libjisctl/writer.h"
#include "libjisctl/writer_client.h"

static struct jis_writer *writer;

static void die(const char *what)
{
	printf("jispool: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_writer(void)
{
	int err = jisctl_writer_open(&writer);

	errno = -err;
	if (err)
		die("no pool");
}

/* Which kind of memory the pool is, as the kernel names it. */
static void print_mapping(void)
{
	char line[512], *name;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		name = strchr(line, '/');
		if (name && strstr(name, "jis-pool"))
			printf("pool %s", name);
	}
	if (f)
		fclose(f);
}

static void *mark(void *arg)
{
	long n = (long)arg, i;

	for (i = 1; i <= n; i++)
		jisctl_event(writer, 7, i);
	return NULL;
}

static void nap(long ns)
{
	const struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

static int do_markers(long n)
{
	pthread_t threads[2];

	open_writer();
	print_mapping();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, mark, (void *)n);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static uint32_t word[2];

static void *sleep_with_words(void *arg)
{
	struct rusage before, after;
	long n = (long)arg, i;
	int err = jisctl_thread_words(writer, 0, &word[0], &word[1]);

	if (err) {
		errno = -err;
		die("words");
	}
	printf("sleeper %d\n", gettid());
	fflush(stdout);
	getrusage(RUSAGE_THREAD, &before);
	for (i = 1; i <= n; i++) {
		__atomic_store_n(&word[0], (uint32_t)i, __ATOMIC_SEQ_CST);
		__atomic_store_n(&word[1], ~(uint32_t)i, __ATOMIC_SEQ_CST);
		nap(1000000);
	}
	getrusage(RUSAGE_THREAD, &after);
	printf("slept %ld\n", after.ru_nvcsw - before.ru_nvcsw);
	fflush(stdout);
	/* no longer: what follows has no words */
	jisctl_thread_words(writer, 0, NULL, NULL);
	for (i = 1; i <= 20; i++)
		nap(1000000);
	return NULL;
}

/* A thread's words end with it: the next thread has none, though it may get the same number. */
static void *sleep_without(void *unused)
{
	printf("without %d\n", gettid());
	for (int i = 0; i < 20; i++)
		nap(1000000);
	return unused;
}

static int do_words(long n)
{
	pthread_t a, b;

	open_writer();
	pthread_create(&a, NULL, sleep_with_words, (void *)n);
	pthread_create(&b, NULL, sleep_without, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

struct bad {
	const char *what;
	uintptr_t address;
};

static void *sleep_bad(void *arg)
{
	const struct bad *b = arg;

	if (jisctl_thread_words(writer, 0, (uint32_t *)b->address, (uint32_t *)(b->address + 1)))
		die("words");
	printf("%s %d\n", b->what, gettid());
	for (int i = 0; i < 20; i++)
		nap(1000000);
	return NULL;
}

static int do_bad(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bad bad[] = {
		{"unmapped", (uintptr_t)gone},	       {"none", 0},
		{"kernel-text", 0xffffffff81000000u},  {"direct-map", 0xffff888000001000u},
		{"no-address", 0x8000000000000000u},   {"last", UINTPTR_MAX - 1},
		{"protected", (uintptr_t)page + 4096}, {"across", (uintptr_t)page + 4094}};
	pthread_t threads[8];

	memset(page, 0x5a, 8192);
	mprotect(page + 4096, 4096, PROT_NONE);
	munmap(gone, 4096);
	open_writer();
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, sleep_bad, &bad[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int do_until_off(void)
{
	long i;

	open_writer();
	for (i = 0; i < 100; i++)
		jisctl_event(writer, 7, i);
	if (!jis_writer_on(writer, JIS_EV_marker))
		return 1;
	printf("writing\n");
	fflush(stdout);
	for (i = 0; i < 600000 && jis_writer_on(writer, JIS_EV_marker); i++) {
		jisctl_event(writer, 7, i);
		nap(1000000);
	}
	printf("%s\n", jis_writer_on(writer, JIS_EV_marker) ? "still on" : "off");
	fflush(stdout);
	pause(); /* with the pool mapped */
	return 0;
}

struct party {
	int in, out;
	long rounds;
	const uint32_t *words; /* NULL: none */
};

static void *play(void *arg)
{
	const struct party *p = arg;
	char c = 0;

	if (p->words)
		jisctl_thread_words(writer, 0, p->words, p->words + 1);
	for (long i = 0; i < p->rounds; i++)
		if (read(p->in, &c, 1) != 1 || write(p->out, &c, 1) != 1)
			exit(1);
	return NULL;
}

/* ns of a round trip of two threads on one CPU. */
static int do_rate(long n, bool words)
{
	static const uint32_t both[2] = {1, 2};
	struct party a = {.rounds = n, .words = words ? both : NULL}, b = a;
	int there[2], back[2];
	struct timespec t[2];
	pthread_t other;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	open_writer();
	if (sched_setaffinity(0, sizeof(set), &set) || pipe(there) || pipe(back))
		return 1;
	a.in = there[0];
	a.out = back[1];
	b.in = back[0];
	b.out = there[1];
	pthread_create(&other, NULL, play, &a);
	if (write(there[1], "", 1) != 1)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	b.rounds--;
	play(&b);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	pthread_join(other, NULL);
	printf("%.0f\n",
	       ((double)(t[1].tv_sec - t[0].tv_sec) * 1e9 + (double)(t[1].tv_nsec - t[0].tv_nsec)) /
		       (double)n);
	return 0;
}

static int failures;

static void refused(const char *what, int result)
{
	if (result < 0)
		return;
	printf("%s is not refused\n", what);
	failures++;
}

/* Each word of the pool, but for the numbers that say where things are, becomes rubbish. */
static void rubbish(unsigned char *pool, size_t size, unsigned int seed)
{
	for (size_t i = 112; i < size; i += 4) {
		uint32_t v;

		seed = seed * 1103515245u + 12345u;
		v = seed % 3 ? seed : seed % 7;
		memcpy(pool + i, &v, 4);
	}
}

static int do_hurt(void)
{
	struct client_pool pool = {.fd = -1};
	int err = client_connect(&pool), fd;
	char path[64];
	struct stat st;

	errno = -err;
	if (err)
		die("no pool");
	/* Its descriptor again, by way of the mapping. */
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)pool.memory,
		 (unsigned long)pool.memory + pool.size);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die(path);
	refused("shrinking", ftruncate(fd, 4096));
	refused("growing", ftruncate(fd, (off_t)pool.size * 2));
	refused("growing by fallocate", fallocate(fd, 0, (off_t)pool.size, 4096));
	refused("growing by a write", (int)pwrite(fd, "x", 1, (off_t)pool.size));
	refused("another seal", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	if (fstat(fd, &st) || (size_t)st.st_size != pool.size) {
		printf("the pool's size has changed\n");
		failures++;
	}
	if (fcntl(fd, F_GET_SEALS) != (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		printf("seals %d\n", fcntl(fd, F_GET_SEALS));
		failures++;
	}
	for (unsigned int i = 1; i <= 20; i++) {
		rubbish(pool.memory, pool.size, i);
		nap(20000000);
		/* holes: in all of it, the page of the header and the words included */
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)pool.size);
		madvise(pool.memory, pool.size, MADV_REMOVE);
		nap(20000000);
	}
	printf("%d failures\n", failures);
	return failures != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 100;

	if (!strcmp(what, "markers"))
		return do_markers(n);
	if (!strcmp(what, "words"))
		return do_words(n);
	if (!strcmp(what, "bad"))
		return do_bad();
	if (!strcmp(what, "until-off"))
		return do_until_off();
	if (!strcmp(what, "rate") || !strcmp(what, "rate-bare"))
		return do_rate(n, !strcmp(what, "rate"));
	if (!strcmp(what, "hurt"))
		return do_hurt();
	return 2;
}
