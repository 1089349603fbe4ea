/* SPDX-License-Identifier: MIT */
/* The manifest comes back as it was written, and a hostile one is refused. */
#include <check.h>
#include <json-c/json.h>

#include "test_trace_gen.h"

static char dir[] = "/tmp/jis-manifest-XXXXXX";
static int fd;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
}

static void teardown(void)
{
	close(fd);
	gen_remove(AT_FDCWD, dir);
}

static char **strings(const char *a, const char *b)
{
	char **list = calloc(3, sizeof(*list));

	list[0] = strdup(a);
	list[1] = strdup(b);
	return list;
}

static void fill_lists(struct manifest *m)
{
	m->clocks = calloc(m->nr_clocks = 2, sizeof(*m->clocks));
	m->clocks[1] = (struct clock_sample){1, 2, 3, 4, UINT64_MAX, 6};
	m->processes = calloc(m->nr_processes = 2, sizeof(*m->processes));
	m->processes[0] = (struct process_entry){11,
						 12,
						 13,
						 strdup("java"),
						 strdup("jvm-11-13"),
						 strdup("VM"),
						 21,
						 "process-uuid-16-",
						 strdup("s1 \xc3\xa4")};
	m->processes[1] = (struct process_entry){.pid = 14, .name = strdup("sh")};
	m->threads = calloc(m->nr_threads = 2, sizeof(*m->threads));
	m->threads[0] = (struct thread_entry){1,
					      2,
					      3,
					      4,
					      5,
					      TIME_NONE,
					      7,
					      TIME_NONE,
					      UINT64_MAX - 1,
					      UINT32_MAX,
					      strdup("a name \"quoted\" \\ \n"),
					      strdup("comm"),
					      strdup("group")};
	m->threads[1].name = strdup("");
	m->threads[1].comm = strdup("\xc3\xa4");
	m->foreigners = calloc(m->nr_foreigners = 1, sizeof(*m->foreigners));
	m->foreigners[0] = (struct foreign_entry){1, 2, 3, strdup("ksoftirqd/0")};
	m->streams = calloc(m->nr_streams = 1, sizeof(*m->streams));
	m->streams[0] = (struct stream_entry){.path = strdup("kernel/cpu-0"),
					      .instance = 70000000000ull,
					      .packets = 5,
					      .clean = true};
	for (uint64_t i = 0; i < JIS_MAX_EVENT_ID; i++) {
		m->streams[0].produced[i] = i << 40;
		m->streams[0].stored[i] = i;
		m->streams[0].lost[i] = UINT64_MAX - i;
	}
	m->damages = calloc(m->nr_damages = 1, sizeof(*m->damages));
	m->damages[0] = (struct damage_entry){strdup("kernel/cpu-0"), 1, TIME_NONE, strdup("why")};
	m->hosts = calloc(m->nr_hosts = 2, sizeof(*m->hosts));
	m->hosts[0] = (struct host_entry){.name = strdup("a"),
					  .session = strdup("a-run"),
					  .kernel_release = strdup("6.12"),
					  .backend = strdup("kmod"),
					  .nr_cpus = 56,
					  .end = 70};
	m->hosts[1] = (struct host_entry){.name = strdup("b"),
					  .session = strdup("b-run"),
					  .uuid = "host-b-uuid-----",
					  .first_cpu = 56,
					  .nr_cpus = 200,
					  .begin = 20,
					  .end = 90,
					  .clock = HOST_CLOCK_CALLS,
					  .calls = 12,
					  .offset = -1000000001,
					  .drift = -20000,
					  .steps = 1};
	m->host_errors = calloc(m->nr_host_errors = 2, sizeof(*m->host_errors));
	m->host_errors[0] = (struct host_error_entry){1, 100, 4000, 0};
	m->host_errors[1] = (struct host_error_entry){1, 200, 8000, 0};
}

static struct manifest *full(void)
{
	struct manifest *m = manifest_new();

