/* SPDX-License-Identifier: MIT */
/* Which methods are traced: patterns, rules and their order. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/choice.h"
#include "agent/siphash.h"

static int matches(const char *pattern, const char *text)
{
	return choice_match(pattern, strlen(pattern), text, strlen(text));
}

START_TEST(wildcards_keep_to_parts)
{
	ck_assert(matches("com.acme.Service", "com.acme.Service"));
	ck_assert(!matches("com.acme.Service", "com.acme.Services"));
	ck_assert(!matches("com.acme.Services", "com.acme.Service"));
	ck_assert(matches("com.acme.*", "com.acme.Service"));
	ck_assert(!matches("com.acme.*", "com.acme.Service.handle"));
	ck_assert(!matches("com.*.Service", "com.acme.web.Service"));
	ck_assert(matches("com.**.Service", "com.acme.web.Service"));
	ck_assert(matches("**.Service.handle*", "com.acme.Service.handleRequest"));
	ck_assert(!matches("**.Service.handle*", "com.acme.OtherService.handle"));
	ck_assert(matches("**Service.handle*", "com.acme.OtherService.handle"));
	ck_assert(matches("a?c", "abc"));
	ck_assert(!matches("a?c", "a.c"));
	ck_assert(!matches("a?c", "ac"));
	ck_assert(matches("*", ""));
	ck_assert(matches("**", "a.b"));
	ck_assert(!matches("", "a"));
	ck_assert(matches("**a**b**", "xaaxxbb"));
	ck_assert(!matches("**a**b**", "xbbxxaa"));
}
END_TEST

static struct choice_text text_of(const char *s)
{
	return (struct choice_text){s, strlen(s)};
}

static unsigned int chosen(const char *rules, const char *class, const char *name,
			   const char *descriptor, uint32_t bytes)
{
	struct choice c = {0};
	struct choice_method m = {
		.class_name = text_of(class),
		.name = text_of(name),
		.descriptor = text_of(descriptor),
		.code_bytes = bytes,
	};
	char why[128] = "";
	unsigned int result;

	ck_assert_msg(choice_add(&c, rules, why, sizeof(why)) == 0, "%s", why);
	result = choice_of(&c, &m);
	if (result && choice_needs(&c, 0, CHOICE_NAME))
		ck_assert_msg(choice_class(&c, class, strlen(class)), "%s %s", rules, class);
	choice_free(&c);
	return result;
}

START_TEST(a_pattern_is_of_a_class_a_method_or_a_signature)
{
	ck_assert(chosen("com.acme.Foo", "com.acme.Foo", "bar", "()V", 20));
	ck_assert(!chosen("com.acme.Foo", "com.acme.Foo$In", "bar", "()V", 20));
	ck_assert(chosen("com.acme.Foo*", "com.acme.Foo$In", "bar", "()V", 20));
	ck_assert(chosen("com.acme.*", "com.acme.web.Foo", "bar", "()V", 20));
	ck_assert(!chosen("com.acme.*", "com.acmes.Foo", "bar", "()V", 20));
	ck_assert(chosen("com.acme.Foo.bar", "com.acme.Foo", "bar", "()V", 20));
	ck_assert(!chosen("com.acme.Foo.bar", "com.acme.Foo", "bars", "()V", 20));
	ck_assert(chosen("com.acme.Foo.<init>", "com.acme.Foo", "<init>", "(I)V", 20));
	ck_assert(chosen("**.<clinit>", "com.acme.Foo", "<clinit>", "()V", 20));
	ck_assert(chosen("com.acme.Foo.bar(I)V", "com.acme.Foo", "bar", "(I)V", 20));
	ck_assert(!chosen("com.acme.Foo.bar(I)V", "com.acme.Foo", "bar", "(J)V", 20));
	ck_assert(chosen("com.acme.Foo.bar(**", "com.acme.Foo", "bar", "(J)V", 20));
	ck_assert(chosen("com.**bar", "com.acme.Foo", "bar", "()V", 20));
	ck_assert(chosen("**", "Foo", "bar", "()V", 20));
	ck_assert(chosen("Foo", "Foo", "bar", "()V", 20));
	ck_assert(!chosen("", "Foo", "bar", "()V", 20));
}
END_TEST

START_TEST(the_last_rule_that_matches_decides)
{
	static const char rules[] = "com.acme.*,!com.acme.In*, com.acme.Inner.keep\n!**.toString";

	ck_assert(chosen(rules, "com.acme.Foo", "bar", "()V", 20));
	ck_assert(!chosen(rules, "com.acme.Inner", "bar", "()V", 20));
	ck_assert(chosen(rules, "com.acme.Inner", "keep", "()V", 20));
	ck_assert(!chosen(rules, "com.acme.Foo", "toString", "()V", 20));
	ck_assert_uint_eq(chosen("library:java.util.*", "java.util.List", "add", "()V", 1),
			  CHOICE_TRACED | CHOICE_LIBRARY);
	ck_assert_uint_eq(chosen("**,mark:A.b", "A", "b", "()V", 1), CHOICE_TRACED | CHOICE_MARK);
	ck_assert_uint_eq(chosen("mark:A.b,**", "A", "b", "()V", 1), CHOICE_TRACED | CHOICE_MARK);
	ck_assert_uint_eq(chosen("mark:A.b,!**", "A", "b", "()V", 1), CHOICE_NOT);
	ck_assert_uint_eq(chosen("mark:A.b,library:**", "A", "b", "()V", 1),
			  CHOICE_TRACED | CHOICE_LIBRARY | CHOICE_MARK);
}
END_TEST

/* "this 0 2" of the method A.b, "" for none. */
static const char *values(const char *rules, uint32_t strings)
{
	static char text[64];
	struct choice c = {0};
	const struct choice_method m = {.class_name = text_of("A"),
					.name = text_of("b"),
					.descriptor = text_of("(I)V")};
	const struct choice_values *v;
	char why[128] = "";

	ck_assert_msg(choice_add(&c, rules, why, sizeof(why)) == 0, "%s", why);
	ck_assert_uint_eq(c.strings, strings);
	v = choice_values(&c, &m);
	text[0] = 0;
	if (v && v->receiver)
		strcat(text, "this ");
	if (v && v->all)
		strcat(text, "all ");
	for (unsigned int i = 0; v && i < v->nr_arguments; i++)
		sprintf(text + strlen(text), "%u ", v->arguments[i]);
	choice_free(&c);
	return text;
}

