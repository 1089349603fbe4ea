/* SPDX-License-Identifier: MIT */
/*
 * HotSpot's Mutex has no virtual function, and in this order (src/hotspot/share/runtime/mutex.hpp,
 * 17 to 25): its owner, a pthread_mutex_t, a pthread_cond_t, a pointer to its name. Who waits for
 * the mutex waits on its first word (glibc), who waits on the condition on one of several words of
 * that.
 *
 * An arena of glibc's malloc that is not the first begins in a heap that lies at a multiple of
 * HEAP_MAX_SIZE, whose first word points to it; its own first word is its lock (malloc/arena.c).
 * The first one's is in the data of the C library.
 */
#include "futex_name.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "clock.h"

/* Names are constants of HotSpot's, or copies of such; the shortest is "tty_lock". */
#define NAME_MIN 5
#define HEAP_MAX (64u << 20) /* on machines of 64 bits */
#define LIBRARIES_MAX 1024u
#define LIBRARIES_EVERY_NS 1000000000ull
#define AGENT_LIBRARY "libjisagent.so"
/* Its data that are in no file; what the kernel shows as one with them may be anybody's. */
#define AGENT_DATA_MAX (8u << 20)

struct vm_mutex {
	uint64_t owner;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint64_t name;
};

_Static_assert(sizeof(struct vm_mutex) == 16 + sizeof(pthread_mutex_t) + sizeof(pthread_cond_t),
	       "without holes, as in HotSpot");

/* As many bytes as can be read; 0: none are there; -errno: they are not for us. */
static ssize_t memory_read(pid_t tid, uint64_t address, void *to, size_t n)
{
	struct iovec local = {.iov_base = to, .iov_len = n};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};
	ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (got < 0)
		return errno == EFAULT ? 0 : -errno;
	return got;
}

/* Locks of the VM ---------------------------------------------------------------------------- */

/* HotSpot makes them with the default or the normal type; glibc adds a bit against elision. */
static bool mutex_sound(const struct vm_mutex *m)
{
	const int kinds = PTHREAD_MUTEX_NORMAL | PTHREAD_MUTEX_RECURSIVE | PTHREAD_MUTEX_ERRORCHECK;
	const int no_elision = 512;

	return !(m->owner & 7) && !(m->mutex.__data.__kind & ~(kinds | no_elision)) &&
	       m->mutex.__data.__owner >= 0;
}

static bool has_word(const char *text, const char *word)
{
	for (; *text; text++)
		if (!strncasecmp(text, word, strlen(word)))
			return true;
	return false;
}

static bool ends_so(const char *text, size_t length, const char *end)
{
	return length > strlen(end) && !strcmp(text + length - strlen(end), end);
}

/* All of them say what they are: "Heap_lock", "Metaspace allocation lock", "G1ServiceThread
 * monitor"; of a store of references "JNI Global alloc" and "JNI Global active". */
static bool name_sound(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_ .:#&/-", name[i]))
			return false;
	return length >= NAME_MIN &&
	       (has_word(name, "lock") || has_word(name, "monitor") ||
		ends_so(name, length, " alloc") || ends_so(name, length, " active"));
}

/* Is there such a lock at @address? Returns 1, 0 or -errno. */
static int lock_read(pid_t tid, uint64_t address, char name[FUTEX_NAME_MAX])
{
	struct vm_mutex m;
	size_t length;
	ssize_t n;

	if (address % sizeof(m.owner))
		return 0;
	n = memory_read(tid, address, &m, sizeof(m));
	if (n != (ssize_t)sizeof(m))
		return n < 0 ? (int)n : 0;
	if (!mutex_sound(&m) || m.name < 4096)
		return 0;
	n = memory_read(tid, m.name, name, FUTEX_NAME_MAX); /* less at the end of a mapping */
	if (n <= 0)
		return (int)n;
	length = strnlen(name, (size_t)n);
	return length < (size_t)n && name_sound(name, length);
}

static int vm_lock_read(pid_t tid, uint64_t address, char name[FUTEX_NAME_MAX])
{
	/* Words of a condition that threads wait on: those of its two groups of waiters, before
	 * glibc 2.41 also their counts of who is on its way; its own lock. */
	static const uint8_t words[] = {40, 44, 32, 36, 16, 20, 24};
	int n = lock_read(tid, address - offsetof(struct vm_mutex, mutex), name);

	for (size_t i = 0; i < sizeof(words) && !n; i++)
		n = lock_read(tid, address - offsetof(struct vm_mutex, cond) - words[i], name);
	return n;
}

