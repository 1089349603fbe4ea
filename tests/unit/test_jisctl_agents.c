/* SPDX-License-Identifier: MIT */
/*
 * Agents' connections: a storm of them neither fills the directory nor has the manifest written all
 * the time, and a recorder without a file descriptor waits instead of turning in a circle.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libjisctl/agent_server.h"
#include "trace/manifest.h"

static char directory[] = "/tmp/jis-test-agents.XXXXXX";
static struct recorder *recorder;
static struct agent_server *server;
static uint32_t lines; /* said by the server */

static bool anybody(void *ctx, pid_t pid)
{
	return true;
}

static void count_line(void *ctx, int level, const char *text)
{
	lines++;
}

static void begin(void)
{
	struct recorder_params params = {.directory = directory,
					 .backend = "none",
					 .clock = JIS_CLOCK_RAW,
					 .nr_cpus = 1,
					 .flush_ms = 500};
	struct agent_server_config config = {.clock = JIS_CLOCK_RAW,
					     .pool_bytes = POOL_BYTES_MIN,
					     .is_target = anybody,
					     .log = count_line};

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(recorder_create(&params, &recorder), 0);
	config.recorder = recorder;
	ck_assert_int_eq(agent_server_open(&config, &server), 0);
	agent_server_enable(server, true);
}

/* Ends the recording; its manifest is the caller's. */
static struct manifest *end(void)
{
	struct manifest *m;

	ck_assert_int_eq(agent_server_finish(server), 0);
	ck_assert_int_eq(recorder_finish(recorder, 0, 1000, "test"), 0);
	ck_assert_int_eq(manifest_load(recorder_dirfd(recorder), &m), 0);
	recorder_discard(recorder);
	ck_assert_int_eq(rmdir(directory), 0); /* it was there before */
	agent_server_close(server);
	recorder_close(recorder);
	return m;
}

static int client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", agent_server_path(server));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static bool server_readable(void)
{
	struct pollfd p = {.fd = agent_server_fd(server), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void serve(void)
{
	while (server_readable())
		ck_assert_int_eq(agent_server_run(server), 0);
}

/* Says hello, waits for the answer, and goes. Returns the answer's type. */
static unsigned int visit(void)
{
	struct jis_agent_message m = {.magic = JIS_AGENT_MAGIC,
				      .protocol = JIS_AGENT_PROTOCOL,
				      .type = JIS_AGENT_HELLO,
				      .kind = JIS_KIND_PROGRAM,
				      .pid = (uint32_t)getpid()};
	int fd = client();

	ck_assert_int_eq(send(fd, &m, sizeof(m), 0), sizeof(m));
	serve();
	ck_assert_int_eq(recv(fd, &m, sizeof(m), 0), sizeof(m));
	close(fd);
	serve();
	return m.type;
}

static ino_t manifest_inode(void)
{
	struct stat st;

	ck_assert_int_eq(fstatat(recorder_dirfd(recorder), MANIFEST_FILE, &st, 0), 0);
	return st.st_ino;
}

static uint32_t manifest_processes(void)
{
	struct manifest *m;
	uint32_t n;

	ck_assert_int_eq(manifest_load(recorder_dirfd(recorder), &m), 0);
	n = m->nr_processes;
	manifest_free(m);
	return n;
}

START_TEST(many_processes_make_few_manifests)
{
	uint64_t from = clock_ns(CLOCK_MONOTONIC), written = 0, took;
	ino_t before, now;
	int i;

	begin();
	before = manifest_inode();
	for (i = 0; i < 50; i++) {
		ck_assert_uint_eq(visit(), JIS_AGENT_WELCOME);
		now = manifest_inode(); /* it is written by rename, so into another file */
		written += now != before;
		before = now;
	}
	took = clock_ns(CLOCK_MONOTONIC) - from;
	ck_assert_uint_le(written, 1 + took / 100000000);
	ck_assert_uint_ge(manifest_processes(), 1); /* the first one is not kept waiting */
	while (manifest_processes() < 50) {
		usleep(10000);
		recorder_manifest_due(recorder);
	}
	manifest_free(end());
}
END_TEST

START_TEST(a_process_gets_so_many_pools_and_no_more)
{
	uint32_t welcome = 0, refused = 0, i;
	struct manifest *m;

	begin();
	for (i = 0; i < 200; i++) {
		if (visit() == JIS_AGENT_WELCOME)
			welcome++;
		else
			refused++;
	}
	ck_assert_uint_eq(welcome, 64);
	ck_assert_uint_eq(refused, 136);
	ck_assert_uint_eq(recorder_processes(recorder), welcome);
	ck_assert_uint_lt(lines, 64 + 20); /* refusals are told, but not without end */
	m = end();
	ck_assert_uint_eq(m->refused, refused);
	ck_assert_uint_eq(m->nr_processes, welcome);
	manifest_free(m);
}
END_TEST

static bool noted(const struct manifest *m, const char *text)
{
	char **n;

	for (n = m->notes; n && *n; n++)
		if (strstr(*n, text))
			return true;
	return false;
}

START_TEST(without_descriptors_the_server_waits_and_goes_on)
{
	struct rlimit all, none;
	struct manifest *m;
	int waiting, lowest, i;

	begin();
	waiting = client();
	lowest = dup(0);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &all);
	none = all;
	none.rlim_cur = (rlim_t)lowest; /* no new one; those that are open stay */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert(server_readable());
	ck_assert_int_eq(agent_server_run(server), 0);
	ck_assert(!server_readable());
	setrlimit(RLIMIT_NOFILE, &all);
	for (i = 0; !server_readable(); i++) {
		ck_assert_int_lt(i, 1000);
		usleep(10000);
		ck_assert_int_eq(agent_server_drain(server, false), 0);
	}
	close(waiting);
	serve();
	ck_assert_uint_eq(visit(), JIS_AGENT_WELCOME);
	ck_assert_uint_eq(lines, 1); /* of the welcome */
	m = end();
	ck_assert_uint_eq(lines, 2);
	ck_assert(noted(m, "no file descriptor"));
	manifest_free(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jisctl_agents");
	TCase *t = tcase_create("agents");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, many_processes_make_few_manifests);
	tcase_add_test(t, a_process_gets_so_many_pools_and_no_more);
	tcase_add_test(t, without_descriptors_the_server_waits_and_goes_on);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