	m->complete = m->recovered = m->all_switches = true;
	m->jis_version = strdup("1");
	memcpy(m->uuid, "\0\x01session-uuid-\xff", 16);
	memcpy(m->kernel_uuid, "kernel-uuid-----", 16);
	m->hostname = strdup("host");
	m->kernel_release = strdup("6.1");
	m->machine = strdup("x86_64");
	m->command = strdup("java -jar \"a b\"");
	m->backend = strdup("kmod");
	m->missing = strings("m1", "m2");
	m->notes = strings("n1", "n2");
	m->filters = strings("process 12, children", "cgroup /sys/fs/cgroup/a b");
	m->stop_reason = strdup("duration");
	m->syscalls = strdup("io,-read");
	m->clock = 1;
	m->frequency = 2994000000;
	m->base = 1ull << 63;
	m->begin = 1ull << 40;
	m->end = 1ull << 62;
	m->realtime_offset = -5;
	m->clock_steps = 9;
	m->nr_cpus = 256;
	m->flush_ms = 500;
	fill_lists(m);
	return m;
}

static uint8_t *saved(size_t *size)
{
	int file = openat(fd, MANIFEST_FILE, O_RDONLY);
	uint8_t *bytes = calloc(1, 1 << 20);
	ssize_t n = read(file, bytes, 1 << 20);

	ck_assert_int_gt(n, 0);
	*size = (size_t)n;
	close(file);
	return bytes;
}

START_TEST(every_member_comes_back)
{
	struct manifest *m = full(), *back;
	const struct thread_entry *t;
	size_t first_size, second_size;
	uint8_t *first, *second;

	ck_assert_int_eq(manifest_save(fd, m), 0);
	ck_assert_int_eq(manifest_load(fd, &back), 0);
	ck_assert(back->complete && back->recovered && back->all_switches);
	ck_assert_mem_eq(back->uuid, m->uuid, 16);
	ck_assert_str_eq(back->command, m->command);
	ck_assert_str_eq(back->syscalls, m->syscalls);
	ck_assert_str_eq(back->missing[1], "m2");
	ck_assert_ptr_null(back->notes[2]);
	ck_assert_str_eq(back->filters[1], m->filters[1]);
	ck_assert_ptr_null(back->filters[2]);
	ck_assert_uint_eq(back->base, 1ull << 63);
	ck_assert_int_eq(back->realtime_offset, -5);
	ck_assert_uint_eq(back->clocks[1].realtime, UINT64_MAX);
	ck_assert_uint_eq(back->clocks[1].uncertainty, 6);
	ck_assert_mem_eq(back->processes[0].uuid, "process-uuid-16-", 16);
	ck_assert_str_eq(back->processes[0].given_name, "s1 \xc3\xa4");
	ck_assert_ptr_null(back->processes[1].given_name);
	t = &back->threads[0];
	ck_assert_uint_eq(t->birth, TIME_NONE);
	ck_assert_uint_eq(t->java_tid, UINT64_MAX - 1);
	ck_assert_str_eq(t->name, m->threads[0].name);
	ck_assert_mem_eq(back->streams[0].lost, m->streams[0].lost, sizeof(m->streams[0].lost));
	ck_assert_mem_eq(back->streams[0].produced, m->streams[0].produced,
			 sizeof(m->streams[0].produced));
	ck_assert_uint_eq(back->damages[0].end, TIME_NONE);
	ck_assert_int_eq(back->hosts[1].offset, -1000000001);
	ck_assert_int_eq(back->hosts[1].drift, -20000);
	/* All the rest: what was read is written to the same bytes. */
	first = saved(&first_size);
	ck_assert_int_eq(manifest_save(fd, back), 0);
	second = saved(&second_size);
	ck_assert_uint_eq(first_size, second_size);
	ck_assert_mem_eq(first, second, first_size);
	ck_assert_int_ne(faccessat(fd, MANIFEST_FILE ".new", F_OK, 0), 0);
	free(first);
	free(second);
	manifest_free(m);
	manifest_free(back);
}
END_TEST

START_TEST(bytes_that_are_no_utf_8_become_question_marks)
{
	struct manifest *m = full(), *back;

	free(m->threads[0].comm);
	m->threads[0].comm = strdup("a\xff"
				    "b\xc3"
				    "c\xe2\x82");
	ck_assert_int_eq(manifest_save(fd, m), 0);
	ck_assert_int_eq(manifest_load(fd, &back), 0);
	ck_assert_str_eq(back->threads[0].comm, "a?b?c??");
	manifest_free(m);
	manifest_free(back);
}
END_TEST