/* Others ------------------------------------------------------------------------------------- */

static bool is_arena(pid_t tid, uint64_t address)
{
	uint64_t heap = address & ~(uint64_t)(HEAP_MAX - 1), arena;

	return heap && address - heap < 4096 &&
	       memory_read(tid, heap, &arena, sizeof(arena)) == sizeof(arena) && arena == address;
}

void futex_libraries_fini(struct futex_libraries *l)
{
	free(l->libraries);
	memset(l, 0, sizeof(*l));
}

static void library_add(struct futex_libraries *l, uint64_t from, uint64_t to, const char *name)
{
	struct futex_library *more;

	if (l->nr == LIBRARIES_MAX)
		return;
	if (l->nr % 64 == 0) {
		more = realloc(l->libraries, (l->nr + 64) * sizeof(*more));
		if (!more)
			return;
		l->libraries = more;
	}
	l->libraries[l->nr].from = from;
	l->libraries[l->nr].to = to;
	snprintf(l->libraries[l->nr++].name, FUTEX_NAME_MAX, "%s", name);
}

/* A library's name as it goes to terminals; "": it is none. */
static void library_name(char *path, char name[FUTEX_NAME_MAX])
{
	char *last = strrchr(path, '/');

	snprintf(name, FUTEX_NAME_MAX, "%s", last && strstr(last, ".so") ? last + 1 : "");
	for (; *name; name++)
		if (*name < ' ' || *name > '~')
			*name = '?';
}

/* What can be written of their files, and of the agent the memory without file right behind it. */
static void libraries_read(pid_t tid, struct futex_libraries *l)
{
	char path[64], mode[5], name[FUTEX_NAME_MAX], last[FUTEX_NAME_MAX] = "", *line = NULL;
	unsigned long long from, to, last_to = 0;
	size_t size = 0;
	int at;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	l->nr = 0;
	while (getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &from, &to, mode, &at) != 3)
			continue;
		library_name(line + at, name);
		if (!line[at] && from == last_to && !strcmp(last, AGENT_LIBRARY)) {
			snprintf(name, sizeof(name), "%s", last);
			to = to - from > AGENT_DATA_MAX ? from + AGENT_DATA_MAX : to;
		}
		if (name[0] && mode[1] == 'w')
			library_add(l, from, to, name);
		snprintf(last, sizeof(last), "%s", line[at] ? name : "");
		last_to = to;
	}
	free(line);
	fclose(maps);
}

static const char *library_at(const struct futex_libraries *l, uint64_t address)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (address >= l->libraries[i].from && address < l->libraries[i].to)
			return l->libraries[i].name;
	return NULL;
}

static const char *library_of(pid_t tid, struct futex_libraries *l, uint64_t address)
{
	const char *name = library_at(l, address);
	uint64_t now;

	if (name)
		return name;
	now = clock_ns(CLOCK_MONOTONIC);
	if (l->read_ns && now - l->read_ns < LIBRARIES_EVERY_NS)
		return NULL;
	l->read_ns = now;
	libraries_read(tid, l);
	return library_at(l, address);
}

int futex_name_read(pid_t tid, struct futex_libraries *libraries, uint64_t address,
		    char name[FUTEX_NAME_MAX])
{
	int n = vm_lock_read(tid, address, name);
	const char *library;

	if (n)
		return n < 0 ? n : JIS_FUTEX_VM;
	if (is_arena(tid, address)) {
		snprintf(name, FUTEX_NAME_MAX, "malloc arena");
		return JIS_FUTEX_MEMORY;
	}
	library = library_of(tid, libraries, address);
	if (!library)
		return 0;
	if (!strcmp(library, AGENT_LIBRARY)) {
		snprintf(name, FUTEX_NAME_MAX, "JIS agent");
		return JIS_FUTEX_AGENT;
	}
	snprintf(name, FUTEX_NAME_MAX, "%s", library);
	return JIS_FUTEX_LIBRARY;
}
