/* SPDX-License-Identifier: MIT */
/*
 * Whose lock a futex is, by the memory of this process: locks as HotSpot lays them out, on whose
 * futexes threads really wait; arenas of malloc; data of the agent; what only looks like one of
 * them.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libjisctl/futex_name.h"

struct lock {
	void *owner;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	const char *name;
};

static struct lock lock;
static bool done;
static pid_t waiter;
static struct futex_libraries libraries;
static char name[FUTEX_NAME_MAX];

static void setup(void)
{
	lock = (struct lock){.mutex = PTHREAD_MUTEX_INITIALIZER,
			     .cond = PTHREAD_COND_INITIALIZER,
			     .name = "Compile_lock"};
	done = false;
	memset(name, 0, sizeof(name));
	__atomic_store_n(&waiter, 0, __ATOMIC_RELEASE);
}

static void teardown(void)
{
	futex_libraries_fini(&libraries);
	memset(&libraries, 0, sizeof(libraries));
}

static int of(const void *address)
{
	return futex_name_read(getpid(), &libraries, (uint64_t)(uintptr_t)address, name);
}

static void *takes(void *unused)
{
	__atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&lock.mutex);
	pthread_mutex_unlock(&lock.mutex);
	return unused;
}

static void *waits(void *unused)
{
	__atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&lock.mutex);
	while (!done)
		pthread_cond_wait(&lock.cond, &lock.mutex);
	pthread_mutex_unlock(&lock.mutex);
	return unused;
}

/* The address of the futex that the thread waits on, as the kernel says. */
static const void *waits_on(void)
{
	unsigned long long address;
	char path[64];
	long nr;

	for (int i = 0; i < 10000; i++, usleep(1000)) {
		pid_t tid = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
		FILE *f;
		int n;

		if (!tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
		f = fopen(path, "re");
		ck_assert_ptr_nonnull(f);
		n = fscanf(f, "%ld %llx", &nr, &address);
		fclose(f);
		if (n == 2 && nr == SYS_futex)
			return (const void *)(uintptr_t)address;
	}
	ck_abort_msg("the thread does not wait");
	return NULL;
}

static bool proc_tells(void)
{
	return access("/proc/self/syscall", R_OK) == 0;
}

struct range {
	const char *library;
	uint64_t from, to;
};

static int on_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range *range = data;

	(void)size;
	if (!strstr(info->dlpi_name, range->library))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		range->from = info->dlpi_addr + p->p_vaddr;
		range->to = range->from + p->p_memsz;
	}
	return 1;
}

/* As the dynamic linker has it. */
static struct range data_of(const char *library)
{
	struct range range = {.library = library};

	ck_assert_int_eq(dl_iterate_phdr(on_library, &range), 1);
	ck_assert_uint_lt(range.from, range.to);
	return range;
}

static void is_in(const struct range *data, enum jis_futex_of want, const char *as)
{
	ck_assert_int_eq(of((void *)(uintptr_t)data->from), want);
	ck_assert_str_eq(name, as);
	ck_assert_int_eq(of((void *)(uintptr_t)(data->to - 4)), want);
	ck_assert_int_eq(of((void *)(uintptr_t)data->to), 0);
	ck_assert_int_eq(of((void *)(uintptr_t)(data->from - 4)), 0);
}

START_TEST(who_waits_for_the_mutex)
{
	pthread_t thread;

	ck_assert(proc_tells());
	pthread_mutex_lock(&lock.mutex);
	lock.owner = &lock;
	ck_assert_int_eq(pthread_create(&thread, NULL, takes, NULL), 0);
	ck_assert_int_eq(of(waits_on()), JIS_FUTEX_VM);
	ck_assert_str_eq(name, "Compile_lock");
	pthread_mutex_unlock(&lock.mutex);
	pthread_join(thread, NULL);
}
END_TEST

/* Its two groups take turns. */
START_TEST(who_waits_on_the_condition)
{
	const void *on[2];

	lock.name = "G1ServiceThread monitor";
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		done = false;
		__atomic_store_n(&waiter, 0, __ATOMIC_RELEASE);
		ck_assert_int_eq(pthread_create(&thread, NULL, waits, NULL), 0);
		on[i] = waits_on();
		ck_assert_int_eq(of(on[i]), JIS_FUTEX_VM);
		ck_assert_str_eq(name, "G1ServiceThread monitor");
		pthread_mutex_lock(&lock.mutex);
		done = true;
		pthread_cond_signal(&lock.cond);
		pthread_mutex_unlock(&lock.mutex);
		pthread_join(thread, NULL);
	}
	ck_assert_ptr_ne(on[0], on[1]);
}
END_TEST

