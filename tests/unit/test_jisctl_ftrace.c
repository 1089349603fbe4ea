/* SPDX-License-Identifier: MIT */
/*
 * ftrace: format files and sub-buffers, as kernels 6.1 and 6.18 give them, and fabricated ones that
 * no kernel would give; the table of threads; the sources of wakings.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libjisctl/ftrace.h"
#include "libjisctl/packet_walk.h"
#include "jis/abi.h"
#include "jis/events.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
	"name: sched_switch\nID: 372\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\nprint fmt: \"prev_comm=%s\"\n";

static const char exec_format[] =
	"name: sched_process_exec\nID: 365\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n";

static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static struct ftrace_formats formats;
static uint8_t page[4096];
static uint32_t used;

static void set_up(void)
{
	memset(&formats, 0, sizeof(formats));
	ck_assert_int_eq(ftrace_page_parse(page_format, &formats.page), 0);
	memset(page, 0, sizeof(page));
	used = 16;
}

static void put(uint32_t word)
{
	memcpy(page + used, &word, 4);
	used += 4;
}

static void put_event(uint32_t delta, uint32_t words)
{
	uint32_t i;

	put(words | delta << 5);
	for (i = 0; i < words; i++)
		put(0x1000u + i);
}

/* Gives the page its header and begins to read it. */
static int begin(struct ftrace_page *p, uint64_t time, uint64_t flags)
{
	uint64_t commit = (used - 16) | flags;

	memcpy(page, &time, 8);
	memcpy(page + 8, &commit, 8);
	return ftrace_page_begin(p, &formats.page, page, sizeof(page));
}

START_TEST(fields_are_found_where_the_format_says)
{
	const struct ftrace_format *f = &formats.event[FT_SWITCH];

	ck_assert_int_eq(ftrace_format_parse(switch_format, FT_SWITCH, &formats), 0);
	ck_assert_uint_eq(f->id, 372);
	ck_assert_uint_eq(f->field[SWITCH_PREV_PID].offset, 24);
	ck_assert_uint_eq(f->field[SWITCH_PREV_STATE].size, 8);
	ck_assert_uint_eq(f->field[SWITCH_NEXT_COMM].offset, 40);
	ck_assert_uint_eq(f->field[SWITCH_NEXT_PID].offset, 56);
	ck_assert_uint_eq(f->min_size, 60);
	ck_assert_uint_eq(formats.common_pid.offset, 4);
	ck_assert_int_eq(ftrace_format_parse(exec_format, FT_EXEC, &formats), 0);
	ck_assert(formats.event[FT_EXEC].field[EXEC_FILENAME].data_loc);
	ck_assert_uint_eq(formats.event[FT_EXEC].field[EXEC_PID].offset, 12);
	ck_assert_uint_eq(formats.event[FT_EXEC].field[EXEC_OLD_PID].offset, 16);
	ck_assert_uint_eq(formats.page.page_size, 4096);
	ck_assert_uint_eq(formats.page.data_offset, 16);
}
END_TEST

START_TEST(what_lacks_a_field_is_refused)
{
	char cut[sizeof(switch_format)];
	size_t n;

	ck_assert_int_eq(ftrace_format_parse(exec_format, FT_SWITCH, &formats), -EPROTO);
	ck_assert_int_eq(ftrace_format_parse("", FT_SWITCH, &formats), -EPROTO);
	for (n = 0; n < sizeof(switch_format) - 100; n++) {
		memcpy(cut, switch_format, n);
		cut[n] = 0;
		ck_assert_int_eq(ftrace_format_parse(cut, FT_SWITCH, &formats), -EPROTO);
	}
	ck_assert_int_eq(ftrace_page_parse("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n",
					   &formats.page),
			 -EPROTO);
}
END_TEST

