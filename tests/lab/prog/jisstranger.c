// SPDX-License-Identifier: MIT
/*
 * jisstranger N DIR: in a recording into DIR, as root: a process whose pool's descriptor is passed
 * to a process without any rights, which tries everything with it. Beside them a third process
 * writes N markers into a pool of its own before the attempts and N after: of those the stranger
 * must find nothing, though that process finds them with the same eyes. Says what markers of its
 * own are in the packets it forges: "forged TYPE COUNT PROCESS", as many as must be in the trace.
 * Prints what does not hold, and what was found; status 0 when all holds.
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"
#include "jis/agent.h"
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

/* What one may do with a file of root's that one has, and what not. It leads to nothing more. */
static void own(int fd, size_t size, pid_t recorder)
{
	const struct timespec times[2] = {{1, 1}, {1, 1}};
	char path[64];
	void *code;
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT(-EPERM, ERRNO(open(path, O_RDWR | O_TRUNC)));
	again = open(path, O_RDWR);
	EXPECT(0, ERRNO(again));
	EXPECT(-EPERM, ERRNO(ftruncate(again, 0)));
	EXPECT(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, fcntl(again, F_GET_SEALS));
	look(again, size);
	EXPECT(-ENOTTY, ERRNO(ioctl(again, JIS_IOC_STOP, NULL)));
	close(again);
	EXPECT(-EPERM, ERRNO(fchmod(fd, 0600)));
	EXPECT(-EPERM, ERRNO(fchown(fd, NOBODY, NOBODY)));
	EXPECT(-EPERM, ERRNO(futimens(fd, times)));
	EXPECT(-EACCES, ERRNO(fcntl(fd, F_SETLEASE, F_RDLCK)));
	EXPECT(-EACCES, ERRNO(fcntl(fd, F_SETLEASE, F_WRLCK)));
	EXPECT(-ENOTDIR, ERRNO(fcntl(fd, F_NOTIFY, DN_MODIFY)));
	/* Whom it would send what, if it ever sent anything. */
	EXPECT(0, ERRNO(fcntl(fd, F_SETSIG, SIGKILL)));
	EXPECT(0, ERRNO(fcntl(fd, F_SETOWN, recorder)));
	EXPECT(0, ERRNO(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK)));
	code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
	EXPECT(1, code != MAP_FAILED); /* in its own process */
	EXPECT(0, secrets(code, size));
	EXPECT(0, ERRNO(munmap(code, size)));
}

/* Nor is a process of root's ended, stopped, slowed down or looked into. */
static void push(pid_t other)
{
	const struct rlimit none = {0, 0};
	unsigned long one = 1;
	int fd;

	EXPECT(-EPERM, ERRNO(kill(other, 0)));
	EXPECT(-EPERM, ERRNO(kill(other, SIGKILL)));
	EXPECT(-EPERM, ERRNO(kill(other, SIGSTOP)));
	EXPECT(-EPERM, ERRNO(syscall(SYS_tgkill, other, other, SIGKILL)));
	EXPECT(-EPERM, ERRNO(setpriority(PRIO_PROCESS, (id_t)other, 19)));
	EXPECT(-EPERM, ERRNO(syscall(SYS_sched_setaffinity, other, sizeof(one), &one)));
	EXPECT(-EPERM, ERRNO(syscall(SYS_prlimit64, other, RLIMIT_NOFILE, &none, NULL)));
	fd = (int)syscall(SYS_pidfd_open, other, 0);
	EXPECT(0, ERRNO(fd));
	EXPECT(-EPERM, ERRNO(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)));
	EXPECT(-EPERM, ERRNO(syscall(SYS_pidfd_getfd, fd, 0, 0)));
	close(fd);
}

