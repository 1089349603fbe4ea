/* SPDX-License-Identifier: MIT */
/* The writing side by itself: checksums, packets record by record, stream files, on a full disk
 * too. */
#include <check.h>
#include <signal.h>
#include <sys/resource.h>

#include "test_trace_gen.h"
#include "trace/crc32c.h"

START_TEST(crc32c_has_the_values_of_rfc_3720)
{
	static const uint8_t read_command[48] = {
		0x01,	     0xc0,	  [16] = 0x14, [22] = 0x04,
		[27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
	uint8_t bytes[32];

	memset(bytes, 0, 32);
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x46dd794e);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x113fdb5c);
	ck_assert_uint_eq(crc32c(0, read_command, 48), 0xd9963a56);
	ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c(0, "", 0), 0);
}
END_TEST

START_TEST(crc32c_is_the_same_on_all_paths)
{
	uint8_t *bytes = malloc(20000);
	uint64_t random = 5;

	for (int i = 0; i < 20000; i++)
		bytes[i] = (uint8_t)gen_random(&random, 256);
	for (int i = 0; i < 3000; i++) {
		uint32_t from = gen_random(&random, 64), n = gen_random(&random, 19900);
		uint32_t cut = gen_random(&random, n + 1), start = gen_random(&random, UINT32_MAX);
		uint32_t sum = crc32c(start, bytes + from, n);

		ck_assert_uint_eq(sum, crc32c_software(start, bytes + from, n));
		ck_assert_uint_eq(sum, crc32c(crc32c(start, bytes + from, cut), bytes + from + cut,
					      n - cut));
	}
	free(bytes);
}
END_TEST

static struct packet_builder b;
static const uint8_t uuid[16] = "write-test-uuid-";
static char dir[] = "/tmp/jis-write-XXXXXX";
static int fd;

static void setup(void)
{
	ck_assert_int_eq(packet_builder_init(&b, 4096, JIS_STREAM_DICT, 0, uuid), 0);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
}

static void teardown(void)
{
	packet_builder_fini(&b);
	close(fd);
	gen_remove(AT_FDCWD, dir);
}

/* The text that a string of @n bytes of @unit becomes. */
static const char *string_written(const char *unit, size_t n)
{
	static char text[8192];
	const struct jis_ev_string_def *p;
	uint32_t id = 7;

	text[0] = '\0';
	while (strlen(text) < n)
		strcat(text, unit);
	b.used = 0;
	ck_assert_int_eq(packet_builder_add(&b, JIS_EV_string_def, b.last, &id, 4, text), 0);
	p = (const void *)(b.buffer + JIS_PACKET_HEADER_SIZE + 4);
	ck_assert_uint_eq(p->id, 7);
	ck_assert_uint_eq(p->text_length % 4, 0);
	ck_assert_uint_le(p->text_length, JIS_STRING_MAX);
	ck_assert_uint_eq(b.used, JIS_PACKET_HEADER_SIZE + 12 + p->text_length);
	for (size_t i = strlen(p->text); i < p->text_length; i++)
		ck_assert_int_eq(p->text[i], 0);
	return p->text;
}

START_TEST(strings_are_cut_between_characters)
{
	for (size_t n = 0; n < 1024; n++)
		ck_assert_uint_eq(strlen(string_written("x", n)), n);
	ck_assert_uint_eq(strlen(string_written("x", 1024)), 1023);
	ck_assert_str_eq(string_written("x", 5000) + 1019, "x...");
	ck_assert_str_eq(string_written("\xc3\xa4", 1024) + 1018, "\xc3\xa4...");
	ck_assert_str_eq(string_written("x\xe2\x82\xac\xe2\x82\xac", 2000) + 1016,
			 "\xe2\x82\xac...");
	ck_assert_str_eq(string_written("\xe2\x82\xac", 2000) + 1017, "\xe2\x82\xac...");
	ck_assert_str_eq(string_written("xx\xe2\x82\xac", 2000) + 1017, "\xe2\x82\xac...");
	ck_assert_str_eq(string_written("\xf0\x9f\x98\x80", 2000) + 1016, "\xf0\x9f\x98\x80...");
	/* No UTF-8 at all must not make it search for ever. */
	ck_assert_uint_le(strlen(string_written("\x80", 2000)), 1023);
}
END_TEST

