/* SPDX-License-Identifier: MIT */
/*
 * What hits of probes become: whole safepoints with their names, or losses that are counted; in
 * whatever order they come.
 */
#include "libjisctl/safepoints.c"

#include "libjisctl/packet_walk.h"

#include <check.h>
#include <elf.h>
#include <inttypes.h>
#include <sys/mman.h>

#define FILE_AT 0x1000u	 /* where the file's texts are */
#define LOADED 0x700000u /* where the process has them, relative to that */
#define LOG 4096

static struct safepoints s;
static char told[LOG], names[LOG];
static uint64_t produced[2][JIS_MAX_EVENT_ID], lost[2][JIS_MAX_EVENT_ID];
static int packet_error, settled;

/* The recorder, for what is written here. */

static void note(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	const struct jis_ev_safepoint_begin *sp = (const void *)payload;
	const struct jis_ev_lost_records *l = (const void *)payload;
	const struct jis_ev_string_def *def = (const void *)payload;
	size_t used = strlen(told);

	if (ctx)
		snprintf(names + strlen(names), LOG - strlen(names), " %u=%s",
			 def->id - JIS_STRING_RECORDER, def->text);
	else if (id == JIS_EV_lost_records)
		snprintf(told + used, LOG - used, " lost%u*%" PRIu64 "@%" PRIu64 "-%" PRIu64,
			 l->type, (uint64_t)l->count, (uint64_t)l->first, (uint64_t)l->last);
	else
		snprintf(told + used, LOG - used, " %c%u/%u@%" PRIu64,
			 id == JIS_EV_safepoint_begin	  ? 'b'
			 : id == JIS_EV_safepoint_reached ? 'r'
							  : 'e',
			 sp->operation ? sp->operation - JIS_STRING_RECORDER : 0, sp->source, time);
}

int recorder_process_packet(void *ctx, uint32_t slot, const struct jis_packet_header *packet,
			    uint32_t skip, bool open)
{
	struct packet_walk walk;

	if (packet_error)
		return packet_error;
	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.record = note;
	walk.ctx = slot == 8 ? &walk : NULL;
	ck_assert_int_eq(packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL),
			 0);
	ck_assert_uint_ge(packet->packet_seq, 1);
	return 0;
}

void recorder_process_counts(struct recorder_process *p, uint32_t slot, const uint64_t *made,
			     const uint64_t *gone)
{
	memcpy(produced[slot - 7], made, sizeof(produced[0]));
	memcpy(lost[slot - 7], gone, sizeof(lost[0]));
	settled++;
}

const uint8_t *recorder_process_uuid(const struct recorder_process *p)
{
	static const uint8_t uuid[16];

	(void)p;
	return uuid;
}

uint64_t recorder_process_own_instance(const struct recorder_process *p, uint32_t slot,
				       uint32_t *stream_class)
{
	(void)p;
	*stream_class = slot == 7 ? JIS_STREAM_USER : JIS_STREAM_DICT;
	return slot == 7 ? 7 : 1;
}

static void setup(void)
{
	static const char texts[] = "G1CollectFull\0Thread\tDump\0";
	char page[4096];
	int i;

	memset(&s, 0, sizeof(s));
	memset(page, 'x', sizeof(page));
	memcpy(page, texts, sizeof(texts));
	told[0] = names[0] = 0;
	packet_error = settled = 0;
	s.config = (struct safepoints_config){.clock = JIS_CLOCK_RAW, .slot = 7};
	s.image.fd = memfd_create("constants", MFD_CLOEXEC);
	ck_assert_int_eq(write(s.image.fd, page, sizeof(page)), sizeof(page));
	s.image.nr_loads = 1;
	s.image.loads[0] = (struct elf_load){FILE_AT, 0, sizeof(page), PF_R};
	s.address = 0x5000;
	for (i = 0; i < NR_PLACES; i++)
		s.kind[i] = i;
	ck_assert_int_eq(own_stream_init(&s.records, NULL, 0, 7, PACKET_BYTES), 0);
	ck_assert_int_eq(own_stream_init(&s.names, NULL, 0, 8, PACKET_BYTES), 0);
}

static void teardown(void)
{
	own_stream_fini(&s.records);
	own_stream_fini(&s.names);
	close(s.image.fd);
}

static void hit(enum place place, uint64_t time, uint64_t name)
{
	struct uprobe_hit h = {.probe = place,
			       .time = time,
			       .address = LOADED + s.address,
			       .value = LOADED + FILE_AT + name};

	on_hit(&s, &h);
}

#define FULL 0	/* "G1CollectFull" */
#define DUMP 14 /* "Thread\tDump" */

static void expect(const char *what)
{
	ck_assert_int_eq(safepoints_finish(&s), 0);
	ck_assert_str_eq(told, what);
	ck_assert_int_eq(settled, 2);
}