static int load_text(const char *text)
{
	struct manifest *m = NULL;
	int file = openat(fd, MANIFEST_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0644), err;

	ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	err = manifest_load(fd, &m);
	if (!err)
		manifest_free(m);
	return err;
}

#define HEAD "{\"format\":1,\"schema\":3,\"frequency\":1000,"

#define HOST "{\"name\":\"a\",\"session\":\"a\""

static const struct {
	const char *text;
	int err;
} cases[] = {
	{HEAD "\"begin\":0}", 0},
	{"", -EBADMSG},
	{"[]", -EBADMSG},
	{"null", -EBADMSG},
	{"{\"format\":1", -EBADMSG},
	{"{\"format\":\"1\"}", -EBADMSG},
	{"{\"format\":2}", -EPROTONOSUPPORT},
	{"{\"format\":1,\"schema\":4,\"frequency\":1}", -EPROTONOSUPPORT},
	{"{\"format\":1,\"schema\":3}", -EBADMSG},
	{HEAD "\"begin\":-1}", -EBADMSG},
	{HEAD "\"begin\":2,\"end\":1}", -EBADMSG},
	{HEAD "\"end\":18446744073709551615}", -EBADMSG},
	{HEAD "\"end\":1.5}", -EBADMSG},
	{HEAD "\"end\":\"5\"}", -EBADMSG},
	{HEAD "\"cpus\":4294967296}", -EBADMSG},
	{HEAD "\"cpus\":1000000}", -EBADMSG},
	{HEAD "\"complete\":1}", -EBADMSG},
	{HEAD "\"hostname\":{}}", -EBADMSG},
	{HEAD "\"uuid\":\"00\"}", -EBADMSG},
	{HEAD "\"uuid\":\"0000000000000000000000000000000g\"}", -EBADMSG},
	{HEAD "\"threads\":{}}", -EBADMSG},
	{HEAD "\"threads\":[1]}", -EBADMSG},
	{HEAD "\"threads\":[{}]}", -EBADMSG},
	{HEAD "\"threads\":[{\"name\":\"a\",\"comm\":\"a\",\"tid\":99999999999}]}", -EBADMSG},
	{HEAD "\"threads\":[{\"name\":\"a\",\"comm\":\"a\",\"tid\":1}]}", 0},
	{HEAD "\"processes\":[{\"name\":\"a\",\"directory\":\"../x\"}]}", -EBADMSG},
	{HEAD "\"processes\":[{\"name\":\"a\",\"directory\":\"a/b\"}]}", -EBADMSG},
	{HEAD "\"processes\":[{\"name\":\"a\",\"directory\":\"\"}]}", -EBADMSG},
	{HEAD "\"processes\":[{\"given_name\":\"a\"}]}", -EBADMSG},
	{HEAD "\"processes\":[{\"name\":\"a\",\"given_name\":1}]}", -EBADMSG},
	{HEAD "\"processes\":[{\"name\":\"a\",\"given_name\":\"b\"}]}", 0},
	{HEAD "\"streams\":[{\"class\":0}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"/etc/passwd\"}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"../passwd\"}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"a/../b\"}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"a/b\",\"class\":4}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"a/b\",\"lost\":{\"3\":-1}}]}", -EBADMSG},
	{HEAD "\"streams\":[{\"path\":\"a/b\",\"lost\":{\"99\":1}}]}", 0},
	{HEAD "\"damages\":[{\"path\":\"a/b\"}]}", -EBADMSG},
	{HEAD "\"notes\":[1,null,\"a\"]}", 0},
	{HEAD "\"notes\":\"a\"}", -EBADMSG},
	{HEAD "\"hosts\":[{\"name\":\"a\",\"session\":\"a\"}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST "}]}", 0},
	{HEAD "\"hosts\":[" HOST ",\"cpus\":1}," HOST "}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST ",\"first_cpu\":1}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST ",\"parent\":2}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST ",\"clock\":4}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST ",\"begin\":1}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "},{\"name\":\"a\"}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST "}],\"host_errors\":[{\"host\":2}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST "}],\"host_errors\":[{\"other\":2}]}", -EBADMSG},
	{HEAD "\"hosts\":[" HOST "}," HOST "}],\"host_errors\":[{\"host\":1},{\"host\":0}]}",
	 -EBADMSG},
	{HEAD "\"unknown\":[1,{}]}", 0},
};

