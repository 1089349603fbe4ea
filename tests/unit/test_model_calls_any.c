/* SPDX-License-Identifier: MIT */
/* Calls of methods, whatever their threads do; and the same calls told of bare. */
#include "test_model_calls.h"

/* Whatever comes. */
static void feed_anything(struct feed *f, unsigned int seed, bool losses)
{
	f->man.end = f->m->info.end = 1000000;
	f->nr_sinks = 0;
	for (uint64_t t = 100; t < 900000; t += 20) {
		uint32_t tid = 100 + (uint32_t)rand_r(&seed) % 6, cpu = (uint32_t)rand_r(&seed) % 4;

		calls[0] = begins[0] = java_waits[0] = woken[0] = 0;
		for (int i = 0; i < 16; i++)
			reasons[i][0] = f->thread_log[i][0] = 0;
		for (int i = 0; i < 8; i++)
			vstates[i][0] = 0;
		for (int i = 0; i < FEED_CPUS; i++)
			f->cpu_log[i][0] = 0;
		f->events[0] = f->running[0] = f->wakeups[0] = f->damages[0] = 0;
		writes(f, t, tid);
		switch (rand_r(&seed) % 24) {
		case 0:
			mount(f, t, 104 + cpu % 2, 50 + cpu / 2);
			break;
		case 1:
			unmount(f, t, 104 + cpu % 2, 50 + cpu / 2);
			break;
		case 2:
			feed_switch(f, cpu, t, tid, cpu % 2 ? S : R, 100 + (uint32_t)t / 20 % 6);
			break;
		case 3:
			feed_wake(f, cpu, t, 0, tid, t);
			break;
		case 4:
			if (rand_r(&seed) % 8 == 0 && losses)
				lose(f, t, t + 5);
			break;
		case 5:
			FEED(f, SLOT, t, park_begin, .java_tid = 50 + cpu % 2);
			break;
		case 6:
			FEED(f, SLOT, t, unpark, .java_tid = 1, .target_java_tid = 50 + cpu % 2);
			break;
		case 7:
			FEED(f, SLOT, t, thread_start_call, .java_tid = 1, .child_java_tid = 50);
			break;
		case 8:
			if (rand_r(&seed) % 64 == 0)
				java_ends(f, t, cpu < 2 ? 1 + cpu : 48 + cpu, 0);
			break;
		case 9:
		case 10:
		case 11:
			leave(f, t, 1 + (uint32_t)rand_r(&seed) % 5);
			break;
		case 12:
			leave(f, t, (1 + (uint32_t)rand_r(&seed) % 5) | THROWN);
			break;
		default:
			if (rand_r(&seed) % 2)
				enter(f, t, 1 + (uint32_t)rand_r(&seed) % 5);
			else
				leave(f, t, 1 + (uint32_t)rand_r(&seed) % 5);
		}
	}
	calls[0] = 0;
}

/* What check() says of each call holds, and nothing leaks or crashes. */
START_TEST(any_records_add_up)
{
	struct feed *f = start_virtual();

	feed_anything(f, (unsigned int)_i + 1, true);
	feed_end(f);
	feed_free(f);
}
END_TEST

static uint64_t told, nr_told;

static void tell(uint64_t value)
{
	told = (told ^ value) * 0x100000001b3ull + (told >> 29);
}

static int tell_call(void *ctx, const struct model_call *c)
{
	(void)ctx;
	tell(c->number);
	tell(c->caller);
	tell(c->method);
	tell((uint64_t)c->process << 32 | c->thread);
	tell((uint64_t)c->vthread << 32 | c->cpu);
	tell(c->java_tid);
	tell(c->flags &
	     ~(uint32_t)(MODEL_CALL_RECURSIVE | MODEL_CALL_PAIR_RECURSIVE | MODEL_CALL_IN_NONE));
	tell(c->begin);
	nr_told++;
	return 0;
}

static int tell_end(void *ctx, const struct model_call *c)
{
	tell(c->end);
	return tell_call(ctx, c);
}

/* Of one sink, alone. */
static struct feed *start_telling(bool bare)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	sink = (struct model_sink){.call_begin = tell_call,
				   .call_end = tell_end,
				   .bare_calls = bare};
	told = nr_told = 0;
	f->nr_sinks = 0;
	alone = &sink;
	virtual_as(f);
	alone = NULL;
	ck_assert(f->m->methods->bare == bare);
	return f;
}

static uint64_t told_of(unsigned int seed, bool losses, bool bare)
{
	struct feed *f = start_telling(bare);

	feed_anything(f, seed, losses);
	ck_assert_int_eq(model_finish(f->m), 0);
	feed_free(f);
	ck_assert_uint_gt(nr_told, 1000);
	return told;
}

START_TEST(bare_calls_are_the_same)
{
	unsigned int seed = (unsigned int)_i + 1;
	uint64_t lossless = told_of(seed, false, false), lossy = told_of(seed, true, false);

	ck_assert_uint_ne(lossless, lossy);
	ck_assert_uint_eq(told_of(seed, false, true), lossless);
	ck_assert_uint_eq(told_of(seed, true, true), lossy);
}
END_TEST

static uint64_t told_of_nested(bool bare)
{
	struct feed *f = start_telling(bare);

	f->m->methods->contexts = !bare;
	writes(f, 10, 100);
	for (uint32_t i = 0; i < 9; i++)
		enter(f, 10 + i, A + i % 3);
	for (uint32_t i = 9; i--;)
		leave(f, 30 - i, (A + i % 3) | (i == 4 ? THROWN : 0));
	ck_assert_int_eq(model_finish(f->m), 0);
	feed_free(f);
	ck_assert_uint_eq(nr_told, 18);
	return told;
}

START_TEST(bare_calls_need_contexts_at_a_loss)
{
	struct feed *f;

	ck_assert_uint_eq(told_of_nested(false), told_of_nested(true));
	f = start_telling(true);
	f->m->methods->contexts = false;
	writes(f, 10, 100);
	enter(f, 10, A);
	ck_assert_int_eq(f->m->error, 0);
	methods_lost(f->m, 0, 20);
	ck_assert_int_eq(f->m->error, -EAGAIN);
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_calls_any");
	TCase *t = tcase_create("model_calls_any");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, any_records_add_up, 0, 6);
	tcase_add_loop_test(t, bare_calls_are_the_same, 0, 6);
	tcase_add_test(t, bare_calls_need_contexts_at_a_loss);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