/* A connection to one of the recorder's sockets, or -errno. */
static int socket_to(const char *path)
{
	const struct timeval patience = {.tv_sec = 60};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		die("a socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The recorder's sockets: the one for commands is root's own; by the one for pools it gets, being
 * a target, an empty pool of its own, whoever it says it is, and nothing else. */
static void ask(const char *directory, pid_t witness)
{
	struct jis_agent_message m = {.magic = JIS_AGENT_MAGIC,
				      .protocol = JIS_AGENT_PROTOCOL,
				      .type = JIS_AGENT_HELLO,
				      .kind = JIS_KIND_PROGRAM,
				      .pid = (uint32_t)witness,
				      .text = "witness"};
	const uint32_t no_hello[] = {JIS_AGENT_STOP, JIS_AGENT_METHODS_DONE, JIS_AGENT_WELCOME, 99};
	char path[256];
	struct stat st;
	int fd, pool;

	snprintf(path, sizeof(path), "%s/.control", directory);
	EXPECT(-EACCES, socket_to(path));
	EXPECT(-EACCES, ERRNO(unlink(path)));
	snprintf(path, sizeof(path), "%s/kernel", directory);
	EXPECT(-EACCES, ERRNO(open(path, O_RDONLY | O_DIRECTORY)));
	for (size_t i = 0; i < sizeof(no_hello) / sizeof(*no_hello); i++) {
		struct jis_agent_message other = m;

		other.type = no_hello[i];
		fd = socket_to(getenv(JIS_SOCKET_ENV));
		EXPECT(1, fd >= 0);
		EXPECT((long)sizeof(m), send(fd, &other, sizeof(m), MSG_NOSIGNAL));
		EXPECT(0, recv(fd, &other, sizeof(m), 0)); /* hung up */
		close(fd);
	}
	fd = socket_to(getenv(JIS_SOCKET_ENV));
	EXPECT(1, fd >= 0);
	EXPECT((long)sizeof(m), send(fd, &m, sizeof(m), MSG_NOSIGNAL));
	pool = receive_fd(fd, &m, sizeof(m));
	EXPECT(JIS_AGENT_WELCOME, m.type);
	EXPECT(1, pool >= 0);
	EXPECT(0, ERRNO(fstat(pool, &st)));
	EXPECT((long)m.pool_size, (long)st.st_size);
	look(pool, (size_t)st.st_size);
	close(pool);
	close(fd);
}

/* What leads from here to the recorder and to root's other processes. */
static void reach(pid_t owner, pid_t witness, pid_t recorder)
{
	const pid_t others[] = {owner, witness, recorder};
	struct iovec here, there;
	char path[64], c;
	/* A kernel may have been built without it; then nobody can. */
	int none = ERRNO(process_vm_readv(getpid(), NULL, 0, NULL, 0, 0)) == -ENOSYS;

	EXPECT(-EACCES, ERRNO(open(JIS_DEVICE, O_RDWR)));
	EXPECT(-EACCES, ERRNO(open(JIS_DEVICE, O_RDONLY)));
	for (int i = 0; i < 3; i++) {
		push(others[i]);
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

/* Packets as a writer of this pool would leave them, but for one thing each. */
enum forgery {
	GOOD,
	LONGER, /* than the packet: what follows is another's */
	LONGEST,
	SHORTER, /* than its header */
	OTHER_UUID,
	KERNELS, /* stream */
	NO_SLOT, /* of that number */
	DICTIONARY,
	TOMORROW,
	LAST_SEQUENCE,
	ALL_LOST,
	OF_WITNESS,
	NR_FORGERIES
};
#define FORGED_EACH 50
#define FORGED_TYPE 100u

/* Is the reader to take all markers, whatever the header says? */
static int forgery_counts(enum forgery f)
{
	return f == GOOD || f == ALL_LOST || f == OF_WITNESS;
}

static void forge_header(struct jis_packet_header *h, enum forgery f, pid_t witness)
{
	switch (f) {
	case LONGER:
		h->content_size = h->packet_size * 2;
		break;
	case LONGEST:
		h->content_size = ~0ull - 31;
		break;
	case SHORTER:
		h->content_size = 32;
		break;
	case OTHER_UUID:
		h->uuid[15]++;
		break;
	case KERNELS:
		h->stream_class = JIS_STREAM_KERNEL;
		h->stream_instance = 0;
		break;
	case TOMORROW:
		h->timestamp_begin += 1ull << 50;
		break;
	case LAST_SEQUENCE:
		h->packet_seq = ~0ull;
		break;
	case ALL_LOST:
		h->events_discarded = ~0ull;
		break;
	case OF_WITNESS:
		h->pid = h->owner = (uint32_t)witness;
		break;
	default:
		break;
	}
}

/* Puts packet @index of slot @slot, made in @w, a private copy of the pool, into @pool. */
static void forge_one(unsigned char *pool, struct jis_writer *w, enum forgery f, uint32_t slot,
		      uint32_t index, pid_t witness)
{
	struct jis_slot *s = &w->slots[slot];
	size_t at = w->packets_offset + (size_t)index * w->packet_size;
	uint32_t told = f == NO_SLOT ? w->nr_slots : f == DICTIONARY ? JIS_POOL_DICT_SLOT : slot;
	uint32_t *state = (uint32_t *)(pool + ((unsigned char *)w->states - w->pool));
	struct jis_ev_marker ev = {.type = FORGED_TYPE + f};
	uint64_t now = jis_ticks(w);

	memset(w->pool + at, 0, w->packet_size);
	s->owner = (uint32_t)getpid();
	jis_packet_begin(w, s, index, now);
	for (ev.value = 0; ev.value < FORGED_EACH; ev.value++)
		jis_record_put(w, s, JIS_EV_marker, &ev, sizeof(ev), now);
	jis_packet_close(w, s, jis_ticks(w));
	forge_header((struct jis_packet_header *)(w->pool + at), f, witness);
	memcpy(pool + at, w->pool + at, w->packet_size);
	__atomic_store_n(&state[index], JIS_PACKET_FULL | told << 2, __ATOMIC_RELEASE);
}

/* The reader has taken packet @index, be it to throw it away. */
static void forge_taken(const unsigned char *pool, const struct jis_writer *w, uint32_t index)
{
	const uint32_t *state = (const uint32_t *)(pool + ((unsigned char *)w->states - w->pool));
	int tries = 6000;

	while (__atomic_load_n(&state[index], __ATOMIC_ACQUIRE) != JIS_PACKET_FREE && --tries)
		nap(10);
	EXPECT(1, tries > 0);
}

/* Forgeries of each kind, good ones around each of them, one after the other in one slot. */
static void forge(int fd, size_t size, pid_t witness)
{
	unsigned char *pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *copy = malloc(size);
	long made[NR_FORGERIES] = {0};
	struct jis_writer w;
	uint32_t index;

	if (pool == MAP_FAILED || !copy)
		die("the passed pool");
	memcpy(copy, pool, size);
	EXPECT(0, jis_writer_init(&w, copy, size, (uint32_t)getpid()));
	index = w.dict_packets;
	for (int round = 0; round < 2; round++)
		for (int f = 1; f < NR_FORGERIES; f++) {
			uint32_t slot = 1 + (uint32_t)f % (w.nr_slots - 1);

			forge_one(pool, &w, (enum forgery)f, slot, index, witness);
			forge_taken(pool, &w, index);
			made[f] += FORGED_EACH;
			forge_one(pool, &w, GOOD, slot, index + 1, witness);
			forge_taken(pool, &w, index + 1);
			made[GOOD] += FORGED_EACH;
		}
	for (unsigned int f = 0; f < NR_FORGERIES; f++)
		if (forgery_counts((enum forgery)f))
			printf("forged %u %ld %d\n", FORGED_TYPE + f, made[f], getppid());
	EXPECT(0, secrets(pool, size));
	free(copy);
	munmap(pool, size);
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
static int stranger(int from, pid_t witness, pid_t recorder, const char *directory)
{
	struct sigaction on = {.sa_handler = on_fault};
	struct stat st;
	int fd;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		die("becoming nobody");
	sigaction(SIGBUS, &on, NULL);
	sigaction(SIGSEGV, &on, NULL);
	fd = receive_fd(from, NULL, 0);
	if (fd < 0)
		die("no descriptor came");
	if (fstat(fd, &st))
		die("fstat");
	look(fd, (size_t)st.st_size);
	call(fd);
	resize(fd, (size_t)st.st_size);
	own(fd, (size_t)st.st_size, recorder);
	reach(getppid(), witness, recorder);
	ask(directory, witness);
	forge(fd, (size_t)st.st_size, witness);
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

/* The parent of our parent, which must be `jis`. */
static pid_t recorder_pid(void)
{
	char path[64], comm[64] = "";
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
		die("the recorder");
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/comm", parent);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%63s", comm) != 1 || strcmp(comm, "jis"))
		die("the recorder is not jis");
	fclose(f);
	return parent;
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[1]) : 0;
	pid_t recorder;
	struct client_pool pool = {.fd = -1};
	int ready[2], go[2], way[2], status[2], err;
	pid_t watcher, other;
	char c;

	if (n <= 0)
		return 2;
	recorder = recorder_pid();
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
		_exit(stranger(way[1], watcher, recorder, argv[2]));
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