START_TEST(names_are_not_trusted)
{
	static const struct {
		const char *name;
		bool good;
	} all[] = {
		{"tty_lock", true},
		{"Metaspace allocation lock", true},
		{"HeapRegionRemSet lock #228", true},
		{"JNI Global alloc", true},
		{"JNI Weak active", true},
		{"JNI Weak alloc lock", true},
		{"Events", true},
		{"Internal exceptions", true},
		{"Internal exception", false},
		{"lock", false}, /* too short */
		{"Compile", false},
		{"alloc", false},
		{"allocation", false},
		{"Compile_lock\n", false},
		{"Compile_lock\x1b[0m", false},
		{"", false},
		{"A_lock_of_63_characters_and_no_more_that_is_as_much_as_there_is", true},
		{"A_lock_of_64_characters_and_no_more_that_is_more_than_there_is__", false},
	};

	ck_assert_uint_eq(strlen(all[16].name), 63);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		lock.name = all[i].name;
		ck_assert_msg(of(&lock.mutex) == (all[i].good ? JIS_FUTEX_VM : 0), "%s",
			      all[i].name);
	}
	lock.name = "Internal exceptions";
	of(&lock.mutex);
	ck_assert_str_eq(name, "Internal exceptions (event log)");
}
END_TEST

START_TEST(what_is_no_lock_is_none)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lock *last;

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(munmap(pages + 4096, 4096), 0);
	/* At the end of what there is, with its name there too, or cut by it. */
	last = (struct lock *)(pages + 4096 - sizeof(*last));
	*last = lock;
	ck_assert_int_eq(of(&last->mutex), JIS_FUTEX_VM);
	memcpy(pages + 4096 - sizeof("Heap_lock"), "Heap_lock", sizeof("Heap_lock"));
	lock.name = pages + 4096 - sizeof("Heap_lock");
	ck_assert_int_eq(of(&lock.mutex), JIS_FUTEX_VM);
	ck_assert_str_eq(name, "Heap_lock");
	pages[4095] = 'x';
	ck_assert_int_eq(of(&lock.mutex), 0);
	ck_assert_int_eq(of(pages + 4096 - sizeof(*last) + 16), 0);
	ck_assert_int_eq(of(pages + 8192), 0);
	ck_assert_int_eq(of((void *)8), 0);
	ck_assert_int_eq(of((void *)-8), 0);
	lock.name = (const char *)1;
	ck_assert_int_eq(of(&lock.mutex), 0);
	lock.name = (const char *)-1;
	ck_assert_int_eq(of(&lock.mutex), 0);
	/* Where nothing of it is a mutex that HotSpot could have. */
	lock.name = "Heap_lock";
	lock.owner = (void *)1;
	ck_assert_int_eq(of(&lock.mutex), 0);
	lock.owner = NULL;
	lock.mutex.__data.__kind = 0x7f7f;
	ck_assert_int_eq(of(&lock.mutex), 0);
	lock.mutex.__data.__kind = 0;
	ck_assert_int_eq(of(&lock.mutex), JIS_FUTEX_VM);
	ck_assert_int_eq(of((char *)&lock.mutex + 4), 0);
	munmap(pages, 4096);
}
END_TEST

static void *allocates(void *to)
{
	*(void **)to = malloc(100);
	return NULL;
}

/* A thread beside the first has an arena of its own. */
START_TEST(arenas_of_malloc)
{
	pthread_t thread;
	uint64_t heap;
	void *arena, *p = NULL;

	ck_assert_int_eq(pthread_create(&thread, NULL, allocates, &p), 0);
	pthread_join(thread, NULL);
	ck_assert_ptr_nonnull(p);
	heap = (uint64_t)(uintptr_t)p & ~(uint64_t)((64u << 20) - 1);
	memcpy(&arena, (void *)(uintptr_t)heap, sizeof(arena));
	ck_assert_int_eq(of(arena), JIS_FUTEX_MEMORY);
	ck_assert_str_eq(name, "malloc arena");
	ck_assert_int_eq(of((char *)arena + 4), 0);
	ck_assert_int_eq(of(p), 0);
	free(p);
}
END_TEST