START_TEST(headers_are_extended_when_the_gap_is_long)
{
	const struct jis_packet_header *h;
	uint32_t id = 1;

	ck_assert_int_eq(packet_builder_add(&b, 3, 1ull << 40, &id, 4, NULL), 0);
	ck_assert_uint_eq(b.used, 96 + 8);
	ck_assert_int_eq(packet_builder_add(&b, 3, (1ull << 40) + JIS_TIME_MASK, &id, 4, NULL), 0);
	ck_assert_uint_eq(b.used, 96 + 16);
	ck_assert_int_eq(packet_builder_add(&b, 3, b.last + JIS_TIME_MASK + 1, &id, 4, NULL), 0);
	ck_assert_uint_eq(b.used, 96 + 16 + 20);
	ck_assert_int_eq(packet_builder_add(&b, 40, b.last, &id, 4, NULL), 0);
	ck_assert_uint_eq(b.used, 96 + 16 + 40);
	h = packet_builder_close(&b, 0);
	ck_assert_uint_eq(h->timestamp_begin, 1ull << 40);
	ck_assert_uint_eq(h->timestamp_end, b.last);
	ck_assert_uint_eq(h->content_size, (96 + 16 + 40) * 8);
	ck_assert_ptr_null(packet_builder_close(&b, 0));
}
END_TEST

START_TEST(time_does_not_fall)
{
	const struct jis_packet_header *h;
	uint32_t id = 1;

	ck_assert_int_eq(packet_builder_open(&b, 1000), 0);
	ck_assert_int_eq(packet_builder_open(&b, 1000), -EBUSY);
	ck_assert_int_eq(packet_builder_add(&b, 3, 900, &id, 4, NULL), 0);
	h = packet_builder_close(&b, 2000);
	ck_assert_uint_eq(h->timestamp_begin, 1000);
	ck_assert_uint_eq(h->timestamp_end, 2000);
	ck_assert_uint_eq(h->packet_seq, 0);
	ck_assert_int_eq(packet_builder_add(&b, 3, 1500, &id, 4, NULL), 0);
	h = packet_builder_close(&b, 0);
	ck_assert_uint_eq(h->timestamp_begin, 2000);
	ck_assert_uint_eq(h->packet_seq, 1);
	ck_assert_uint_eq(b.clock_steps, 2);
	ck_assert_uint_eq(b.stored[3], 2);
}
END_TEST

START_TEST(full_packets_and_nonsense)
{
	uint8_t big[8192] = {0};
	uint32_t n = 0;
	int err;

	while (!(err = packet_builder_add(&b, 4, n, big, 16, NULL)))
		n++;
	ck_assert_int_eq(err, -ENOSPC);
	ck_assert_uint_eq(n, (4096 - 96) / 20);
	ck_assert_uint_eq(b.stored[4], n);
	ck_assert_ptr_nonnull(packet_builder_close(&b, 0));
	ck_assert_int_eq(packet_builder_add(&b, 4, n, big, 16, NULL), 0);
	/* What never fits is not told to be tried again. */
	ck_assert_int_eq(packet_builder_add(&b, 4, n, big, 4096, NULL), -EINVAL);
	ck_assert_int_eq(packet_builder_add(&b, 4, n, big, UINT32_MAX - 3, NULL), -EINVAL);
	ck_assert_int_eq(packet_builder_add(&b, 4, n, big, 15, NULL), -EINVAL);
	ck_assert_int_eq(packet_builder_add(&b, 0, n, big, 16, NULL), -EINVAL);
	ck_assert_int_eq(packet_builder_add(&b, 31, n, big, 16, NULL), -EINVAL);
	ck_assert_int_eq(packet_builder_add(&b, 64, n, big, 16, NULL), -EINVAL);
	packet_builder_fini(&b);
	ck_assert_int_eq(packet_builder_init(&b, 4092, 0, 0, uuid), -EINVAL);
	ck_assert_int_eq(packet_builder_init(&b, 4098, 0, 0, uuid), -EINVAL);
	ck_assert_int_eq(packet_builder_init(&b, SIZE_MAX - 3, 0, 0, uuid), -EINVAL);
	ck_assert_int_eq(packet_builder_init(&b, 4096, 4, 0, uuid), -EINVAL);
	ck_assert_int_eq(packet_builder_init(&b, 4096, 0, 3, uuid), 0);
	ck_assert_uint_eq(b.proto.owner, 3);
}
END_TEST

/* A packet of @records records with number @seq. */
static struct jis_packet_header *packet(uint64_t seq, uint32_t records)
{
	uint64_t payload[2] = {seq, 0};

	b.sequence = seq;
	for (payload[1] = 0; payload[1] < records; payload[1]++)
		ck_assert_int_eq(packet_builder_add(&b, JIS_EV_java_thread_end,
						    seq * 1000 + payload[1], payload, 12, NULL),
				 0);
	return packet_builder_close(&b, 0);
}

