// SPDX-License-Identifier: MIT
/*
 * jisstorm: targets of all kinds and pools come and go in sessions that record, while threads
 * sleep, fork, execute, and move between cgroups, and the tables of the pools are full of rubbish.
 * What the calls return matters little; what the kernel says about itself does.
 *
 *   jisstorm SECONDS CGROUP CGROUP [any]   any: however few calls it came to make
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"

#define NR_SESSIONS 2
#define POOL_BYTES (256u << 10)
#define WORDS 1024u
#define WORDS_AT 65536u

static int sessions[NR_SESSIONS];
static time_t end;
static const char *cgroups[2];
static int tids[16];
static unsigned long calls, good, pools, packets;

static unsigned long rnd(unsigned long *r)
{
	*r ^= *r << 13;
	*r ^= *r >> 7;
	*r ^= *r << 17;
	return *r;
}

static int call(int fd, unsigned long nr, void *arg)
{
	int result = ioctl(fd, nr, arg);

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (result >= 0)
		__atomic_fetch_add(&good, 1, __ATOMIC_RELAXED);
	return result;
}

static void storm_target(int fd, unsigned long *r)
{
	static const char *const names[] = {"true", "sh", "jisstorm", ""};
	unsigned long how = rnd(r) % 8;
	struct jis_target t = {.size = sizeof(t), .kind = (unsigned int)(rnd(r) % 5)};

	if (t.kind == JIS_TARGET_PROCESS)
		t.pid = (unsigned int)(rnd(r) % 4 ? getpid() : 1);
	if (t.kind == JIS_TARGET_THREAD)
		t.pid = (unsigned int)tids[rnd(r) % 16];
	if (t.kind == JIS_TARGET_CGROUP)
		t.fd = open(cgroups[rnd(r) % 2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t.kind == JIS_TARGET_EXECUTABLE)
		strcpy(t.name, names[rnd(r) % 4]);
	if (how < 4 && (t.kind == JIS_TARGET_PROCESS || t.kind == JIS_TARGET_EXECUTABLE))
		t.flags = (unsigned int)(rnd(r) % 4);
	if (t.kind == JIS_TARGET_ALL && rnd(r) % 8 && how < 4)
		return; /* not too often: it dumps the whole machine */
	call(fd,
	     how < 4   ? JIS_IOC_TARGET_ADD
	     : how < 7 ? JIS_IOC_TARGET_REMOVE
		       : JIS_IOC_TARGET_TEST,
	     &t);
	if (t.kind == JIS_TARGET_CGROUP)
		close(t.fd);
}

/* Fills the table with threads of ours and addresses of all kinds. */
static void storm_words(unsigned char *pool, unsigned long *r)
{
	static unsigned int own;
	struct jis_thread_words *w = (void *)(pool + WORDS_AT);

	for (int i = 0; i < 16; i++) {
		unsigned int at = JIS_WORDS_HASH(tids[i]) + (unsigned int)(rnd(r) % 16);
		struct jis_thread_words *e = &w[at % WORDS];

		e->vm_state = rnd(r) % 2 ? (unsigned long)&own : rnd(r);
		e->os_state = rnd(r) % 2 ? (unsigned long)&own : rnd(r) << (rnd(r) % 64);
		__atomic_store_n(&e->tid, (unsigned int)tids[i], __ATOMIC_RELEASE);
	}
}

static void storm_pool(int fd, unsigned long *r)
{
	struct jis_pool_create p = {.size = sizeof(p),
				    .pid = (unsigned int)getpid(),
				    .bytes = POOL_BYTES,
				    .words_offset = WORDS_AT,
				    .nr_words = WORDS};
	unsigned char *m;

	if (rnd(r) % 4 == 0) {
		p.bytes = rnd(r) % 64 * 4096;
		p.words_offset = rnd(r) % (POOL_BYTES / 64) * 64;
		p.nr_words = 1u << rnd(r) % 20;
	}
	if (call(fd, JIS_IOC_POOL_CREATE, &p))
		return;
	__atomic_fetch_add(&pools, 1, __ATOMIC_RELAXED);
	m = mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
	if (m != MAP_FAILED) {
		if (p.bytes == POOL_BYTES && p.words_offset == WORDS_AT)
			storm_words(m, r);
		if (rnd(r) % 8 == 0)
			fallocate(p.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, POOL_BYTES);
		munmap(m, p.bytes);
	}
	close(p.fd);
}

/* Reads all packets there are, so that recording goes on. */
static void storm_drain(int fd)
{
	struct jis_get_packet got = {.size = sizeof(got)};

	for (got.cpu = 0; got.cpu < 8; got.cpu++)
		for (int n = 0; n < 64 && ioctl(fd, JIS_IOC_GET_PACKET, &got) == 0; n++)
			__atomic_fetch_add(&packets, 1, __ATOMIC_RELAXED);
}

static int session_open(void)
{
	struct jis_setup setup = {.size = sizeof(setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW,
				  .buffer_bytes = 2u << 20};
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, JIS_IOC_SETUP, &setup)) {
		perror(JIS_DEVICE);
		exit(1);
	}
	ioctl(fd, JIS_IOC_START, NULL);
	return fd;
}

static void *control(void *arg)
{
	unsigned long r = (unsigned long)arg * 0x9e3779b97f4a7c15ul;

	while (time(NULL) < end) {
		unsigned int slot = rnd(&r) % NR_SESSIONS;
		unsigned long what = rnd(&r) % 200;
		int fresh;

		if (what == 0) { /* the session and all it has go while probes run */
			fresh = session_open();
			dup3(fresh, sessions[slot], O_CLOEXEC);
			close(fresh);
		} else if (what < 4) {
			call(sessions[slot], JIS_IOC_PAUSE, NULL);
			call(sessions[slot], JIS_IOC_RESUME, NULL);
		} else if (what < 40) {
			storm_pool(sessions[slot], &r);
		} else if (what < 60) {
			storm_drain(sessions[slot]);
		} else {
			storm_target(sessions[slot], &r);
		}
	}
	return NULL;
}

static void *sleeper(void *arg)
{
	const struct timespec t = {0, 50000};

	*(int *)arg = gettid();
	while (time(NULL) < end)
		nanosleep(&t, NULL);
	return NULL;
}

static void move(int pid, const char *cgroup)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		dprintf(fd, "%d", pid);
	close(fd);
}

/* Children that are born here, move, execute a program, and end. */
static void *breeder(void *arg)
{
	unsigned long r = 0x1234567;

	while (time(NULL) < end) {
		pid_t child = fork();

		if (child == 0) {
			move(getpid(), cgroups[rnd(&r) % 2]);
			usleep(200);
			move(getpid(), cgroups[rnd(&r) % 2]);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		rnd(&r);
		waitpid(child, NULL, 0);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[16 + 3 + 1];
	unsigned long i;

	if (argc < 4)
		return 2;
	end = time(NULL) + atoi(argv[1]);
	cgroups[0] = argv[2];
	cgroups[1] = argv[3];
	for (i = 0; i < NR_SESSIONS; i++)
		sessions[i] = session_open();
	for (i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, sleeper, &tids[i]);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[16 + i], NULL, control, (void *)(i + 1));
	pthread_create(&threads[19], NULL, breeder, NULL);
	for (i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
	printf("calls %lu good %lu pools %lu packets %lu\n", calls, good, pools, packets);
	return argc < 5 && !(good > 100 && pools > 10 && packets > 10);
}