START_TEST(times_add_up_over_all_kinds_of_records)
{
	struct ftrace_page p;

	put_event(5, 3);
	put(30u | 7u << 5); /* time extend: 7 + (2 << 27) */
	put(2);
	put_event(1, 28);
	put(29u | 1u << 5); /* a record taken back: 8 bytes of data */
	put(8);
	put(0xdead);
	put(31u | 9u << 5); /* absolute: the 59 low bits */
	put(0x12345);
	put_event(3, 1);
	put(0 | 2u << 5); /* long record: 4 + 8 bytes */
	put(12);
	put(0xaaaa);
	put(0xbbbb);
	ck_assert_int_eq(begin(&p, (0x11ull << 59) + 1000, 0), 0);
	ck_assert(ftrace_page_next(&p));
	ck_assert_uint_eq(p.time, (0x11ull << 59) + 1005);
	ck_assert_uint_eq(p.size, 12);
	ck_assert(ftrace_page_next(&p));
	ck_assert_uint_eq(p.time, (0x11ull << 59) + 1005 + 7 + (2ull << 27) + 1);
	ck_assert_uint_eq(p.size, 112);
	ck_assert(ftrace_page_next(&p));
	ck_assert_uint_eq(p.time, (0x11ull << 59) + (0x12345ull << 27) + 9 + 3);
	ck_assert(ftrace_page_next(&p));
	ck_assert_uint_eq(p.size, 8);
	ck_assert_uint_eq(*(const uint32_t *)p.data, 0xaaaa);
	ck_assert(!ftrace_page_next(&p));
	ck_assert(!p.damaged);
	ck_assert(!p.missed);
}
END_TEST

START_TEST(padding_ends_the_page)
{
	struct ftrace_page p;

	put_event(1, 1);
	put(29u); /* null event */
	put(0xffffffff);
	ck_assert_int_eq(begin(&p, 1, 0), 0);
	ck_assert(ftrace_page_next(&p));
	ck_assert(!ftrace_page_next(&p));
	ck_assert(!p.damaged);
}
END_TEST

START_TEST(missing_records_are_told)
{
	struct ftrace_page p;
	uint64_t missed = 321;

	put_event(1, 1);
	memcpy(page + used, &missed, 8);
	ck_assert_int_eq(begin(&p, 1, 0xc0000000ull), 0);
	ck_assert(p.missed);
	ck_assert_uint_eq(p.missed_count, 321);
	ck_assert(ftrace_page_next(&p));
	ck_assert(!ftrace_page_next(&p));
	ck_assert_int_eq(begin(&p, 1, 0x80000000ull), 0);
	ck_assert(p.missed);
	ck_assert_uint_eq(p.missed_count, 0);
}
END_TEST

START_TEST(bad_pages_end)
{
	struct ftrace_page p;
	uint32_t i, steps, n;

	ck_assert_int_eq(ftrace_page_begin(&p, &formats.page, page, 15), -EBADMSG);
	put_event(1, 28);
	used -= 4; /* longer than the page says */
	ck_assert_int_eq(begin(&p, 1, 0), 0);
	ck_assert(!ftrace_page_next(&p));
	ck_assert(p.damaged);
	srand(7);
	for (n = 0; n < 20000; n++) {
		for (i = 16; i < sizeof(page); i++)
			page[i] = (uint8_t)rand();
		used = 16 + (uint32_t)rand() % 4081;
		if (begin(&p, 1, 0))
			continue;
		for (steps = 0; ftrace_page_next(&p); steps++) {
			ck_assert(p.data >= page && p.data + p.size <= page + sizeof(page));
			ck_assert_uint_lt(steps, 2000);
		}
	}
}
END_TEST

START_TEST(a_tid_used_again_is_not_killed_by_its_former_owner)
{
	struct ft_tasks *t = ft_tasks_new();
	struct ft_target *a = ft_target_new(t, 10, 0), *b;
	struct ft_task *task = ft_task_get(t, 10);

	ft_task_join(t, task, a);
	task = ft_task_get(t, 11);
	ft_task_join(t, task, a);
	ck_assert_uint_eq(a->threads, 2);
	task->exiting = true;
	ft_task_join(t, task, a); /* released, and born again before it left its CPU */
	ck_assert_uint_eq(task->ghosts, 1);
	ck_assert_uint_eq(a->threads, 2);
	ck_assert(ft_task_in(task));
	ft_task_die(t, task, 100);
	ck_assert(!ft_task_in(task));
	ck_assert_uint_eq(a->threads, 1);
	ft_tasks_forget(t, 100);
	ck_assert_ptr_nonnull(ft_task_find(t, 11));
	ft_tasks_forget(t, 101);
	ck_assert_ptr_null(ft_task_find(t, 11));
	ft_task_die(t, ft_task_find(t, 10), 200);
	ck_assert_ptr_null(ft_target_find(t, 10));
	b = ft_target_new(t, 10, 0); /* the pid is another process's */
	ft_task_join(t, ft_task_get(t, 10), b);
	ck_assert_ptr_eq(ft_target_find(t, 10), b);
	ck_assert_uint_eq(ft_targets_count(t), 1);
	ft_tasks_free(t);
}
END_TEST