/* The file is whole packets of so many records. */
static void file_is(const char *name, const uint32_t *records, uint32_t nr)
{
	struct stream_identity id = {.stream_class = JIS_STREAM_DICT};
	struct stream_cursor c;
	struct stat st;
	off_t size = 0;

	memcpy(id.uuid, uuid, 16);
	for (uint32_t i = 0; i < nr; i++)
		size += 96 + 16 * (off_t)records[i];
	ck_assert_int_eq(fstatat(fd, name, &st, 0), 0);
	ck_assert_int_eq(st.st_size, size);
	ck_assert_int_eq(stream_cursor_open(&c, fd, name, &id, NULL), 0);
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < records[i]; k++)
			ck_assert_int_eq(stream_cursor_next(&c), 1);
	ck_assert_int_eq(stream_cursor_next(&c), 0);
	stream_cursor_close(&c);
}

START_TEST(tails_grow_in_place)
{
	struct stream_writer *w;

	ck_assert_int_eq(stream_writer_create(fd, "s", &w), 0);
	ck_assert_int_eq(stream_writer_append(w, packet(0, 3)), 0);
	file_is("s", (uint32_t[]){3}, 1);
	ck_assert_int_eq(stream_writer_update_tail(w, packet(1, 1)), 0);
	file_is("s", (uint32_t[]){3, 1}, 2);
	b.last = 1000;
	ck_assert_int_eq(stream_writer_update_tail(w, packet(1, 4)), 0);
	file_is("s", (uint32_t[]){3, 4}, 2);
	b.last = 1000;
	ck_assert_int_eq(stream_writer_append(w, packet(1, 6)), 0);
	file_is("s", (uint32_t[]){3, 6}, 2);
	ck_assert_int_eq(stream_writer_update_tail(w, packet(2, 2)), 0);
	ck_assert_int_eq(stream_writer_append(w, packet(3, 2)), 0);
	file_is("s", (uint32_t[]){3, 6, 2, 2}, 4);
	ck_assert_uint_eq(stream_writer_bytes(w), 4 * 96 + 13 * 16);
	ck_assert_int_eq(stream_writer_close(w), 0);
	ck_assert_int_eq(stream_writer_create(fd, "s", &w), -EEXIST);
}
END_TEST

/* The file may grow to every possible size: it always ends at a whole packet, and the error stays.
 */
START_TEST(a_full_disk_leaves_whole_packets)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	for (uint32_t most = 97; most < 96 * 3 + 16 * 9; most += 7) {
		struct stream_writer *w;
		char name[16];
		uint32_t records[3], nr = 0;

		snprintf(name, sizeof(name), "f-%u", most);
		getrlimit(RLIMIT_FSIZE, &limit);
		limit.rlim_cur = most;
		b.last = 0;
		ck_assert_int_eq(stream_writer_create(fd, name, &w), 0);
		setrlimit(RLIMIT_FSIZE, &limit);
		if (!stream_writer_append(w, packet(0, 2)))
			records[nr++] = 2;
		if (nr == 1 && !stream_writer_update_tail(w, packet(1, 1)))
			records[nr++] = 1;
		b.last = 1000;
		if (nr == 2 && !stream_writer_update_tail(w, packet(1, 4)))
			records[1] = 4;
		if (nr == 2 && records[1] == 4 && !stream_writer_append(w, packet(2, 3)))
			records[nr++] = 3;
		ck_assert_int_eq(stream_writer_close(w), -EFBIG);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_FSIZE, &limit);
		file_is(name, records, nr);
	}
}
END_TEST

START_TEST(packets_of_no_sense_are_refused)
{
	struct jis_packet_header h = {.content_size = 95 * 8};
	struct stream_writer *w;

	ck_assert_int_eq(stream_writer_create(fd, "s", &w), 0);
	ck_assert_int_eq(stream_writer_append(w, &h), -EINVAL);
	h.content_size = 96 * 8 + 8;
	ck_assert_int_eq(stream_writer_append(w, &h), -EINVAL);
	h.content_size = UINT64_MAX & ~31ull;
	ck_assert_int_eq(stream_writer_append(w, &h), -EINVAL);
	ck_assert_uint_eq(stream_writer_bytes(w), 0);
	ck_assert_int_eq(stream_writer_close(w), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_write");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, crc32c_has_the_values_of_rfc_3720);
	tcase_add_test(t, crc32c_is_the_same_on_all_paths);
	tcase_add_test(t, strings_are_cut_between_characters);
	tcase_add_test(t, headers_are_extended_when_the_gap_is_long);
	tcase_add_test(t, time_does_not_fall);
	tcase_add_test(t, full_packets_and_nonsense);
	tcase_add_test(t, tails_grow_in_place);
	tcase_add_test(t, a_full_disk_leaves_whole_packets);
	tcase_add_test(t, packets_of_no_sense_are_refused);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
