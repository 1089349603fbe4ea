/* SPDX-License-Identifier: MIT */
/* What the agent keeps of a thread: its slot, and what its probes write into. */
#include <limits.h>
#include <pthread.h>

#include "agent/agent.h"
#include "test_writer_pool.h"

struct agent agent = {.writer = JIS_WRITER_INITIALIZER(agent.writer)};

static void recording_begin(__u32 generation)
{
	slots_forget_words();
	pool_header()->clock = JIS_CLOCK_TSC;
	ck_assert_int_eq(jis_writer_init(&agent.writer, pool, POOL_SIZE, 4711), 0);
	agent.generation = generation;
	agent_recording_set(1);
}

static void recording_end(void)
{
	agent_recording_set(0);
	jis_writer_off(&agent.writer);
}

static void write_one(void)
{
	struct jis_ev_method_enter record = {1};

	agent_write(JIS_EV_method_enter, &record, sizeof(record));
}

START_TEST(probes_write_into_the_slot_of_the_recording_only)
{
	struct agent_thread *self;

	recording_begin(1);
	ck_assert_int_eq(slots_init(), 0);
	self = slot_thread();
	ck_assert_ptr_eq(self, agent_self);
	ck_assert_ptr_eq(agent_words, &agent_no_words);
	write_one();
	ck_assert_ptr_nonnull(self->slot);
	ck_assert_ptr_eq(agent_words, self->slot);
	ck_assert_int_eq(jis_writer_on_fast(&agent.writer, JIS_EV_method_enter), 1);
	recording_end();
	ck_assert_int_eq(jis_writer_on_fast(&agent.writer, JIS_EV_method_enter), 0);

	recording_begin(2);
	ck_assert_ptr_eq(agent_words, &agent_no_words);
	slot_words(self); /* its slot is that of the first one still */
	ck_assert_ptr_eq(agent_words, &agent_no_words);
	write_one();
	ck_assert_ptr_eq(agent_words, self->slot);
	slot_give_back();
	ck_assert_ptr_eq(agent_words, &agent_no_words);
	recording_end();
}
END_TEST

START_TEST(probes_write_no_words_by_another_clock)
{
	recording_begin(1);
	agent.writer.clock = JIS_CLOCK_RAW;
	ck_assert_int_eq(slots_init(), 0);
	write_one();
	ck_assert_ptr_nonnull(agent_self->slot);
	ck_assert_ptr_eq(agent_words, &agent_no_words);
	recording_end();
}
END_TEST

START_TEST(nothing_is_written_where_there_are_no_words)
{
	ck_assert_int_eq(jis_write_word(&agent.writer, &agent_no_words, JIS_EV_method_enter, 1), 0);
	ck_assert_uint_eq(agent_no_words.position, 0);
	ck_assert_uint_eq(agent_no_words.produced[JIS_EV_method_enter], 0);
}
END_TEST

START_TEST(a_slot_that_comes_up_in_a_trial_waits_for_its_end)
{
	struct agent_thread *self;
	struct jis_slot trial = {0};

	recording_begin(1);
	ck_assert_int_eq(slots_init(), 0);
	self = slot_thread();
	self->on_trial = 1;
	agent_words = &trial;
	write_one();
	ck_assert_ptr_nonnull(self->slot);
	ck_assert_ptr_eq(agent_words, &trial);
	self->on_trial = 0;
	slot_words(self);
	ck_assert_ptr_eq(agent_words, self->slot);
	recording_end();
}
END_TEST

/* A signal handler's, where the probe may be anywhere in its record. */
START_TEST(a_record_within_a_probes_is_dropped_and_counted)
{
	struct agent_thread *self;
	struct jis_slot *s;
	__u64 position;

	recording_begin(1);
	ck_assert_int_eq(slots_init(), 0);
	write_one();
	self = agent_self;
	s = self->slot;
	position = s->position;
	self->writing = 1;
	write_one();
	ck_assert_uint_eq(self->writing, 1);
	ck_assert_uint_eq(s->position, position);
	ck_assert_uint_eq(s->produced[JIS_EV_method_enter], 2);
	ck_assert_uint_eq(s->lost[JIS_EV_method_enter], 1);
	self->writing = 0;
	write_one();
	ck_assert_uint_gt(s->position, position);
	ck_assert_uint_eq(s->lost[JIS_EV_method_enter], 1);
	recording_end();
}
END_TEST

static pthread_key_t late_key;
static int late_first; /* from which round on it calls the agent */
static int late_got[PTHREAD_DESTRUCTOR_ITERATIONS];
static int nr_late;

/* Of a key younger than the agent's: called after its destructor, in each round. */
static void late(void *value)
{
	pthread_setspecific(late_key, value);
	if (nr_late < PTHREAD_DESTRUCTOR_ITERATIONS)
		late_got[nr_late] = nr_late >= late_first && slot_thread() != NULL;
	nr_late++;
}

static void *ending(void *value)
{
	slot_thread();
	pthread_setspecific(late_key, value);
	return NULL;
}

/* Else it would stay listed when what it points to is gone. */
START_TEST(who_ends_is_known_again_only_while_its_end_will_be_seen)
{
	const int last = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
	pthread_t thread;

	ck_assert_int_eq(slots_init(), 0);
	ck_assert_int_eq(pthread_key_create(&late_key, late), 0);
	for (late_first = 0; late_first <= last; late_first++) {
		nr_late = 0;
		ck_assert_int_eq(pthread_create(&thread, NULL, ending, &late_key), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_int_eq(nr_late, last + 1);
		ck_assert_int_eq(late_got[last], 0);
		ck_assert_int_eq(late_got[last - 1], late_first < last);
		slots_forget_words();
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("slots");

	tcase_add_checked_fixture(t, pool_make, pool_free);
	tcase_add_test(t, probes_write_into_the_slot_of_the_recording_only);
	tcase_add_test(t, probes_write_no_words_by_another_clock);
	tcase_add_test(t, nothing_is_written_where_there_are_no_words);
	tcase_add_test(t, a_slot_that_comes_up_in_a_trial_waits_for_its_end);
	tcase_add_test(t, a_record_within_a_probes_is_dropped_and_counted);
	tcase_add_test(t, who_ends_is_known_again_only_while_its_end_will_be_seen);
	return run_tcase("agent_slots", t);
}
