/* SPDX-License-Identifier: MIT */
/*
 * HotSpot's Mutex has no virtual function, and in this order (src/hotspot/share/runtime/mutex.hpp,
 * 17 to 25): its owner, a pthread_mutex_t, a pthread_cond_t, a pointer to its name. Who waits for
 * the mutex waits on its first word (glibc), who waits on the condition on one of several words of
 * that.
 *
 * An arena of glibc's malloc that is not the first begins in a heap that lies at a multiple of
 * HEAP_MAX_SIZE, whose first word points to it; its own first word is its lock (malloc/arena.c).
 *
 * The first arena and the C library's other locks are in its data, HotSpot's that have no name (of
 * ThreadCritical, to 24) in its own, or in memory that its data point to (of the pool of chunks,
 * from 25 on). Those, and the data of JIS's agent, are where the library's program headers say,
 * which are in its first page.
 */
#include "futex_name.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
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
#define SEGMENTS_MAX 32
#define LOOK_NS 1000000000ull
#define DATA_MAX (16u << 20)

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

/* HotSpot keeps the last events of each kind for its error files: each such log has a lock of the
 * log's name (src/hotspot/share/utilities/events.cpp, gc/shared/gcHeapSummary, gc/z). */
static bool is_event_log(const char *name)
{
	static const char *const logs[] = {
		"Classes loaded",
		"Classes redefined",
		"Classes unloaded",
		"Compilation events",
		"Deoptimization events",
		"Dll operation events",
		"Events",
		"GC Heap History",
		"GC Heap Usage History",
		"Internal exceptions",
		"Memory protections",
		"Metaspace Usage History",
		"Nmethod flushes",
		"VM Operations",
		"ZGC Phase Switch",
	};

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		if (!strcmp(name, logs[i]))
			return true;
	return false;
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
	if (length == (size_t)n)
		return 0;
	if (!is_event_log(name))
		return name_sound(name, length);
	snprintf(name + length, FUTEX_NAME_MAX - length, " (event log)");
	return 1;
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

/* Libraries whose locks are known by where they are, by the first letters of the file's name: an
 * attached agent's has a version in it. */
static const struct {
	const char *file;
	enum jis_futex_of of;
	const char *name; /* NULL: the file's */
} known[] = {
	{"libjisagent", JIS_FUTEX_AGENT, "JIS agent"}, {"libjvm.so", JIS_FUTEX_VM, NULL},
	{"libc.so", JIS_FUTEX_MEMORY, NULL},	       {"libc.musl-", JIS_FUTEX_MEMORY, NULL},
	{"libpthread.so", JIS_FUTEX_MEMORY, NULL},     {"ld-linux", JIS_FUTEX_MEMORY, NULL},
	{"ld-musl-", JIS_FUTEX_MEMORY, NULL},
};

/* @l: where the file @name begins in memory. What can be written of it is one segment. */
static bool library_read(pid_t tid, uint64_t begin, struct futex_library *l)
{
	ElfW(Phdr) segments[SEGMENTS_MAX];
	ElfW(Ehdr) header;
	size_t bytes;

	if (memory_read(tid, begin, &header, sizeof(header)) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_phentsize != sizeof(segments[0]) || header.e_phnum > SEGMENTS_MAX)
		return false;
	bytes = header.e_phnum * sizeof(segments[0]);
	if (memory_read(tid, begin + header.e_phoff, segments, bytes) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_W))
			continue;
		l->from = begin + segments[i].p_vaddr;
		l->to = l->from + segments[i].p_memsz;
	}
	return l->from < l->to;
}

/* Of a line of /proc/PID/maps: a library that is known, of which this is the begin? */
static void library_line(pid_t tid, char *line, struct futex_libraries *libraries)
{
	struct futex_library *l = &libraries->all[libraries->nr];
	unsigned long long from, offset;
	char *name = strrchr(line, '/');
	size_t i, length;

	if (!name || sscanf(line, "%llx-%*x %*s %llx", &from, &offset) != 2 || offset)
		return;
	length = strcspn(++name, " \n"); /* or " (deleted)" is behind it */
	name[length] = 0;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(name, known[i].file, strlen(known[i].file)))
			break;
	if (i == sizeof(known) / sizeof(known[0]) || !library_read(tid, from, l))
		return;
	l->of = known[i].of;
	snprintf(l->name, sizeof(l->name), "%s", known[i].name ? known[i].name : name);
	libraries->nr++;
}