START_TEST(a_safepoint_has_its_operation)
{
	hit(OPERATION, 5, DUMP); /* one that needs no safepoint */
	hit(BEGIN, 10, 0);
	hit(REACHED, 12, 0);
	hit(OPERATION, 13, FULL);
	hit(OPERATION, 14, DUMP); /* inside of it */
	hit(END, 20, 0);
	hit(OPERATION, 25, DUMP);
	hit(BEGIN, 30, 0);
	hit(REACHED, 31, 0);
	hit(OPERATION, 32, DUMP);
	hit(END, 33, 0);
	hit(BEGIN, 40, 0);
	hit(REACHED, 41, 0);
	hit(OPERATION, 42, FULL);
	hit(END, 43, 0);
	expect(" b1/2@10 r1/2@12 e1/2@20 b2/2@30 r2/2@31 e2/2@33 b1/2@40 r1/2@41 e1/2@43");
	ck_assert_str_eq(names, " 1=G1CollectFull 2=Thread?Dump");
	ck_assert_uint_eq(produced[0][JIS_EV_safepoint_begin], 3);
	ck_assert_uint_eq(produced[1][JIS_EV_string_def], 2);
}
END_TEST

START_TEST(without_symbols_it_is_reached_when_the_operation_begins)
{
	hit(BEGIN, 10, 0);
	hit(OPERATION, 13, FULL);
	hit(END, 20, 0);
	expect(" b1/2@10 r1/3@13 e1/2@20");
}
END_TEST

START_TEST(the_last_one_of_a_jvm_has_no_end)
{
	hit(END, 5, 0); /* of one before */
	hit(BEGIN, 10, 0);
	hit(REACHED, 12, 0);
	expect(" b0/2@10 r0/2@12");
}
END_TEST

START_TEST(names_that_are_none_are_not_known)
{
	hit(BEGIN, 10, 0);
	hit(OPERATION, 11, 64); /* without an end */
	hit(END, 12, 0);
	hit(BEGIN, 20, 0);
	hit(OPERATION, 21, 1u << 20); /* not in the file */
	hit(END, 22, 0);
	hit(BEGIN, 30, 0);
	hit(OPERATION, 31, 25); /* empty */
	hit(END, 32, 0);
	expect(" b0/2@10 r0/3@11 e0/2@12 b0/2@20 r0/3@21 e0/2@22 b0/2@30 r0/3@31 e0/2@32");
	ck_assert_str_eq(names, "");
}
END_TEST

START_TEST(what_is_lost_is_counted_and_takes_its_safepoint_along)
{
	hit(BEGIN, 10, 0);
	hit(OPERATION, 11, FULL);
	hit(END, 12, 0);
	hit(BEGIN, 20, 0);
	on_lost(&s, 3);
	on_lost(&s, 4);
	hit(OPERATION, 31, FULL);
	hit(END, 32, 0);
	hit(BEGIN, 40, 0);
	hit(OPERATION, 41, FULL);
	hit(END, 42, 0);
	expect(" b1/2@10 r1/3@11 e1/2@12 lost0*7@12-31 b1/2@40 r1/3@41 e1/2@42");
	ck_assert_uint_eq(lost[0][0], 7);
	ck_assert_uint_eq(produced[0][0], 7);
}
END_TEST

START_TEST(a_pause_takes_the_one_it_cuts)
{
	hit(BEGIN, 10, 0);
	s.set = true;
	safepoints_enable(&s, false);
	safepoints_enable(&s, true);
	s.set = false;
	hit(END, 20, 0);
	expect("");
}
END_TEST

START_TEST(what_no_file_takes_is_lost)
{
	uint64_t all[3] = {0};

	packet_error = -EMFILE;
	hit(BEGIN, 10, 0);
	hit(OPERATION, 11, FULL);
	hit(END, 12, 0);
	ck_assert_int_eq(safepoints_finish(&s), 0);
	ck_assert_uint_eq(lost[0][JIS_EV_safepoint_end], 1);
	ck_assert_uint_eq(produced[0][JIS_EV_safepoint_end], 1);
	ck_assert_uint_eq(lost[1][JIS_EV_string_def], 1);
	safepoints_counts(&s, &all[0], &all[1], &all[2]);
	ck_assert_uint_eq(all[0], 4);
	ck_assert_uint_eq(all[1], 0);
	ck_assert_uint_eq(all[2], 4);
}
END_TEST

START_TEST(other_errors_are_told)
{
	packet_error = -ENOSPC;
	hit(BEGIN, 10, 0);
	hit(END, 12, 0);
	ck_assert_int_eq(safepoints_drain(&s, true), -ENOSPC);
	ck_assert_int_eq(safepoints_finish(&s), -ENOSPC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("safepoints");
	TCase *t = tcase_create("safepoints");
	SRunner *r = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_safepoint_has_its_operation);
	tcase_add_test(t, without_symbols_it_is_reached_when_the_operation_begins);
	tcase_add_test(t, the_last_one_of_a_jvm_has_no_end);
	tcase_add_test(t, names_that_are_none_are_not_known);
	tcase_add_test(t, what_is_lost_is_counted_and_takes_its_safepoint_along);
	tcase_add_test(t, a_pause_takes_the_one_it_cuts);
	tcase_add_test(t, what_no_file_takes_is_lost);
	tcase_add_test(t, other_errors_are_told);
	suite_add_tcase(suite, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