START_TEST(many_short_lives_are_forgotten)
{
	struct ft_tasks *t = ft_tasks_new();
	struct ft_target *a = ft_target_new(t, 1, 0);
	uint32_t i;

	ft_task_join(t, ft_task_get(t, 1), a);
	for (i = 2; i < 200000; i++) {
		struct ft_task *task = ft_task_get(t, i);

		ft_task_join(t, task, a);
		ft_task_die(t, task, i);
		ft_tasks_forget(t, i > 1000 ? i - 1000 : 0);
		if (i > 3000)
			ck_assert_ptr_null(ft_task_find(t, i - 2000));
	}
	ck_assert_uint_eq(a->threads, 1);
	ck_assert_ptr_null(ft_task_get(t, FT_TID_MAX));
	ck_assert_ptr_null(ft_task_find(t, UINT32_MAX));
	ft_tasks_free(t);
}
END_TEST

/* Two snapshots one after another: who says nothing between them, and ends, has had a name. */
START_TEST(foreign_names_outlive_a_few_renames)
{
	struct ft_tasks *t = ft_tasks_new();
	const uint64_t s = 1000000000;
	struct ft_task *task = ft_task_get(t, 7);

	strcpy(task->comm, "feeder");
	task->named = true;
	ft_task_get(t, 8); /* never named */
	ft_tasks_rename_foreign(t, 100 * s);
	ft_tasks_rename_foreign(t, 101 * s);
	ft_tasks_rename_foreign(t, 110 * s);
	ck_assert_ptr_null(ft_task_find(t, 8));
	ck_assert_ptr_eq(ft_task_find(t, 7), task);
	ck_assert(task->stale && !task->named);
	ck_assert_str_eq(task->comm, "feeder");
	task->named = true; /* told again: from here on anew */
	ft_tasks_rename_foreign(t, 111 * s);
	ft_tasks_rename_foreign(t, 121 * s);
	ck_assert_ptr_nonnull(ft_task_find(t, 7));
	ft_tasks_rename_foreign(t, 121 * s + 1);
	ck_assert_ptr_null(ft_task_find(t, 7));
	ft_tasks_free(t);
}
END_TEST

/* Sources of wakings: records of CPU 0 through a backend without tracefs. */
#define ME 7u
#define TASK 0u
#define SOFT FT_FLAG_SOFTIRQ
#define HARD FT_FLAG_HARDIRQ
#define MOST 64

static struct backend *b;
static uint64_t now;
static struct jis_ev_sched_waking wakings[MOST];
static unsigned int nr_wakings, looked_at;

static void parse(enum ftrace_event e, unsigned int id, const char *fields)
{
	char text[1024];

	snprintf(text, sizeof(text), "ID: %u\n" COMMON "%s", id, fields);
	ck_assert_int_eq(ftrace_format_parse(text, e, &b->formats), 0);
	b->kind[id] = (uint8_t)(e + 1);
}

static void set_up_backend(void)
{
	static const char number[] = "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
				     "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n";
	int e;

	b = calloc(1, sizeof(*b));
	b->nr_cpus = b->nr_rings = 1;
	b->tasks = ft_tasks_new();
	b->rings = calloc(1, sizeof(*b->rings));
	b->sources = calloc(1, sizeof(*b->sources));
	ck_assert_int_eq(ft_outs_open(b), 0);
	b->recording = true;
	parse(FT_WAKING, 300,
	      "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	      "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	      "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n");
	for (e = FT_IRQ_ENTRY; e <= FT_SOFTIRQ_EXIT; e++)
		parse((enum ftrace_event)e, 300u + (unsigned int)e, number);
	for (e = FT_HRTIMER_ENTRY; e <= FT_TIMER_EXIT; e++)
		parse((enum ftrace_event)e, 300u + (unsigned int)e, "");
	ft_task_join(b->tasks, ft_task_get(b->tasks, ME), ft_target_new(b->tasks, ME, 0));
	now = 1000;
	nr_wakings = looked_at = 0;
}

