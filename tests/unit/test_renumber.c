/* SPDX-License-Identifier: MIT */
/* Events of a host get the numbers that they have in a trace of several. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/ends.h"
#include "hosts/renumber.h"

static struct map64 cgroups;
static struct tick_knot knots[] = {{1000, 5000}, {2000, 6000}, {3000, 8000}};
static struct tick_map map;

static void setup(void)
{
	map = (struct tick_map){.knots = knots, .nr = 3};
	cgroups = (struct map64){0};
}

static void teardown(void)
{
	map64_free(&cgroups);
}

static struct renumber host(uint32_t number)
{
	return (struct renumber){.host = number,
				 .first_cpu = number * 4,
				 .nr_cpus = 4,
				 .map = &map,
				 .shift = 100,
				 .cgroups = &cgroups};
}

START_TEST(threads_cpus_and_cgroups_are_the_hosts)
{
	struct jis_ev_sched_switch s = {.prev_tid = 12,
					.next_tid = 0,
					.prev_state = 13,
					.prev_cgroup = 77};
	struct jis_ev_sched_waking w = {.tid = 5,
					.waker_tid = 4194304,
					.source = 9,
					.target_cpu = 3};
	struct renumber r = host(2), first = host(0);

	ck_assert(renumber_wanted(JIS_STREAM_KERNEL, JIS_EV_sched_switch));
	ck_assert_int_eq(renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_sched_switch, 1,
					(uint8_t *)&s),
			 0);
	ck_assert_uint_eq(s.prev_tid, 20000012);
	ck_assert_uint_eq(s.next_tid, 0);
	ck_assert_uint_eq(s.prev_state, 13);
	ck_assert_uint_eq(s.prev_cgroup, 1);
	/* The same number on another host is another one; here it stays what it became. */
	s.prev_cgroup = 77;
	renumber_event(&first, JIS_STREAM_KERNEL, JIS_EV_sched_switch, 1, (uint8_t *)&s);
	ck_assert_uint_eq(s.prev_cgroup, 2);
	s.prev_cgroup = 77;
	renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_sched_switch, 1, (uint8_t *)&s);
	ck_assert_uint_eq(s.prev_cgroup, 1);
	renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_sched_waking, 1, (uint8_t *)&w);
	ck_assert_uint_eq(w.tid, 20000005);
	ck_assert_uint_eq(w.waker_tid, 24194304);
	ck_assert_uint_eq(w.source, 9);
	ck_assert_uint_eq(w.target_cpu, 11);
	w.target_cpu = UINT32_MAX;
	renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_sched_waking, 1, (uint8_t *)&w);
	ck_assert_uint_eq(w.target_cpu, UINT32_MAX);
}
END_TEST

START_TEST(times_go_by_the_hosts_clock)
{
	struct renumber r = host(1);
	struct jis_ev_page_fault f = {.tid = 1, .since = 2500};
	struct jis_ev_fd_socket s = {.pid = 3, .fd = 4, .age = 1000};
	struct jis_ev_lost_records l = {.first = 1500, .last = UINT64_MAX};

	ck_assert_uint_eq(renumber_time(&r, 0), 4100);
	ck_assert_uint_eq(renumber_time(&r, 1000), 5100);
	ck_assert_uint_eq(renumber_time(&r, 2500), 7100);
	ck_assert_uint_eq(renumber_time(&r, 1500), 5600); /* back again */
	ck_assert_uint_eq(renumber_time(&r, 4000), 10100);
	ck_assert_uint_eq(renumber_time(&r, TIME_NONE), TIME_NONE);
	ck_assert_uint_eq(r.before, 0);
	r.shift = -5000;
	ck_assert_uint_eq(renumber_time(&r, 10), 0);
	ck_assert_uint_eq(r.before, 1);
	r.shift = 100;
	renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_page_fault, 2600, (uint8_t *)&f);
	ck_assert_uint_eq(f.since, 7100);
	/* From 2000 to 3000 its clock takes two of the first one's ticks for one. */
	renumber_event(&r, JIS_STREAM_KERNEL, JIS_EV_fd_socket, 3000, (uint8_t *)&s);
	ck_assert_uint_eq(s.age, 2000);
	ck_assert_uint_eq(s.pid, 10000003);
	ck_assert_int_eq(s.fd, 4);
	renumber_event(&r, JIS_STREAM_USER, JIS_EV_lost_records, 3000, (uint8_t *)&l);
	ck_assert_uint_eq(l.first, 5600);
	ck_assert_uint_eq(l.last, UINT64_MAX);
}
END_TEST

