/* SPDX-License-Identifier: MIT */
/*
 * What each backend records: hosts that have everything, nothing, or lack one event.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "jis/abi.h"
#include "libjisctl/coverage.h"

#define ROOM 64

static struct ftrace_formats formats;
static struct coverage_host host;
static struct jisctl_coverage rows[ROOM];
static int n;

static void set_up(void)
{
	for (int e = 0; e < FT_NR_EVENTS; e++)
		formats.event[e].id = (uint16_t)(e + 1);
	host = (struct coverage_host){.kmod_features = UINT32_MAX, .formats = &formats};
	memset(rows, 0, sizeof(rows));
}

static void look(void)
{
	n = coverage_fill(&host, rows, ROOM);
	ck_assert_int_gt(n, 25);
	ck_assert_int_le(n, ROOM);
}

static bool not_here(const struct jisctl_recorded *r)
{
	return !strncmp(r->reason, "not here: ", 10);
}

/* Are exactly @expected, ended by NULL, told as missing? */
static void missing_are(const char *const *expected, bool kmod)
{
	int found = 0, wanted = 0;

	for (int i = 0; i < n; i++) {
		const struct jisctl_recorded *r = kmod ? &rows[i].kmod : &rows[i].ftrace;
		bool want = false;

		for (int j = 0; expected[j]; j++)
			want |= !strcmp(expected[j], rows[i].what);
		ck_assert_msg(not_here(r) == want, "%s: %s", rows[i].what, r->reason);
		ck_assert(!not_here(r) || r->records == 0);
		found += not_here(r);
	}
	while (expected[wanted])
		wanted++;
	ck_assert_int_eq(found, wanted);
}

START_TEST(where_all_is_there_the_table_holds)
{
	static const char *const none[] = {NULL};
	int yes = 0, part = 0, no = 0;

	look();
	missing_are(none, true);
	missing_are(none, false);
	for (int i = 0; i < n; i++) {
		const struct jisctl_recorded *r = &rows[i].ftrace;

		ck_assert_int_eq(rows[i].kmod.records, 1);
		ck_assert_uint_lt(strlen(r->reason), sizeof(r->reason) - 1); /* none is cut */
		ck_assert_msg(r->records == 1 || r->reason[0], "%s has no reason", rows[i].what);
		yes += r->records == 1;
		part += r->records == -1;
		no += r->records == 0;
	}
	ck_assert_int_gt(yes, 5);
	ck_assert_int_gt(part, 5);
	ck_assert_int_gt(no, 5);
}
END_TEST

START_TEST(what_the_kernel_lacks_is_told)
{
	static const char *const kmod[] = {"switch: cgroup",
					   "switch: words of registered threads",
					   "waking: interrupt, softirq, timer as its source",
					   "cgroup_attach, cgroup_name",
					   "cgroup_throttle",
					   "cpu_steal",
					   "system calls",
					   "fd_file, fd_socket",
					   "fault",
					   "block",
					   "irq",
					   "signal",
					   "power",
					   "targets: cgroups",
					   NULL};
	static const char *const ftrace[] = {"switch: cgroup",
					     "waking: interrupt, softirq, timer as its source",
					     "sched_migrate_task",
					     "cgroup_attach, cgroup_name",
					     "system calls",
					     "block",
					     "irq",
					     "signal",
					     "power",
					     "targets: cgroups",
					     NULL};

	host.kmod_features = 0;
	for (int e = FT_SYS_ENTER; e < FT_NR_EVENTS; e++)
		formats.event[e].id = 0;
	look();
	missing_are(kmod, true);
	missing_are(ftrace, false);
}
END_TEST

/* An event that is missing is named, in the rows that need it and in no others. */
START_TEST(each_missing_event_is_named)
{
	static const struct {
		enum ftrace_event event;
		const char *path, *rows[4];
	} cases[] = {
		{FT_TIMER_EXIT,
		 "events/timer/timer_expire_exit",
		 {"waking: interrupt, softirq, timer as its source"}},
		{FT_SOFTIRQ_ENTRY,
		 "events/irq/softirq_entry",
		 {"waking: interrupt, softirq, timer as its source", "irq"}},
		{FT_SYS_EXIT, "events/raw_syscalls/sys_exit", {"system calls"}},
		{FT_MIGRATE, "events/sched/sched_migrate_task", {"sched_migrate_task"}},
		{FT_ATTACH,
		 "events/cgroup/cgroup_attach_task",
		 {"switch: cgroup", "cgroup_attach, cgroup_name", "targets: cgroups"}},
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		set_up();
		formats.event[cases[c].event].id = 0;
		look();
		missing_are(cases[c].rows, false);
		for (int i = 0; i < n; i++)
			ck_assert(!not_here(&rows[i].ftrace) ||
				  strstr(rows[i].ftrace.reason, cases[c].path));
	}
}
END_TEST

START_TEST(a_backend_that_does_not_work_records_nothing)
{
	host.kmod_missing = "no device";
	host.ftrace_missing = "locked down";
	host.formats = NULL;
	look();
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(rows[i].kmod.records, 0);
		ck_assert_str_eq(rows[i].kmod.reason, "not here: no device");
		ck_assert_int_eq(rows[i].ftrace.records, 0);
		ck_assert_str_eq(rows[i].ftrace.reason, "not here: locked down");
	}
	memset(rows, 0, sizeof(rows));
	ck_assert_int_eq(coverage_fill(&host, rows, 2), n);
	ck_assert_ptr_nonnull(rows[1].what);
	ck_assert_ptr_null(rows[2].what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_coverage");
	TCase *tc = tcase_create("coverage");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, where_all_is_there_the_table_holds);
	tcase_add_test(tc, what_the_kernel_lacks_is_told);
	tcase_add_test(tc, each_missing_event_is_named);
	tcase_add_test(tc, a_backend_that_does_not_work_records_nothing);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
