/* SPDX-License-Identifier: MIT */
/* The event table as data: what it says of each event must follow from the fields alone. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/event_info.h"

START_TEST(ids_and_names)
{
	ck_assert_str_eq(event_info_get(JIS_STREAM_KERNEL, 1)->name, "sched_switch");
	ck_assert_str_eq(event_info_get(JIS_STREAM_RECORDER, 1)->name, "clock_sync");
	ck_assert_str_eq(event_info_get(JIS_STREAM_USER, 3)->name, "thread_bind");
	ck_assert_str_eq(event_info_get(JIS_STREAM_DICT, 1)->name, "string_def");
	for (uint32_t c = 0; c < JIS_NR_STREAM_CLASSES; c++)
		ck_assert_str_eq(event_info_get(c, 30)->name, "lost_records");
	ck_assert_ptr_null(event_info_get(JIS_STREAM_USER, 31));
	ck_assert_str_eq(event_info_get(JIS_STREAM_USER, 1)->name, "method_enter");
	ck_assert_ptr_null(event_info_get(JIS_STREAM_KERNEL, 0));
	ck_assert_ptr_null(event_info_get(JIS_STREAM_KERNEL, 31));
	ck_assert_ptr_null(event_info_get(JIS_STREAM_KERNEL, UINT32_MAX));
	ck_assert_ptr_null(event_info_get(JIS_NR_STREAM_CLASSES, 1));
	ck_assert_ptr_null(event_info_get(UINT32_MAX, 1));
}
END_TEST

/* Offsets and sizes are the sums of the fields' sizes, without any padding. */
static void fields_add_up(const struct event_info *info)
{
	uint32_t offset = 0;

	ck_assert_uint_gt(info->nr_fields, 0);
	ck_assert_uint_le(info->nr_fields, EVENT_MAX_FIELDS);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct field_info *f = &info->fields[i];

		ck_assert_uint_eq(f->offset, offset);
		ck_assert_ptr_nonnull(f->name);
		ck_assert(f->type != FIELD_STR || (info->has_string && i == info->nr_fields - 1));
		offset += f->type == FIELD_U64 || f->type == FIELD_S64 || f->type == FIELD_X64 ? 8
											       : 4;
	}
	ck_assert_uint_eq(info->fixed_size, offset);
	ck_assert(!info->has_string || info->fields[info->nr_fields - 1].type == FIELD_STR);
}

START_TEST(all_rows)
{
	uint32_t nr = 0;

	for (uint32_t c = 0; c < JIS_NR_STREAM_CLASSES; c++) {
		for (uint32_t id = 0; id < 1000; id++) {
			const struct event_info *info = event_info_get(c, id);

			if (id < 32)
				ck_assert_uint_eq(record_sizes[c][id],
						  info && !info->has_string ? info->fixed_size : 0);
			if (!info)
				continue;
			ck_assert_uint_eq(info->id, id);
			ck_assert_uint_lt(id, JIS_MAX_EVENT_ID);
			fields_add_up(info);
			nr++;
		}
	}
	ck_assert_uint_eq(nr, 23 + 13 + 4 + 29 + 27 + 14 + 4);
}
END_TEST

START_TEST(strings_are_bounded)
{
	const struct event_info *info = event_info_get(JIS_STREAM_DICT, JIS_EV_string_def);
	uint8_t *p = calloc(1, 8 + 2048);
	uint32_t length;

	ck_assert_int_eq(event_payload_size(info, p, 7), -EBADMSG);
	ck_assert_int_eq(event_payload_size(info, p, 8), -EBADMSG); /* length 0 */
	for (length = 1; length < 2048; length++) {
		memcpy(p + 4, &length, 4);
		ck_assert_int_eq(event_payload_size(info, p, 8 + 2048),
				 length % 4 || length > JIS_STRING_MAX ? -EBADMSG
								       : (int)length + 8);
		ck_assert_int_eq(event_payload_size(info, p, 7 + length), -EBADMSG);
	}
	length = 4;
	memcpy(p + 4, &length, 4);
	p[11] = 'x'; /* no NUL at the end */
	ck_assert_int_eq(event_payload_size(info, p, 2048), -EBADMSG);
	length = UINT32_MAX - 3;
	memcpy(p + 4, &length, 4);
	ck_assert_int_eq(event_payload_size(info, p, 2048), -EBADMSG);
	free(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_info");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, ids_and_names);
	tcase_add_test(t, all_rows);
	tcase_add_test(t, strings_are_bounded);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