START_TEST(what_a_process_says_of_its_threads_stays)
{
	struct jis_ev_thread_bind b = {.tid = 9};

	ck_assert(!renumber_wanted(JIS_STREAM_USER, JIS_EV_thread_bind));
	ck_assert(!renumber_wanted(JIS_STREAM_DICT, JIS_EV_java_thread_start));
	ck_assert_uint_eq(b.tid, 9);
}
END_TEST

START_TEST(times_that_no_clock_has_do_no_harm)
{
	struct tick_knot far[] = {{-CLOCK_FARTHEST, CLOCK_FARTHEST},
				  {-CLOCK_FARTHEST, -CLOCK_FARTHEST},
				  {CLOCK_FARTHEST, CLOCK_FARTHEST}};
	struct tick_map odd = {.knots = far, .nr = 3};
	const int64_t times[] = {0, 1, -1, CLOCK_FARTHEST, -CLOCK_FARTHEST, INT64_MAX / 2};
	struct manifest m = {.begin = UINT64_MAX, .frequency = 999999999999u};

	for (uint32_t nr = 1; nr <= 3; nr++) {
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
			int64_t at;

			odd.nr = nr;
			odd.last = 0;
			at = tick_map_at(&odd, times[i]);
			ck_assert(at >= -CLOCK_FARTHEST && at <= CLOCK_FARTHEST);
		}
	}
	ck_assert(align_ticks(&m, CLOCK_FARTHEST) == CLOCK_FARTHEST);
	m.begin = 0;
	ck_assert(align_ticks(&m, -CLOCK_FARTHEST) == -CLOCK_FARTHEST);
}
END_TEST

/* More than are kept, all of one UID, of which the hash is 0. */
START_TEST(ends_of_one_uid_do_no_harm)
{
	struct model_remote_call call = {.uid = {.time = 1}, .client.known = true};
	struct call_ends ends;

	call.uid.unique = (int32_t)0x9e3779b9;
	call.uid.count = 0x7f4a7c15;
	call_ends_init(&ends, 0);
	for (uint32_t i = 0; i < CALL_ENDS_MAX + 2; i++)
		ck_assert_int_eq(ends.sink.remote(ends.sink.ctx, &call), 0);
	ck_assert(ends.nr <= CALL_ENDS_MAX);
	call_ends_fini(&ends);
}
END_TEST

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

/* A new event whose fields are such numbers by their names, and are not known as such. */
START_TEST(no_number_is_forgotten)
{
	static const char *const same[] = {"ns_tid", "nr_cpus", "cpus"};

	for (uint32_t class = JIS_STREAM_KERNEL; class <= JIS_STREAM_RECORDER; class ++) {
		for (uint32_t id = 0; id < JIS_MAX_EVENT_ID; id++) {
			const struct event_info *info = event_info_get(class, id);

			for (uint32_t i = 0; info && i < info->nr_fields; i++) {
				const struct field_info *f = &info->fields[i];
				bool number = ends_in(f->name, "tid") || ends_in(f->name, "pid") ||
					      ends_in(f->name, "cpu") || ends_in(f->name, "cgroup");

				for (size_t k = 0; k < sizeof(same) / sizeof(*same); k++)
					number &= strcmp(f->name, same[k]) != 0;
				ck_assert_msg(!number || field_role(f, true) != ROLE_PLAIN, "%s.%s",
					      info->name, f->name);
				/* Roles are of one width. */
				if (field_role(f, true) == ROLE_TID ||
				    field_role(f, true) == ROLE_CPU ||
				    field_role(f, true) == ROLE_CGROUP)
					ck_assert_msg(f->type == FIELD_U32, "%s.%s", info->name,
						      f->name);
				else if (field_role(f, true) != ROLE_PLAIN)
					ck_assert_msg(f->type == FIELD_U64, "%s.%s", info->name,
						      f->name);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("renumber");
	TCase *t = tcase_create("renumber");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, threads_cpus_and_cgroups_are_the_hosts);
	tcase_add_test(t, times_go_by_the_hosts_clock);
	tcase_add_test(t, what_a_process_says_of_its_threads_stays);
	tcase_add_test(t, no_number_is_forgotten);
	tcase_add_test(t, times_that_no_clock_has_do_no_harm);
	tcase_add_test(t, ends_of_one_uid_do_no_harm);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
