/* SPDX-License-Identifier: MIT */
/* What the guard writes down leaves out the method it means, and is read again as one rule. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/choice.h"
#include "cli/cli.h"
#include "cli/methods_list.h"

/* Of the tool's main file. */
bool cli_quiet;
const char *cli_verb = "record";

static bool is_traced(const struct choice *c, const char *class, const char *name,
		      const char *descriptor)
{
	const struct choice_method m = {
		.class_name = {class, strlen(class)},
		.name = {name, strlen(name)},
		.descriptor = {descriptor, strlen(descriptor)},
		.code_bytes = 100,
	};

	return choice_of(c, &m) & CHOICE_TRACED;
}

/* The rules `**,@FILE` of a FILE that leaves the method out. */
static char *rules_without(const char *name, const char *descriptor)
{
	char path[] = "/tmp/jis-rules-XXXXXX", list[64], *rules = NULL;
	FILE *f = fdopen(mkstemp(path), "w");

	methods_rule_not(f, name, descriptor);
	fputs(" # 5 calls in 2000 ms\n", f);
	ck_assert_int_eq(fclose(f), 0);
	snprintf(list, sizeof(list), "**,@%s", path);
	ck_assert_int_eq(methods_list_add(&rules, "--methods", list, NULL), 0);
	remove(path);
	return rules;
}

static const struct {
	const char *class, *name, *descriptor;
} methods[] = {
	{"com.acme.Service", "handle", "(Ljava/lang/String;[I)Ljava/util/List;"},
	{"com.acme.Service", "<init>", "()V"},
	{"Spec", "does a thing, twice", "()V"},
	{"Spec$1", "is it so? yes! (no)", "(I)V"},
	{"Spec", "a#b:c@d*e", "(I)V"},
	{"Spec", "tab\tline\nend\177", "(J)J"},
	{"Spec", "gr\303\274n", "()V"},
};

START_TEST(a_rule_leaves_out_the_method_it_means)
{
	char full[128], why[128], *rules;
	struct choice c = {0};

	snprintf(full, sizeof(full), "%s.%s", methods[_i].class, methods[_i].name);
	rules = rules_without(full, methods[_i].descriptor);
	ck_assert_int_eq(choice_add(&c, rules, why, sizeof(why)), 0);
	ck_assert_uint_eq(c.nr_rules, 2);
	ck_assert(!is_traced(&c, methods[_i].class, methods[_i].name, methods[_i].descriptor));
	/* No other of the class's is. */
	ck_assert(is_traced(&c, methods[_i].class, "other", methods[_i].descriptor));
	ck_assert(is_traced(&c, methods[_i].class, methods[_i].name, "(Z)Z"));
	choice_free(&c);
	free(rules);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("methods_list");
	TCase *t = tcase_create("methods_list");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, a_rule_leaves_out_the_method_it_means, 0,
			    sizeof(methods) / sizeof(methods[0]));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