START_TEST(values_stay_with_a_method)
{
	ck_assert_str_eq(values("A.b", 0), "");
	ck_assert_str_eq(values("arguments:0:A.b", 0), "0 ");
	ck_assert_str_eq(values("arguments:2+this+0:A.b,strings:40", 40), "this 2 0 ");
	ck_assert_str_eq(values("arguments:all:A.*,**", 0), "all ");
	ck_assert_str_eq(values("arguments:0:A.b,arguments:1:A", 0), "1 ");
	ck_assert_str_eq(values("arguments:0:A.b,arguments:none:A.b", 0), "");
	ck_assert_str_eq(values("library:arguments:254:A.b", 0), "254 ");
	ck_assert_str_eq(values("arguments:0:A.c", 0), "");
	ck_assert_str_eq(values("arguments:0+1+2+3+4+5+6+7:A", 0), "0 1 2 3 4 5 6 7 ");
	ck_assert(chosen("arguments:0:A.b", "A", "b", "(I)V", 5));
	ck_assert(!chosen("arguments:0:A.b,!A.b", "A", "b", "(I)V", 5));
}
END_TEST

START_TEST(values_that_are_none_are_refused)
{
	static const char *const wrong[] = {
		"arguments:",
		"arguments:A.b",
		"arguments::A.b",
		"arguments:0:",
		"arguments:x:A.b",
		"arguments:255:A.b",
		"arguments:0+0:A.b",
		"arguments:0+:A.b",
		"arguments:+0:A.b",
		"arguments:-1:A.b",
		"arguments:0+1+2+3+4+5+6+7+8:A.b",
		"!arguments:0:A.b",
		"arguments:this+0+1+2+3+4+5+6+7:A.b",
		"strings:",
		"strings:1001",
		"strings:x",
	};
	struct choice c = {0};
	char why[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(choice_add(&c, wrong[i], why, sizeof(why)) == -EINVAL, "%s",
			      wrong[i]);
		ck_assert_uint_eq(c.nr_rules, 0);
		ck_assert_uint_eq(c.strings, 0);
	}
	choice_free(&c);
}
END_TEST