START_TEST(hostile_manifests_are_refused)
{
	ck_assert_msg(load_text(cases[_i].text) == cases[_i].err, "%s", cases[_i].text);
}
END_TEST

/* 0 and 3 are roots of clocks; 1 and 2 hang on 0, 4 on 2, 5 on 3. */
START_TEST(errors_of_clocks_add_up_along_the_way)
{
	struct host_entry hosts[6] = {
		{.clock = HOST_CLOCK_REFERENCE},
		{.clock = HOST_CLOCK_CALLS, .parent = 0},
		{.clock = HOST_CLOCK_CALLS, .parent = 0},
		{.clock = HOST_CLOCK_REALTIME, .parent = 0},
		{.clock = HOST_CLOCK_SAME, .parent = 2},
		{.clock = HOST_CLOCK_CALLS, .parent = 3},
	};
	struct host_error_entry errors[] = {{1, 100, 10, 0},   {1, 200, 30, 0}, {2, 100, 1000, 0},
					    {2, 100, 2000, 0}, {4, 100, 5, 1},	{5, 100, 77, 3}};
	struct manifest m = {.hosts = hosts,
			     .nr_hosts = 6,
			     .host_errors = errors,
			     .nr_host_errors = 6};

	ck_assert_uint_eq(manifest_host_error(&m, 0, 0, 100), 0);
	ck_assert_uint_eq(manifest_host_error(&m, 0, 1, 50), 10);
	ck_assert_uint_eq(manifest_host_error(&m, 0, 1, 100), 10);
	ck_assert_uint_eq(manifest_host_error(&m, 1, 0, 150), 20);
	ck_assert_uint_eq(manifest_host_error(&m, 1, 0, 250), 30);
	ck_assert_uint_eq(manifest_host_error(&m, 1, 2, 150), 2020);
	/* They have calls with each other. */
	ck_assert_uint_eq(manifest_host_error(&m, 4, 1, 150), 5);
	ck_assert_uint_eq(manifest_host_error(&m, 2, 3, 150), UINT64_MAX);
	ck_assert_uint_eq(manifest_host_error(&m, 4, 2, 150), 0);
	ck_assert_uint_eq(manifest_host_error(&m, 3, 1, 150), UINT64_MAX);
	ck_assert_uint_eq(manifest_host_error(&m, 9, 1, 150), 0);
	/* By their calls, whatever is known of them to others. */
	ck_assert_uint_eq(manifest_host_error(&m, 3, 5, 150), 77);
	ck_assert_uint_eq(manifest_host_error(&m, 0, 5, 150), UINT64_MAX);
	/* In a circle. */
	hosts[0].parent = 1;
	ck_assert_uint_eq(manifest_host_error(&m, 1, 2, 150), UINT64_MAX);
}
END_TEST

START_TEST(numbers_tell_their_host)
{
	struct host_entry hosts[2] = {{.nr_cpus = 4}, {.first_cpu = 4, .nr_cpus = 2}};
	struct manifest m = {.hosts = hosts, .nr_hosts = 2};

	ck_assert_uint_eq(manifest_host_of_tid(&m, 4194303), 0);
	ck_assert_uint_eq(manifest_host_of_tid(&m, MANIFEST_HOST_STRIDE + 7), 1);
	ck_assert_uint_eq(manifest_host_of_tid(&m, UINT32_MAX), 0);
	ck_assert_uint_eq(manifest_host_of_cpu(&m, 3), 0);
	ck_assert_uint_eq(manifest_host_of_cpu(&m, 4), 1);
	ck_assert_uint_eq(manifest_host_of_cpu(&m, 6), 0);
	m.nr_hosts = 0;
	ck_assert_uint_eq(manifest_host_of_tid(&m, MANIFEST_HOST_STRIDE + 7), 0);
}
END_TEST

