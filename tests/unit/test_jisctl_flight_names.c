/* SPDX-License-Identifier: MIT */
/*
 * Names that a snapshot uses and does not tell: those told before it stand in front, and no others.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libjisctl/flight_names.h"
#include "libjisctl/packet_walk.h"

static const uint8_t uuid[16];
static struct packet_builder b;
static struct flight_names *n;
static uint64_t now;

static void set_up(void)
{
	struct clock_sample sample = {.ticks = 1000000, .boottime = 1000000};

	now = 1000;
	ck_assert_int_eq(packet_builder_init(&b, 65536, JIS_STREAM_KERNEL, 0, uuid), 0);
	n = flight_names_new(&sample, 1000000000);
	ck_assert_ptr_nonnull(n);
}

static void tear_down(void)
{
	packet_builder_fini(&b);
	flight_names_free(n);
}

#define SAY(event, string, ...)                                                                    \
	do {                                                                                       \
		const struct jis_ev_##event ev_ = {__VA_ARGS__};                                   \
		const char *text_ = (string);                                                      \
                                                                                                   \
		now += 10;                                                                         \
		ck_assert_int_eq(packet_builder_add(&b, JIS_EV_##event, now, &ev_,                 \
						    sizeof(ev_) - (text_ ? 4 : 0), text_),         \
				 0);                                                               \
	} while (0)

static void look(bool inside)
{
	const struct jis_packet_header *packet = packet_builder_close(&b, 0);

	ck_assert_int_eq(flight_names_look(n, packet, inside), 0);
}

static char told[4096];

static void on_record(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	const struct jis_ev_task_name *name = (const void *)payload;
	const struct jis_ev_fd_file *file = (const void *)payload;
	const struct jis_ev_fd_socket *socket = (const void *)payload;
	size_t used = strlen(told);

	ck_assert_uint_eq(time, 5000);
	if (id == JIS_EV_task_name)
		snprintf(told + used, sizeof(told) - used, "T%u/%u %s\n", name->pid, name->tid,
			 name->comm);
	else if (id == JIS_EV_fd_file)
		snprintf(told + used, sizeof(told) - used, "F%u/%d %s\n", file->pid, file->fd,
			 file->path);
	else
		snprintf(told + used, sizeof(told) - used, "S%u/%d %u\n", socket->pid, socket->fd,
			 socket->peer_port);
}

static int by_text(const void *a, const void *c)
{
	return strcmp(*(char *const *)a, *(char *const *)c);
}

/* What it tells, its lines in alphabetical order, is @expected. */
static void tells(const char *expected)
{
	char *lines[1000], sorted[sizeof(told)] = "", *save, *p;
	int nr = 0, packets = 0;

	told[0] = 0;
	while (flight_names_tell(n, &b, 5000)) {
		const struct jis_packet_header *packet = packet_builder_close(&b, 0);
		struct packet_walk walk;

		packet_walk_begin(&walk, packet, UINT64_MAX);
		walk.record = on_record;
		ck_assert_int_eq(packet_walk_run(&walk, packet,
						 (uint32_t)(packet->content_size / 8), NULL),
				 0);
		packets++;
	}
	ck_assert_int_eq(packets, expected[0] ? 1 : 0);
	for (p = strtok_r(told, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		lines[nr++] = p;
	qsort(lines, (size_t)nr, sizeof(*lines), by_text);
	for (int i = 0; i < nr; i++)
		strcat(strcat(sorted, lines[i]), "\n");
	ck_assert_str_eq(sorted, expected);
}

/* No such thread can be, so none is found in /proc. */
#define TID(i) (5000000u + (i))

START_TEST(threads_told_before_and_used_inside)
{
	SAY(task_name, "waker", .tid = TID(1), .pid = TID(1));
	SAY(task_name, "neighbour", .tid = TID(2), .pid = TID(2));
	SAY(task_name, "unused", .tid = TID(3), .pid = TID(3));
	SAY(task_name, "old", .tid = TID(4), .pid = TID(4));
	SAY(task_name, "renamed", .tid = TID(4), .pid = TID(4));
	SAY(thread_state, "ours", .tid = TID(9), .pid = TID(9));
	look(false);
	SAY(thread_state, "ours", .tid = TID(9), .pid = TID(9));
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = TID(1));
	SAY(sched_switch, NULL, .prev_tid = TID(9), .next_tid = TID(2));
	SAY(sched_switch, NULL, .prev_tid = TID(2), .next_tid = TID(4));
	SAY(sched_switch, NULL, .prev_tid = TID(4), .next_tid = 0);
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = TID(5)); /* nobody knows it */
	SAY(task_name, "told in time", .tid = TID(6), .pid = TID(6));
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = TID(6));
	SAY(signal_generate, NULL, .tid = TID(9), .sender_tid = TID(7));
	SAY(task_name, "told too late", .tid = TID(7), .pid = TID(7));
	look(true);
	ck_assert_uint_eq(flight_names_begin(n), 1069);
	tells("T5000001/5000001 waker\n"
	      "T5000002/5000002 neighbour\n"
	      "T5000004/5000004 renamed\n"
	      "T5000007/5000007 told too late\n");
}
END_TEST