/* The first of the paper's test vectors, and those of its reference code: key 00 to 0f, text 00 to
 * n - 1. */
START_TEST(the_hash_is_siphash)
{
	static const uint64_t key[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
	struct siphash s;

	siphash_begin(&s, key);
	siphash_word(&s, 0x0706050403020100ull);
	ck_assert_uint_eq(siphash_end(&s, 0x0e0d0c0b0a0908ull, 7), 0xa129ca6149be45e5ull);
	siphash_begin(&s, key);
	ck_assert_uint_eq(siphash_end(&s, 0, 0), 0x726fdb47dd0e0e31ull);
	siphash_begin(&s, key);
	ck_assert_uint_eq(siphash_end(&s, 0, 1), 0x74f839c593dc67fdull);
}
END_TEST

START_TEST(small_methods_are_left_out)
{
	ck_assert(!chosen("com.*,size>10", "com.A", "get", "()I", 10));
	ck_assert(chosen("com.*,size>10", "com.A", "get", "()I", 11));
	ck_assert(chosen("com.*,com.A.get,size>10", "com.A", "get", "()I", 5));
	ck_assert(chosen("size>10,com.*,size>0", "com.A", "get", "()I", 5));
}
END_TEST

START_TEST(intrinsics_are_asked_for_by_a_word)
{
	struct choice c = {0};
	char why[128];

	ck_assert_int_eq(choice_add(&c, "java.lang.Math.*,intrinsicsx", why, sizeof(why)), 0);
	ck_assert(!c.intrinsics);
	ck_assert_uint_eq(c.nr_rules, 2);
	ck_assert_int_eq(choice_add(&c, "intrinsics,size>x", why, sizeof(why)), -EINVAL);
	ck_assert(!c.intrinsics);
	ck_assert_int_eq(choice_add(&c, "intrinsics", why, sizeof(why)), 0);
	ck_assert(c.intrinsics);
	ck_assert_uint_eq(c.nr_rules, 2);
	choice_free(&c);
	ck_assert(!c.intrinsics);
}
END_TEST

START_TEST(annotations_and_classes_above_choose)
{
	const struct choice_text annotations[] = {text_of("com.acme.Traced")};
	const struct choice_text supers[] = {text_of("A"), text_of("com.acme.Base")};
	struct choice_method m = {
		.class_name = text_of("A"),
		.name = text_of("b"),
		.descriptor = text_of("()V"),
		.code_bytes = 20,
	};
	struct choice c = {0};
	char why[128];

	ck_assert_int_eq(choice_add(&c, "annotation:**.Traced,!subtypes:com.acme.Ba*", why,
				    sizeof(why)),
			 0);
	ck_assert(choice_needs(&c, 0, CHOICE_ANNOTATION) && choice_needs(&c, 1, CHOICE_SUBTYPES));
	ck_assert(!choice_needs(&c, 1, CHOICE_ANNOTATION) && !choice_needs(&c, 0, CHOICE_NAME));
	ck_assert(!choice_of(&c, &m));
	m.annotations = annotations;
	m.nr_annotations = 1;
	ck_assert(choice_of(&c, &m));
	m.supers = supers;
	m.nr_supers = 1;
	ck_assert(choice_of(&c, &m));
	m.nr_supers = 2;
	ck_assert(!choice_of(&c, &m));
	choice_free(&c);
}
END_TEST

static int class_chosen(const char *rules, const char *class)
{
	struct choice c = {0};
	char why[128];
	int is;

	ck_assert_int_eq(choice_add(&c, rules, why, sizeof(why)), 0);
	is = choice_class(&c, class, strlen(class));
	choice_free(&c);
	return is;
}

START_TEST(classes_left_out_as_a_whole_are_known)
{
	static const char rules[] = "**,!java.*,!**.toString,java.util.List";

	ck_assert(class_chosen(rules, "com.acme.A"));
	ck_assert(!class_chosen(rules, "java.lang.String"));
	ck_assert(class_chosen(rules, "java.util.List"));
	ck_assert(!class_chosen(rules, "java.util.ListIterator"));
	ck_assert(class_chosen("**,!java.lang.String.length", "java.lang.String"));
	ck_assert(!class_chosen("com.acme.*", "org.acme.A"));
}
END_TEST

START_TEST(a_wrong_list_changes_nothing)
{
	static const char *const wrong[] = {"a,!",	   "a/b",     "library:", "x,size>",
					    "size>x",	   "a!b",     "#",	  "size>100000",
					    "annotation:", "a,mark:", "a:b"};
	struct choice c = {0};
	char why[64], many[64] = "";
	unsigned int i;

	ck_assert_int_eq(choice_add(&c, "com.acme.A,size>3", why, sizeof(why)), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(choice_add(&c, wrong[i], why, sizeof(why)) == -EINVAL, "%s",
			      wrong[i]);
		ck_assert_uint_eq(c.nr_rules, 1);
		ck_assert_uint_eq(c.size, 3);
		ck_assert(strlen(why) > 3);
	}
	for (i = 0; i < 20; i++)
		strcat(many, "a*");
	ck_assert_int_eq(choice_add(&c, many, why, sizeof(why)), -EINVAL);
	choice_free(&c);
}
END_TEST

/* What choice_class() says no to has no method that is chosen. */
START_TEST(classes_are_never_passed_over_wrongly)
{
	static const char *const patterns[] = {"a.*",	"a.B",	  "a.B.c",   "**c",   "a**c",
					       "*.B.c", "?.B.*",  "a.B.c(*", "**.c(", "a.B*",
					       "**",	"a.**.c", "a*.B.c",  "**B.*", "a.B.**"};
	static const char *const classes[] = {"a.B", "a.x.B", "B", "ab.B", "a.B$C"};
	static const char *const names[] = {"c", "cc", "<init>"};
	unsigned int p, k, n, found = 0;

	for (p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++)
		for (k = 0; k < sizeof(classes) / sizeof(classes[0]); k++)
			for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
				found += chosen(patterns[p], classes[k], names[n], "(I)V", 20) != 0;
	ck_assert_uint_gt(found, 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("choice");
	TCase *t = tcase_create("choice");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, wildcards_keep_to_parts);
	tcase_add_test(t, a_pattern_is_of_a_class_a_method_or_a_signature);
	tcase_add_test(t, the_last_rule_that_matches_decides);
	tcase_add_test(t, values_stay_with_a_method);
	tcase_add_test(t, values_that_are_none_are_refused);
	tcase_add_test(t, the_hash_is_siphash);
	tcase_add_test(t, small_methods_are_left_out);
	tcase_add_test(t, intrinsics_are_asked_for_by_a_word);
	tcase_add_test(t, annotations_and_classes_above_choose);
	tcase_add_test(t, classes_left_out_as_a_whole_are_known);
	tcase_add_test(t, a_wrong_list_changes_nothing);
	tcase_add_test(t, classes_are_never_passed_over_wrongly);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