/* The agent of this build. */
static void agent_path(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 32);

	ck_assert_int_gt(n, 0);
	path[n] = 0;
	for (int i = 0; i < 3; i++) /* BUILD/tests/unit/... */
		*strrchr(path, '/') = 0;
	strcat(path, "/libjisagent.so");
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	ck_assert_msg(library != NULL, "%s", dlerror());
	return library;
}

/* The agent's data, with what is in no file, and no byte behind them. */
START_TEST(data_of_the_agent)
{
	char path[PATH_MAX];
	struct range data;
	void *library;

	agent_path(path);
	ck_assert_int_eq(of(&libraries), 0);
	libraries.looked_ns = 0; /* or it would not look again this second */
	library = load(path);
	data = data_of("libjisagent.so");
	is_in(&data, JIS_FUTEX_AGENT, "JIS agent");
	dlclose(library);
}
END_TEST

/* The agent's library, in a file of another name that is gone again. */
static void *load_as(const char *name_of)
{
	char path[PATH_MAX], copy[PATH_MAX];
	void *library;
	int fd;

	agent_path(path); /* beside it: another name of it is enough */
	snprintf(copy, sizeof(copy), "%.*s/%s-XXXXXX.so", (int)(strrchr(path, '/') - path), path,
		 name_of);
	fd = mkstemps(copy, 3);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(unlink(copy), 0);
	ck_assert_int_eq(link(path, copy), 0);
	library = load(copy);
	ck_assert_int_eq(unlink(copy), 0);
	return library;
}

/* An attached one is a copy with the version in its name, and is there no longer. */
START_TEST(data_of_an_attached_agent)
{
	void *library = load_as("libjisagent-0.0.0");
	struct range data = data_of("libjisagent-0.0.0");

	is_in(&data, JIS_FUTEX_AGENT, "JIS agent");
	dlclose(library);
}
END_TEST

/* Locks without a name: in HotSpot's data, or in memory that these point to. */
START_TEST(data_of_hotspot)
{
	void *library = load_as("libjvm.so");
	struct range data = data_of("libjvm.so-");
	pthread_mutex_t *mutex = calloc(2, sizeof(*mutex));
	pthread_mutex_t **word = (void *)(uintptr_t)((data.to - sizeof(*word)) & ~7ull);
	char as[FUTEX_NAME_MAX];

	ck_assert_ptr_nonnull(mutex);
	ck_assert_int_eq(of(mutex), 0);
	*word = mutex;
	libraries.looked_ns = 0;
	ck_assert_int_eq(of(mutex), JIS_FUTEX_VM);
	ck_assert_ptr_eq(strstr(name, "libjvm.so-"), name);
	ck_assert_int_eq(of(mutex + 1), 0);
	ck_assert_int_eq(of((char *)mutex + 4), 0);
	mutex->__data.__kind = 0x7f7f;
	ck_assert_int_eq(of(mutex), 0);
	snprintf(as, sizeof(as), "%s", name);
	is_in(&data, JIS_FUTEX_VM, as);
	dlclose(library);
	free(mutex);
}
END_TEST

/* The first arena of malloc, and all its other locks: those of its streams, for one. */
START_TEST(data_of_the_c_library)
{
	struct range data = data_of("/libc.so.6");

	is_in(&data, JIS_FUTEX_MEMORY, "libc.so.6");
	ck_assert_int_eq(of(stdout), JIS_FUTEX_MEMORY);
	ck_assert_str_eq(name, "libc.so.6");
	data = data_of("/ld-linux");
	ck_assert_int_eq(of((void *)(uintptr_t)data.from), JIS_FUTEX_MEMORY);
	ck_assert_ptr_eq(strstr(name, "ld-linux"), name);
	ck_assert_int_eq(of(&libraries), 0);
}
END_TEST

START_TEST(a_process_that_is_gone)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	ck_assert_int_gt(child, 0);
	while (waitpid(child, NULL, 0) < 0)
		ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(futex_name_read(child, &libraries, (uint64_t)(uintptr_t)&lock.mutex, name),
			 -ESRCH);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("futexes");
	Suite *s = suite_create("futex_name");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, who_waits_for_the_mutex);
	tcase_add_test(t, who_waits_on_the_condition);
	tcase_add_test(t, names_are_not_trusted);
	tcase_add_test(t, what_is_no_lock_is_none);
	tcase_add_test(t, arenas_of_malloc);
	tcase_add_test(t, data_of_the_agent);
	tcase_add_test(t, data_of_an_attached_agent);
	tcase_add_test(t, data_of_hotspot);
	tcase_add_test(t, data_of_the_c_library);
	tcase_add_test(t, a_process_that_is_gone);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