static void tear_down_backend(void)
{
	ft_tasks_free(b->tasks);
	ft_outs_close(b);
	free(b->rings);
	free(b->sources);
	free(b);
}

/* A record with @number where an interrupt has its, and with @flags. */
static void tell(enum ftrace_event e, uint32_t flags, uint32_t number)
{
	uint8_t data[36] = {0};
	uint16_t id = b->formats.event[e].id;
	uint32_t tid = ME;

	memcpy(data, &id, 2);
	data[2] = (uint8_t)flags;
	memcpy(data + (e == FT_WAKING ? 24 : 8), e == FT_WAKING ? &tid : &number, 4);
	now += 10;
	ft_convert(b, 0, now, data, sizeof(data));
}

static void keep(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	(void)ctx, (void)time;
	if (id != JIS_EV_sched_waking)
		return;
	ck_assert_uint_lt(nr_wakings, MOST);
	ck_assert_uint_ge(size, sizeof(wakings[0]));
	memcpy(&wakings[nr_wakings++], payload, sizeof(wakings[0]));
}

/* A waking now is written with this context and source. */
static void wakes(uint32_t flags, uint32_t context, uint32_t source)
{
	const struct jis_packet_header *packet;

	tell(FT_WAKING, flags, 0);
	ft_out_flush(b, 0);
	while ((packet = ft_out_get(b, 0))) {
		struct packet_walk walk;

		packet_walk_begin(&walk, packet, UINT64_MAX);
		walk.record = keep;
		ck_assert_int_eq(packet_walk_run(&walk, packet,
						 (uint32_t)(packet->content_size / 8), NULL),
				 0);
	}
	ck_assert_uint_eq(nr_wakings, looked_at + 1);
	ck_assert_uint_eq(wakings[looked_at].tid, ME);
	ck_assert_uint_eq(wakings[looked_at].context, context);
	ck_assert_uint_eq(wakings[looked_at].source, source);
	looked_at++;
}

#define UNKNOWN JIS_SOURCE_UNKNOWN

START_TEST(a_waking_has_the_interrupt_it_comes_from)
{
	wakes(TASK, JIS_WAKER_TASK, 0);
	wakes(HARD, JIS_WAKER_HARDIRQ, UNKNOWN); /* its entry was not told */
	tell(FT_IRQ_ENTRY, HARD, 0);		 /* a number as any other */
	wakes(HARD, JIS_WAKER_HARDIRQ, 0);
	tell(FT_IRQ_EXIT, HARD, 0);
	wakes(HARD, JIS_WAKER_HARDIRQ, UNKNOWN); /* behind the handler */
	tell(FT_SOFTIRQ_ENTRY, SOFT, 3);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 3);
	tell(FT_SOFTIRQ_EXIT, SOFT, 3);
	wakes(TASK, JIS_WAKER_TASK, 0);
	wakes(HARD | FT_FLAG_NMI, JIS_WAKER_NMI, UNKNOWN);
}
END_TEST

START_TEST(what_interrupts_a_softirq_is_told_apart_from_it)
{
	tell(FT_SOFTIRQ_ENTRY, SOFT, 3);
	tell(FT_IRQ_ENTRY, SOFT | HARD, 27); /* in the midst of it */
	wakes(SOFT | HARD, JIS_WAKER_HARDIRQ, 27);
	tell(FT_IRQ_EXIT, SOFT | HARD, 27);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 3);
	tell(FT_SOFTIRQ_EXIT, SOFT, 3);

	tell(FT_IRQ_ENTRY, HARD, 27); /* softirqs at an interrupt's end, one after the other */
	tell(FT_IRQ_EXIT, HARD, 27);
	tell(FT_SOFTIRQ_ENTRY, SOFT, 1);
	tell(FT_TIMER_ENTRY, SOFT, 0);
	tell(FT_IRQ_ENTRY, SOFT | HARD, 28);
	wakes(SOFT | HARD, JIS_WAKER_HARDIRQ, 28); /* not the timer it interrupts */
	tell(FT_IRQ_EXIT, SOFT | HARD, 28);
	wakes(SOFT, JIS_WAKER_TIMER, 0);
	tell(FT_HRTIMER_ENTRY, SOFT | HARD, 0); /* of the CPU's own timer: no handler is told */
	wakes(SOFT | HARD, JIS_WAKER_TIMER, 0);
	tell(FT_HRTIMER_EXIT, SOFT | HARD, 0);
	wakes(SOFT | HARD, JIS_WAKER_HARDIRQ, UNKNOWN);
	tell(FT_TIMER_EXIT, SOFT, 0);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 1);
	tell(FT_SOFTIRQ_EXIT, SOFT, 1);
	tell(FT_SOFTIRQ_ENTRY, SOFT, 4);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 4);
}
END_TEST

