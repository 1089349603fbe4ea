/* SPDX-License-Identifier: MIT */
/* What /proc says of threads, against what they know of themselves. */
#include "libjisctl/proc.h"

#include <check.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct worker {
	const char *name;
	uint64_t cpu; /* ns it had */
	pthread_barrier_t *done, *end;
};

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Works for 100 ms, and stays. */
static void *work(void *arg)
{
	struct worker *w = arg;

	prctl(PR_SET_NAME, w->name);
	while (cpu_now() < 100000000)
		;
	w->cpu = cpu_now();
	pthread_barrier_wait(w->done);
	pthread_barrier_wait(w->end);
	return NULL;
}

START_TEST(the_time_of_compilers_is_theirs)
{
	pthread_barrier_t done, end;
	struct worker w[] = {{"C2 CompilerThread0", 0, &done, &end},
			     {"C1 CompilerThread0", 0, &done, &end},
			     {"http-nio-8080-exec-1", 0, &done, &end}};
	pthread_t threads[3];
	uint64_t jit, least;
	unsigned int i;

	ck_assert_uint_eq(proc_jit_time(getpid()), 0);
	pthread_barrier_init(&done, NULL, 4);
	pthread_barrier_init(&end, NULL, 4);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &w[i]), 0);
	pthread_barrier_wait(&done);
	jit = proc_jit_time(getpid());
	least = w[0].cpu + w[1].cpu;
	/* the kernel books what they have had up to their sleep; none had twice what it worked */
	ck_assert_uint_ge(jit, least);
	ck_assert_uint_lt(jit, least + w[2].cpu);
	pthread_barrier_wait(&end);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(there_are_none_in_a_process_that_is_gone)
{
	ck_assert_uint_eq(proc_jit_time(0x7fffffff), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc");
	TCase *t = tcase_create("proc");
	SRunner *r;
	int failed;

	tcase_add_test(t, the_time_of_compilers_is_theirs);
	tcase_add_test(t, there_are_none_in_a_process_that_is_gone);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
