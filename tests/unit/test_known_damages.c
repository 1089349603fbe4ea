/* SPDX-License-Identifier: MIT */
/* Which damages are in the manifest already. */
#include <check.h>
#include <stdlib.h>

#include "cli/known_damages.h"

#define MS 1000000u /* ticks */

static struct damage_entry list[] = {
	{.path = (char *)"kernel/cpu-1", .begin = 50 * MS, .end = 60 * MS},
	{.path = (char *)"kernel/cpu-1", .begin = 10 * MS, .end = 40 * MS},
	{.path = (char *)"kernel/cpu-1", .begin = 20 * MS, .end = 30 * MS},
	{.path = (char *)"kernel/cpu-10", .begin = 70 * MS, .end = 80 * MS},
	{.path = (char *)"jvm-7-1/slot-3", .begin = 10 * MS, .end = 20 * MS},
	{.path = (char *)"jvm-7-1/dict", .begin = 90 * MS, .end = TIME_NONE},
	{.path = (char *)"jvm-71-1/dict", .begin = 500 * MS, .end = 600 * MS},
};
static struct manifest manifest = {.frequency = 1000000000,
				   .end = 1000 * MS,
				   .damages = list,
				   .nr_damages = 7};

static bool covers(const struct manifest *m, const char *place, double begin, double end)
{
	struct known_damages *k = known_damages_new(m);
	bool answer;

	ck_assert_ptr_nonnull(k);
	answer = known_damages_cover(k, place, begin / 1e3, end / 1e3);
	known_damages_free(k);
	return answer;
}

START_TEST(an_interval_is_known_by_one_that_covers_it)
{
	ck_assert(covers(&manifest, "kernel/cpu-1", 10, 40));
	ck_assert(covers(&manifest, "kernel/cpu-1", 31, 39)); /* by the one that began before */
	ck_assert(covers(&manifest, "kernel/cpu-1", 55, 55));
	ck_assert(!covers(&manifest, "kernel/cpu-1", 9, 12));
	ck_assert(!covers(&manifest, "kernel/cpu-1", 35, 45));
	ck_assert(!covers(&manifest, "kernel/cpu-1", 35, 55)); /* two together do not */
	ck_assert(!covers(&manifest, "kernel/cpu-1", 70, 80));
	ck_assert(covers(&manifest, "kernel/cpu-10", 70, 80));
	ck_assert(!covers(&manifest, "kernel/cpu-10", 10, 40));
	ck_assert(!covers(&manifest, "kernel/cpu-", 10, 40));
	ck_assert(covers(&manifest, "kernel/cpu-1", 10 - 1e-4, 40 + 1e-4)); /* rounding */
}
END_TEST

START_TEST(a_process_has_all_of_its_streams)
{
	ck_assert(covers(&manifest, "jvm-7-1", 12, 18));
	ck_assert(covers(&manifest, "jvm-7-1", 95, 1000));
	ck_assert(!covers(&manifest, "jvm-7-1", 30, 40));
	ck_assert(covers(&manifest, "jvm-71-1", 500, 600));
	ck_assert(!covers(&manifest, "jvm-7", 12, 18));
	ck_assert(!covers(&manifest, "session", 12, 18));
}
END_TEST

START_TEST(nothing_is_known_of_a_whole_trace)
{
	const struct manifest whole = {.frequency = 1, .end = 1};

	ck_assert(!covers(&whole, "kernel/cpu-0", 0, 0));
}
END_TEST

/* As many found as listed: each is looked up. */
START_TEST(very_many_are_found)
{
	const uint32_t nr = 200000;
	struct manifest m = {.frequency = 1000000000, .end = TIME_NONE / 4, .nr_damages = nr};
	struct known_damages *k;

	m.damages = calloc(nr, sizeof(*m.damages));
	ck_assert_ptr_nonnull(m.damages);
	for (uint32_t i = 0; i < nr; i++)
		m.damages[i] = (struct damage_entry){.path = i % 2 ? (char *)"kernel/cpu-0"
								   : (char *)"jvm-1-1/dict",
						     .begin = (uint64_t)(nr - i) * MS,
						     .end = (uint64_t)(nr - i) * MS + MS / 2};
	k = known_damages_new(&m);
	ck_assert_ptr_nonnull(k);
	for (uint32_t i = 0; i < nr; i++) {
		double t = (double)(nr - i) / 1e3;

		if (!known_damages_cover(k, i % 2 ? "kernel/cpu-0" : "jvm-1-1", t, t + 0.0005) ||
		    known_damages_cover(k, i % 2 ? "jvm-1-1" : "kernel/cpu-0", t, t + 0.0005))
			ck_abort_msg("damage %u", i);
	}
	known_damages_free(k);
	free(m.damages);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("known_damages");
	TCase *t = tcase_create("known");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, an_interval_is_known_by_one_that_covers_it);
	tcase_add_test(t, a_process_has_all_of_its_streams);
	tcase_add_test(t, nothing_is_known_of_a_whole_trace);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, very_many_are_found);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