START_TEST(packets_of_other_cpus_come_in_any_order)
{
	SAY(task_name, "later", .tid = TID(1), .pid = TID(1));
	look(false);
	b.last = 0;
	now = 500;
	SAY(task_name, "earlier", .tid = TID(1), .pid = TID(1));
	look(false);
	now = 2000;
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = TID(1));
	look(true);
	tells("T5000001/5000001 later\n");
}
END_TEST

START_TEST(descriptors_are_of_the_process)
{
	SAY(fd_file, "/a", .pid = 100, .fd = 3, .type = JIS_FD_FILE);
	SAY(fd_file, "/b", .pid = 200, .fd = 3, .type = JIS_FD_FILE);
	SAY(fd_file, "/unused", .pid = 100, .fd = 4, .type = JIS_FD_FILE);
	SAY(fd_socket, NULL, .pid = 100, .fd = 5, .peer_port = 80);
	SAY(fd_file, "/again", .pid = 100, .fd = 6, .type = JIS_FD_FILE);
	look(false);
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 3);
	SAY(syscall_wait, NULL, .tid = 102, .nr = 0, .fd = 3);
	SAY(syscall_address, NULL, .tid = 101, .nr = 0, .fd = 5);
	SAY(fd_file, "/other", .pid = 100, .fd = 6, .type = JIS_FD_FILE);
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 6);
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 7); /* never told */
	SAY(syscall_path, "x", .tid = 101, .nr = 0, .dirfd = -100);
	SAY(thread_state, "", .tid = 101, .pid = 100);
	SAY(thread_state, "", .tid = 102, .pid = 100);
	look(true);
	tells("F100/3 /a\n"
	      "S100/5 80\n");
}
END_TEST

START_TEST(descriptors_told_again_say_since_when)
{
	SAY(thread_state, "", .tid = 101, .pid = 100);
	SAY(thread_state, "", .tid = 102, .pid = 100);
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 3); /* 1030 */
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 4); /* 1040 */
	SAY(syscall_io, NULL, .tid = 102, .nr = 0, .fd = 5); /* 1050 */
	SAY(syscall_io, NULL, .tid = 101, .nr = 0, .fd = 5);
	SAY(fd_file, "/was", .pid = 100, .fd = 3, .age = 40, .type = JIS_FD_FILE); /* 1070 */
	SAY(fd_file, "/became", .pid = 100, .fd = 4, .age = 39, .type = JIS_FD_FILE);
	SAY(fd_socket, NULL, .pid = 100, .fd = 5, .age = 2000, .peer_port = 80);
	look(true);
	tells("F100/3 /was\n"
	      "S100/5 80\n");
}
END_TEST

START_TEST(a_living_thread_is_looked_up)
{
	struct clock_sample sample;
	char comm[64] = "", expected[128];
	FILE *f = fopen("/proc/self/comm", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(comm, sizeof(comm), f));
	fclose(f);
	flight_names_free(n);
	sample = (struct clock_sample){.ticks = 1000000,
				       .boottime = clock_ns(CLOCK_BOOTTIME) + 10000000000};
	n = flight_names_new(&sample, 1000000000);
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = (uint32_t)getpid());
	look(true);
	snprintf(expected, sizeof(expected), "T%d/%d %s", getpid(), getpid(), comm);
	tells(expected);
	/* Not one that came to the tid later. */
	flight_names_free(n);
	sample.boottime = 1000000;
	n = flight_names_new(&sample, 1000000000);
	SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = (uint32_t)getpid());
	look(true);
	tells("");
}
END_TEST

START_TEST(thousands_fill_packets)
{
	uint32_t records = 0;

	for (uint32_t i = 1; i <= 5000; i++) {
		SAY(task_name, "somebody or other", .tid = TID(i), .pid = TID(i));
		if (i % 500 == 0)
			look(false);
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		SAY(sched_waking, NULL, .tid = TID(9), .waker_tid = TID(i));
		if (i % 500 == 0)
			look(true);
	}
	while (flight_names_tell(n, &b, 60000000)) {
		const struct jis_packet_header *packet = packet_builder_close(&b, 0);
		struct packet_walk walk;

		packet_walk_begin(&walk, packet, UINT64_MAX);
		packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
		records += (uint32_t)walk.records;
	}
	ck_assert_uint_eq(records, 5000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_flight_names");
	TCase *tc = tcase_create("names");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, threads_told_before_and_used_inside);
	tcase_add_test(tc, packets_of_other_cpus_come_in_any_order);
	tcase_add_test(tc, descriptors_are_of_the_process);
	tcase_add_test(tc, descriptors_told_again_say_since_when);
	tcase_add_test(tc, a_living_thread_is_looked_up);
	tcase_add_test(tc, thousands_fill_packets);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
