/* SPDX-License-Identifier: MIT */
/* Text of any bytes as JSON. */
#include <check.h>
#include <json-c/json.h>

#include "trace/json_text.h"

START_TEST(what_is_no_utf8_becomes_a_question_mark)
{
	static const char *const pairs[][2] = {
		{"/srv/caf\xe9.txt", "/srv/caf?.txt"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"\xc0\x80", "??"},
		{"\xed\xa0\x80", "???"},
		{"cut \xe2\x82", "cut ??"},
		{"\xf4\x90\x80\x80", "????"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct json_object *o = json_text(pairs[i][0]);

		ck_assert_str_eq(json_object_get_string(o), pairs[i][1]);
		json_object_put(o);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json_text");
	TCase *t = tcase_create("json_text");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, what_is_no_utf8_becomes_a_question_mark);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