START_TEST(a_source_is_not_known_after_a_loss)
{
	unsigned int i;

	tell(FT_SOFTIRQ_ENTRY, SOFT, 3);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 3);
	ft_source_gap(&b->sources[0], now + 15, now + 55); /* from behind the next record on */
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 3);
	for (i = 0; i < 2; i++) { /* what is told within the gap may be over unseen */
		tell(FT_SOFTIRQ_ENTRY, SOFT, 9);
		wakes(SOFT, JIS_WAKER_SOFTIRQ, UNKNOWN);
	}
	wakes(SOFT, JIS_WAKER_SOFTIRQ, UNKNOWN); /* behind it, from within */
	tell(FT_SOFTIRQ_ENTRY, SOFT, 4);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 4); /* from behind it */

	tell(FT_HRTIMER_ENTRY, HARD, 0);
	ft_source_gap(&b->sources[0], now + 1, now + 2);
	wakes(HARD, JIS_WAKER_HARDIRQ, UNKNOWN);
	wakes(TASK, JIS_WAKER_TASK, 0);

	tell(FT_IRQ_ENTRY, HARD, 27);
	ft_source_gap(&b->sources[0], now + 15, now + 16);
	ft_source_gap(&b->sources[0], now + 35, now + 36); /* two before either is reached */
	wakes(HARD, JIS_WAKER_HARDIRQ, 27);
	tell(FT_IRQ_ENTRY, HARD, 28);
	wakes(HARD, JIS_WAKER_HARDIRQ, UNKNOWN);

	tell(FT_IRQ_ENTRY, HARD, 29); /* behind both */
	wakes(HARD, JIS_WAKER_HARDIRQ, 29);
	ft_source_forget(&b->sources[0]); /* a damaged page */
	wakes(HARD, JIS_WAKER_HARDIRQ, UNKNOWN);
}
END_TEST

/* Ends that never came, for what reason ever, leave nothing behind. */
START_TEST(what_a_record_contradicts_is_forgotten)
{
	tell(FT_SOFTIRQ_ENTRY, SOFT, 3);
	tell(FT_IRQ_ENTRY, SOFT | HARD, 27);
	wakes(SOFT, JIS_WAKER_SOFTIRQ, 3); /* so the interrupt is over */
	wakes(SOFT | HARD, JIS_WAKER_HARDIRQ, UNKNOWN);
	wakes(TASK, JIS_WAKER_TASK, 0); /* and the softirq */
	wakes(SOFT, JIS_WAKER_SOFTIRQ, UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_ftrace");
	TCase *tc = tcase_create("ftrace"), *sources = tcase_create("sources");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, fields_are_found_where_the_format_says);
	tcase_add_test(tc, what_lacks_a_field_is_refused);
	tcase_add_test(tc, times_add_up_over_all_kinds_of_records);
	tcase_add_test(tc, padding_ends_the_page);
	tcase_add_test(tc, missing_records_are_told);
	tcase_add_test(tc, bad_pages_end);
	tcase_add_test(tc, a_tid_used_again_is_not_killed_by_its_former_owner);
	tcase_add_test(tc, many_short_lives_are_forgotten);
	tcase_add_test(tc, foreign_names_outlive_a_few_renames);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(sources, set_up_backend, tear_down_backend);
	tcase_add_test(sources, a_waking_has_the_interrupt_it_comes_from);
	tcase_add_test(sources, what_interrupts_a_softirq_is_told_apart_from_it);
	tcase_add_test(sources, a_source_is_not_known_after_a_loss);
	tcase_add_test(sources, what_a_record_contradicts_is_forgotten);
	suite_add_tcase(suite, sources);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
