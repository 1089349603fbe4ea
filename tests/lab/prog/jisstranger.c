// SPDX-License-Identifier: MIT
/*
 * jisstranger N: in a recording, as root: a process whose pool's descriptor is passed to a process
 * without any rights, which tries everything with it. Beside them a third process writes N markers
 * into a pool of its own before the attempts and N after: of those the stranger must find nothing,
 * though that process finds them with the same eyes. Prints what does not hold, and what was found;
 * status 0 when all holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"
#include "libjisctl/jisctl.h"
#include "libjisctl/writer.h"
#include "libjisctl/writer_client.h"
#include "passfd.h"

#define NOBODY 65534
#define SECRET 0x5ec2e75ec2e70000ull

static int failures;

static void die(const char *what)
{
	printf("jisstranger: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(99);
}

/* @result must be @want, an errno negated. */
#define EXPECT(want, result) expect(__LINE__, #result, want, result)

static void expect(int line, const char *what, long want, long result)
{
	if (result == want)
		return;
	printf("line %d: %s is %ld, not %ld\n", line, what, result, want);
	failures++;
}

#define ERRNO(call) ((call) < 0 ? -(long)errno : 0)

/* Secret markers in some memory: their value, wherever it lies. */
static long secrets(const unsigned char *memory, size_t size)
{
	uint64_t v;
	long n = 0;

	for (size_t i = 0; i + sizeof(v) <= size; i++) {
		memcpy(&v, memory + i, sizeof(v));
		n += v >> 16 == SECRET >> 16;
	}
	return n;
}

static sigjmp_buf fault;

static void on_fault(int unused)
{
	siglongjmp(fault, 1);
}

/* The size of what of the file can be read through a mapping at @offset: no more than @most. */
static size_t readable(const volatile unsigned char *memory, size_t most)
{
	volatile size_t i;
	unsigned char c;

	for (i = 0; i < most; i += 4096) {
		if (sigsetjmp(fault, 1))
			break;
		c = memory[i];
		(void)c;
	}
	return i;
}

/* All that any offset of the descriptor shows is its own @size bytes, at their place. */
static void look(int fd, size_t size)
{
	const off_t offsets[] = {0,
				 4096,
				 (off_t)size,
				 (off_t)JIS_MMAP_RING(0) + (off_t)size * 2,
				 (off_t)JIS_MMAP_RING(1),
				 (off_t)JIS_MMAP_RING(2),
				 1ll << 62};
	size_t want, got, most = size * 2;
	unsigned char *memory;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		memory = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offsets[i]);
		if (memory == MAP_FAILED)
			continue;
		want = (size_t)offsets[i] < size ? size - (size_t)offsets[i] : 0;
		got = readable(memory, most);
		if (got != want) {
			printf("at offset %#llx %zu bytes can be read, not %zu\n",
			       (unsigned long long)offsets[i], got, want);
			failures++;
		}
		if (secrets(memory, got)) {
			printf("at offset %#llx are another's events\n",
			       (unsigned long long)offsets[i]);
			failures++;
		}
		munmap(memory, most);
	}
}

/* The device's calls are none of the pool's, whatever they are given. */
static void call(int fd)
{
	static unsigned char argument[1 << 14];
	const unsigned long calls[] = {
		JIS_IOC_SETUP,	     JIS_IOC_TARGET_ADD, JIS_IOC_TARGET_REMOVE, JIS_IOC_START,
		JIS_IOC_PAUSE,	     JIS_IOC_RESUME,	 JIS_IOC_STOP,		JIS_IOC_FLUSH,
		JIS_IOC_GET_PACKET,  JIS_IOC_STATUS,	 JIS_IOC_COUNTERS,	JIS_IOC_TARGET_TEST,
		JIS_IOC_SYSCALLS,    JIS_IOC_FREEZE,	 JIS_IOC_THAW,		JIS_IOC_DUMP,
		JIS_IOC_POOL_CREATE,
	};
	struct jis_target target = {.size = sizeof(target),
				    .kind = JIS_TARGET_ALL,
				    .pid = (uint32_t)getppid()};

	memcpy(argument, &target, sizeof(target));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		EXPECT(-ENOTTY, ERRNO(ioctl(fd, calls[i], argument)));
		EXPECT(-ENOTTY, ERRNO(ioctl(fd, calls[i], NULL)));
	}
	for (unsigned int nr = 0; nr < 256; nr++)
		EXPECT(-ENOTTY, ERRNO(ioctl(fd, _IO(JIS_IOC_MAGIC, nr), argument)));
}

/* Neither size nor seals change. */
static void resize(int fd, size_t size)
{
	struct stat st;

	EXPECT(-EPERM, ERRNO(ftruncate(fd, 0)));
	EXPECT(-EPERM, ERRNO(ftruncate(fd, (off_t)size * 2)));
	EXPECT(-EPERM, ERRNO(fallocate(fd, 0, (off_t)size, 4096)));
	EXPECT(-EPERM, ERRNO(pwrite(fd, "x", 1, (off_t)size)));
	EXPECT(-EPERM, ERRNO(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE)));
	EXPECT(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, fcntl(fd, F_GET_SEALS));
	EXPECT(0, ERRNO(fstat(fd, &st)));
	EXPECT((long)size, (long)st.st_size);
}

