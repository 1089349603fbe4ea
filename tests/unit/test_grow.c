/* SPDX-License-Identifier: MIT */
/* Room for more in an array. */
#include <check.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "trace/grow.h"

struct thing {
	uint64_t number;
	char more[24];
};

START_TEST(the_first_size_is_as_asked)
{
	struct thing *things = NULL;
	uint32_t room = 0;

	ck_assert(GROW(things, room, 3));
	ck_assert_ptr_nonnull(things);
	ck_assert_uint_eq(room, 3);
	things[2].number = 7; /* for a sanitizer */
	free(things);
}
END_TEST

START_TEST(then_it_is_twice_as_much)
{
	struct thing *things = NULL;
	size_t room = 0;

	for (size_t expected = 5; expected <= 5 << 10; expected *= 2) {
		ck_assert(GROW(things, room, 5));
		ck_assert_uint_eq(room, expected);
		things[room - 1].number = room;
	}
	free(things);
}
END_TEST

START_TEST(what_was_in_it_stays)
{
	struct thing *things = NULL;
	uint32_t room = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		if (i == room)
			ck_assert(GROW(things, room, 1));
		things[i].number = i;
	}
	ck_assert_uint_eq(room, 16384);
	for (uint32_t i = 0; i < 10000; i++)
		ck_assert_uint_eq(things[i].number, i);
	free(things);
}
END_TEST

START_TEST(it_may_be_in_what_a_pointer_leads_to)
{
	struct {
		struct thing **list;
		uint32_t room;
	} holder = {NULL, 0}, *h = &holder;
	struct thing thing, **list = NULL, ***where = &list;
	size_t room = 0, *its_room = &room;

	ck_assert(GROW(h->list, h->room, 2));
	h->list[1] = &thing;
	ck_assert(GROW(h->list, h->room, 2));
	ck_assert_uint_eq(h->room, 4);
	ck_assert_ptr_eq(h->list[1], &thing);
	free(h->list);
	ck_assert(GROW(*where, *its_room, 2));
	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(room, 2);
	free(list);
}
END_TEST

/* What @type can hold no twice of is refused, and nothing happens. */
#define ck_refused(type, much)                                                                     \
	do {                                                                                       \
		struct thing *things_ = malloc(sizeof(*things_)), *before_ = things_;              \
		type room_of_ = (much);                                                            \
                                                                                                   \
		ck_assert_ptr_nonnull(things_);                                                    \
		things_->number = 42;                                                              \
		ck_assert(!GROW(things_, room_of_, 16));                                           \
		ck_assert_ptr_eq(things_, before_);                                                \
		ck_assert_uint_eq(things_->number, 42);                                            \
		ck_assert(room_of_ == (much));                                                     \
		free(things_);                                                                     \
	} while (0)

START_TEST(more_than_the_type_of_room_holds_is_refused)
{
	ck_refused(uint8_t, 128);
	ck_refused(uint8_t, UINT8_MAX);
	ck_refused(uint16_t, 1u << 15);
	ck_refused(uint32_t, 1u << 31);
	ck_refused(uint32_t, UINT32_MAX);
	ck_refused(uint64_t, 1ull << 63);
	ck_refused(size_t, SIZE_MAX);
	ck_refused(int, INT_MAX / 2 + 1);
}
END_TEST

START_TEST(as_much_as_the_type_of_room_holds_is_not)
{
	struct thing *things = NULL;
	uint8_t room = 0;

	for (unsigned int expected = 16; expected <= 128; expected *= 2) {
		ck_assert(GROW(things, room, 16));
		ck_assert_uint_eq(room, expected);
	}
	ck_assert(!GROW(things, room, 16));
	ck_assert_uint_eq(room, 128);
	things[127].number = 1;
	free(things);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grow");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, the_first_size_is_as_asked);
	tcase_add_test(t, then_it_is_twice_as_much);
	tcase_add_test(t, what_was_in_it_stays);
	tcase_add_test(t, it_may_be_in_what_a_pointer_leads_to);
	tcase_add_test(t, more_than_the_type_of_room_holds_is_refused);
	tcase_add_test(t, as_much_as_the_type_of_room_holds_is_not);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