/* Of the words of HotSpot's data those that may point to memory it was given. */
static void pointers_read(pid_t tid, struct futex_libraries *libraries,
			  const struct futex_library *vm)
{
	size_t bytes = vm->to - vm->from;
	uint64_t *words = bytes <= DATA_MAX ? malloc(bytes) : NULL;
	ssize_t n = words ? memory_read(tid, vm->from, words, bytes) : 0;
	size_t kept = 0;

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*words); i++)
		if (words[i] >= 4096 && !(words[i] % sizeof(*words)) &&
		    (words[i] < vm->from || words[i] >= vm->to))
			words[kept++] = words[i];
	futex_libraries_fini(libraries);
	libraries->pointers = kept ? realloc(words, kept * sizeof(*words)) : NULL;
	if (!libraries->pointers)
		free(words);
	else
		libraries->nr_pointers = kept;
}

static void libraries_look(pid_t tid, struct futex_libraries *libraries)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	memset(libraries->all, 0, sizeof(libraries->all));
	libraries->nr = 0;
	while (libraries->nr < FUTEX_LIBRARIES_MAX && getline(&line, &size, maps) > 0)
		library_line(tid, line, libraries);
	free(line);
	fclose(maps);
	for (uint32_t i = 0; i < libraries->nr; i++)
		if (libraries->all[i].of == JIS_FUTEX_VM)
			pointers_read(tid, libraries, &libraries->all[i]);
}

static const struct futex_library *library_at(const struct futex_libraries *libraries,
					      uint64_t address)
{
	for (uint32_t i = 0; i < libraries->nr; i++)
		if (address >= libraries->all[i].from && address < libraries->all[i].to)
			return &libraries->all[i];
	return NULL;
}

static const struct futex_library *library_of(pid_t tid, struct futex_libraries *libraries,
					      uint64_t address)
{
	const struct futex_library *l = library_at(libraries, address);
	uint64_t now = l ? 0 : clock_ns(CLOCK_MONOTONIC);

	if (l || (libraries->looked_ns && now - libraries->looked_ns < LOOK_NS))
		return l;
	libraries->looked_ns = now;
	libraries_look(tid, libraries);
	return library_at(libraries, address);
}

/* Is there a mutex without a name that HotSpot's data point to? */
static const struct futex_library *pointed_to(pid_t tid, const struct futex_libraries *libraries,
					      uint64_t address)
{
	struct vm_mutex m = {0};
	size_t i = 0;

	while (i < libraries->nr_pointers && libraries->pointers[i] != address)
		i++;
	if (i == libraries->nr_pointers ||
	    memory_read(tid, address, &m.mutex, sizeof(m.mutex)) != sizeof(m.mutex) ||
	    !mutex_sound(&m))
		return NULL;
	for (i = 0; i < libraries->nr; i++)
		if (libraries->all[i].of == JIS_FUTEX_VM)
			return &libraries->all[i];
	return NULL;
}

void futex_libraries_fini(struct futex_libraries *libraries)
{
	free(libraries->pointers);
	libraries->pointers = NULL;
	libraries->nr_pointers = 0;
}

int futex_name_read(pid_t tid, struct futex_libraries *libraries, uint64_t address,
		    char name[FUTEX_NAME_MAX])
{
	const struct futex_library *library;
	int n = vm_lock_read(tid, address, name);

	if (n)
		return n < 0 ? n : JIS_FUTEX_VM;
	if (is_arena(tid, address)) {
		snprintf(name, FUTEX_NAME_MAX, "malloc arena");
		return JIS_FUTEX_MEMORY;
	}
	library = library_of(tid, libraries, address);
	if (!library)
		library = pointed_to(tid, libraries, address);
	if (!library)
		return 0;
	memcpy(name, library->name, FUTEX_NAME_MAX);
	return library->of;
}