/* What leads from here to the recorder and to root's other processes. */
static void reach(pid_t owner, pid_t witness)
{
	const pid_t others[] = {owner, witness};
	struct iovec here, there;
	char path[64], c;
	/* A kernel may have been built without it; then nobody can. */
	int none = ERRNO(process_vm_readv(getpid(), NULL, 0, NULL, 0, 0)) == -ENOSYS;

	EXPECT(-EACCES, ERRNO(open(JIS_DEVICE, O_RDWR)));
	EXPECT(-EACCES, ERRNO(open(JIS_DEVICE, O_RDONLY)));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/mem", others[i]);
		EXPECT(-EACCES, ERRNO(open(path, O_RDONLY)));
		snprintf(path, sizeof(path), "/proc/%d/maps", others[i]);
		EXPECT(-EACCES, ERRNO(open(path, O_RDONLY)));
		EXPECT(-EPERM, ERRNO(ptrace(PTRACE_ATTACH, others[i], NULL, NULL)));
		here = (struct iovec){&c, 1};
		there = (struct iovec){(void *)getenv, 1};
		EXPECT(none ? -ENOSYS : -EPERM,
		       ERRNO(process_vm_readv(others[i], &here, 1, &there, 1, 0)));
	}
}

static void nap(long ms)
{
	const struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

/* Rubbish, small numbers and great ones, and holes: behind the header at first, then in all of it.
 */
static void spoil(int fd, size_t size)
{
	unsigned char *pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned int seed = 1;
	uint32_t v;

	if (pool == MAP_FAILED)
		die("the passed pool");
	for (int round = 0; round < 20; round++) {
		size_t from = round < 10 ? 4096 : 0;

		for (size_t i = from; i < size; i += sizeof(v)) {
			seed = seed * 1103515245u + 12345u;
			v = seed % 3 ? seed : seed % 7;
			memcpy(pool + i, &v, sizeof(v));
		}
		nap(20);
		EXPECT(0, ERRNO(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					  (off_t)from, (off_t)(size - from))));
		nap(20);
	}
	munmap(pool, size);
}

/* Forked before there was a pool, so that it has nothing but what is passed. */
static int stranger(int from, pid_t witness)
{
	struct sigaction on = {.sa_handler = on_fault};
	struct stat st;
	int fd;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		die("becoming nobody");
	sigaction(SIGBUS, &on, NULL);
	sigaction(SIGSEGV, &on, NULL);
	fd = receive_fd(from);
	if (fd < 0)
		die("no descriptor came");
	if (fstat(fd, &st))
		die("fstat");
	look(fd, (size_t)st.st_size);
	call(fd);
	resize(fd, (size_t)st.st_size);
	reach(getppid(), witness);
	spoil(fd, (size_t)st.st_size);
	look(fd, (size_t)st.st_size);
	printf("stranger %d failures %d\n", getpid(), failures);
	fflush(stdout);
	return failures != 0;
}

static void mark(struct jis_writer *writer, long n, long from)
{
	for (long i = 0; i < n; i++)
		jisctl_event(writer, 7, (int64_t)(SECRET + (uint64_t)(from + i) % 65536));
}

/* Its pool, found among its own mappings. */
static long own_secrets(void)
{
	unsigned long from, to;
	char line[512];
	long n = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "jis-pool") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			n += secrets((unsigned char *)from, to - from);
	if (f)
		fclose(f);
	return n;
}

static int witness(long n, int ready, int go)
{
	struct jis_writer *writer;
	int err = jisctl_writer_open(&writer);
	char c = 0;

	errno = -err;
	if (err)
		die("the witness has no pool");
	mark(writer, n, 0);
	printf("witness %d found %ld of %ld\n", getpid(), own_secrets(), n);
	fflush(stdout);
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) != 0)
		die("the witness waits");
	mark(writer, n, n);
	return 0;
}

/* The descriptor of a pool, by way of its mapping: root's right. */
static int pool_fd(const struct client_pool *pool)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)pool->memory,
		 (unsigned long)pool->memory + pool->size);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	long n = argc == 2 ? atol(argv[1]) : 0;
	struct client_pool pool = {.fd = -1};
	int ready[2], go[2], way[2], status[2], err;
	pid_t watcher, other;
	char c;

	if (n <= 0)
		return 2;
	if (pipe(ready) || pipe(go) || socketpair(AF_UNIX, SOCK_STREAM, 0, way))
		die("pipes");
	watcher = fork();
	if (watcher < 0)
		die("fork");
	if (watcher == 0) {
		close(go[1]);
		_exit(witness(n, ready[1], go[0]));
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		die("the witness is not ready");
	other = fork();
	if (other < 0)
		die("fork");
	if (other == 0) {
		close(go[1]);
		_exit(stranger(way[1], watcher));
	}
	err = client_connect(&pool);
	errno = -err;
	if (err)
		die("no pool");
	if (send_fd(way[0], pool_fd(&pool)))
		die("passing the descriptor");
	waitpid(other, &status[0], 0);
	close(go[1]);
	waitpid(watcher, &status[1], 0);
	return status[0] || status[1];
}