START_TEST(a_given_name_is_shown_and_chosen_by)
{
	struct process_entry p = {.pid = 12, .name = (char *)"java"};

	ck_assert_str_eq(process_entry_name(&p), "java");
	ck_assert(!process_entry_wanted(&p, "s1"));
	p.given_name = (char *)"";
	ck_assert_str_eq(process_entry_name(&p), "java");
	p.given_name = (char *)"s1";
	ck_assert_str_eq(process_entry_name(&p), "s1");
	ck_assert(process_entry_wanted(&p, NULL));
	ck_assert(process_entry_wanted(&p, "s1"));
	ck_assert(process_entry_wanted(&p, "jav"));
	ck_assert(process_entry_wanted(&p, "12"));
	ck_assert(!process_entry_wanted(&p, "2"));
	ck_assert(!process_entry_wanted(&p, "s2"));
	p.name = p.given_name = NULL;
	ck_assert_ptr_null(process_entry_name(&p));
	ck_assert(!process_entry_wanted(&p, "java"));
}
END_TEST

START_TEST(a_name_to_give_is_text_of_a_line)
{
	char longest[PROCESS_NAME_MAX + 2] = "";

	memset(longest, 'a', PROCESS_NAME_MAX);
	ck_assert_ptr_null(process_name_wrong(longest));
	longest[PROCESS_NAME_MAX] = 'a';
	ck_assert_ptr_nonnull(process_name_wrong(longest));
	ck_assert_ptr_null(process_name_wrong("a server, \xc3\xa4"));
	ck_assert_ptr_nonnull(process_name_wrong(""));
	ck_assert_ptr_nonnull(process_name_wrong("a\nb"));
	ck_assert_ptr_nonnull(process_name_wrong("a\x7f"));
	ck_assert_ptr_nonnull(process_name_wrong("\xc2\x9b"));
	ck_assert_ptr_nonnull(process_name_wrong("\xff"));
}
END_TEST

START_TEST(a_date_beyond_all_clocks_is_the_last_one)
{
	struct manifest m = {.frequency = 1000000000, .realtime_offset = 5};

	ck_assert_int_eq(manifest_realtime(&m, 1000), 1005);
	m.realtime_offset = INT64_MAX;
	ck_assert_int_eq(manifest_realtime(&m, 1000), INT64_MAX);
	m.realtime_offset = -1000;
	m.frequency = 1;
	ck_assert_int_eq(manifest_realtime(&m, UINT64_MAX), INT64_MAX);
}
END_TEST

START_TEST(deep_nesting_ends)
{
	size_t n = 1000000;
	char *text = malloc(n + 100);

	strcpy(text, HEAD "\"unknown\":");
	memset(text + strlen(text), '[', n);
	text[n + 50] = '\0';
	ck_assert_int_eq(load_text(text), -EBADMSG);
	free(text);
}
END_TEST

START_TEST(no_file)
{
	struct manifest *m;

	ck_assert_int_eq(manifest_load(fd, &m), -ENOENT);
	ck_assert_int_eq(mkdirat(fd, MANIFEST_FILE, 0755), 0);
	ck_assert_int_eq(manifest_load(fd, &m), -EBADMSG);
	manifest_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_manifest");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_member_comes_back);
	tcase_add_test(t, bytes_that_are_no_utf_8_become_question_marks);
	tcase_add_loop_test(t, hostile_manifests_are_refused, 0,
			    (int)(sizeof(cases) / sizeof(*cases)));
	tcase_add_test(t, errors_of_clocks_add_up_along_the_way);
	tcase_add_test(t, numbers_tell_their_host);
	tcase_add_test(t, a_given_name_is_shown_and_chosen_by);
	tcase_add_test(t, a_name_to_give_is_text_of_a_line);
	tcase_add_test(t, a_date_beyond_all_clocks_is_the_last_one);
	tcase_add_test(t, deep_nesting_ends);
	tcase_add_test(t, no_file);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
