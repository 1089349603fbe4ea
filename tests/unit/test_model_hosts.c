/* SPDX-License-Identifier: MIT */
/*
 * A trace of several hosts: what one does, loses, or does no longer tell is nothing to the others.
 * Host 0 has CPUs 0 and 1 and the JVM of test_model_why.h, host 1 has CPUs 2 and 3 and process 200.
 */
#include <arpa/inet.h>

#include "test_model_why.h"

#define OTHER(tid) (MANIFEST_HOST_STRIDE + (tid))
#define SERVER_SLOT FEED_SLOT(1)
#define SERVER_DICT FEED_DICT(1)

static char told[FEED_LOG], conns[FEED_LOG], links[FEED_LOG], calls[FEED_LOG];
static struct host_entry hosts[2];
static struct host_error_entry errors[1];

static int on_remote(void *ctx, const struct model_remote_call *c)
{
	(void)ctx;
	feed_log(told, "%s%s", *told ? ", " : "", model_remote_match_name(c->match));
	if (c->gone_on != TIME_NONE)
		feed_log(told, " until %" PRIu64, c->gone_on);
	if (c->client.known && c->server.known)
		feed_log(told, " +-%" PRId64, (int64_t)c->error);
	return 0;
}

static int on_connection(void *ctx, const struct model_connection *c)
{
	struct feed *f = ctx;

	feed_log(conns, "%s%u:#%" PRIu64 "-%" PRIu64 " msgs %" PRIu64, *conns ? ", " : "",
		 f->m->info.processes[c->process].pid, c->number, c->other_end, c->messages);
	return 0;
}

static int on_link(void *ctx, const struct model_link *l)
{
	struct feed *f = ctx;

	if (l->kind == MODEL_LINK_MESSAGE)
		feed_log(links, "%s%u@%" PRIu64 ">%u@%" PRIu64, *links ? ", " : "",
			 f->threads[l->from.thread].tid, l->begin, f->threads[l->to.thread].tid,
			 l->end);
	return 0;
}

static int on_call_end(void *ctx, const struct model_call *c)
{
	(void)ctx;
	feed_log(calls, "%s%s %" PRIu64 "-%" PRIu64, *calls ? ", " : "",
		 c->flags & MODEL_CALL_OPEN ? "open" : "ended", c->begin, c->end);
	return 0;
}

static struct feed *hosts_new(void)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	told[0] = conns[0] = links[0] = calls[0] = 0;
	hosts[0] = (struct host_entry){.first_cpu = 0,
				       .nr_cpus = 2,
				       .end = 1000,
				       .backend = (char *)"kmod"};
	hosts[1] = (struct host_entry){.first_cpu = 2,
				       .nr_cpus = 2,
				       .end = 1000,
				       .clock = HOST_CLOCK_CALLS,
				       .backend = (char *)"ftrace"};
	errors[0] = (struct host_error_entry){.host = 1, .error = 15};
	f->man.hosts = hosts;
	f->man.nr_hosts = 2;
	f->man.host_errors = errors;
	f->man.nr_host_errors = 1;
	feed_process(f, OTHER(200), "server");
	feed_thread(f, OTHER(200), OTHER(200), ALIVE, ALIVE, "server");
	feed_thread(f, OTHER(100), OTHER(200), ALIVE, ALIVE, "worker");
	f->threads[6].ns_tid = 200;
	f->threads[7].ns_tid = 100;
	sink = (struct model_sink){.remote = on_remote,
				   .connection = on_connection,
				   .link = on_link,
				   .call_end = on_call_end,
				   .ctx = f};
	f->sinks[f->nr_sinks++] = &sink;
	return f;
}

/* Host 1: at 10 thread 200 runs on CPU 2, thread 100 sleeps. */
static struct feed *hosts_begun(void)
{
	struct feed *f = hosts_new();

	why_start(f);
	feed_dump(f, 10, 103, S, 0);
	feed_dump(f, 10, OTHER(100), S, 3);
	feed_switch(f, 2, 10, 0, R, OTHER(200));
	return f;
}

static void mark(struct feed *f, uint32_t host, uint64_t t, uint32_t mark)
{
	f->cursors[FEED_RECORDER].instance = host;
	FEED(f, FEED_RECORDER, t, session_mark, .mark = mark);
}

static void done(struct feed *f)
{
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
	ck_assert_uint_eq(f->counts.contradictions, 0);
}

static void threads_are(const struct feed *f, const char *main, const char *native,
			const char *server, const char *worker)
{
	ck_assert_str_eq(f->thread_log[0], main);
	ck_assert_str_eq(f->thread_log[3], native);
	ck_assert_str_eq(f->thread_log[6], server);
	ck_assert_str_eq(f->thread_log[7], worker);
}

START_TEST(equal_numbers_of_two_hosts_are_two_threads)
{
	struct feed *f = hosts_begun();

	feed_switch(f, 0, 20, 100, S, 0);
	feed_wake(f, 2, 30, OTHER(200), OTHER(100), 31);
	feed_switch(f, 3, 40, 0, R, OTHER(100));
	feed_switch(f, 3, 50, OTHER(100), S, 0);
	/* What is in user streams is as the process sees it. */
	feed_packet(f, SERVER_SLOT, 55, 58, 0, 0, 100);
	FEED(f, SERVER_SLOT, 55, marker, .type = 3, .value = 1);
	feed_packet(f, SLOT, 56, 58, 0, 0, 100);
	FEED(f, SLOT, 56, marker, .type = 3, .value = 2);
	/* Of no host, and above all. */
	feed_switch(f, 3, 60, 0, R, OTHER(OTHER(100)));
	feed_switch(f, 3, 70, OTHER(OTHER(100)), S, UINT32_MAX);
	done(f);
	threads_are(f, "run@0 0-20, sleep 20-1000", "unknown 0-10, sleep 10-1000",
		    "unknown 0-10, run@2 10-1000",
		    "unknown 0-10, sleep 10-31, ready 31-40, run@3 40-50, sleep 50-1000");
	ck_assert_ptr_nonnull(strstr(f->events, "55 marker T10000100"));
	ck_assert_ptr_nonnull(strstr(f->events, "56 marker T100 "));
	feed_free(f);
}
END_TEST

START_TEST(what_one_host_loses_is_nothing_to_the_other)
{
	struct feed *f = hosts_begun();

	FEED(f, 1, 60, lost_records, .type = 1, .count = 3, .first = 42, .last = 58);
	feed_switch(f, 2, 65, OTHER(200), S, 0);
	done(f);
	threads_are(f, "run@0 0-1000", "unknown 0-10, sleep 10-42, unknown 42-1000",
		    "unknown 0-10, run@2 10-65, sleep 65-1000", "unknown 0-10, sleep 10-1000");
	feed_free(f);
}
END_TEST

START_TEST(while_one_host_loses_records_the_other_is_believed)
{
	struct feed *f = hosts_begun();

	feed_packet(f, 0, 0, 20, 0, 0, 0);
	feed_packet(f, 0, 90, 95, 5, 0, 0); /* lost from 20 to 90 */
	feed_switch(f, 2, 50, OTHER(200), S, 0);
	feed_switch(f, 1, 60, 101, S, 0);
	done(f);
	threads_are(f, "run@0 0-20, unknown 20-1000", "unknown 0-10, sleep 10-20, unknown 20-1000",
		    "unknown 0-10, run@2 10-50, sleep 50-1000", "unknown 0-10, sleep 10-1000");
	ck_assert_str_eq(f->thread_log[1], "run@1 0-60, unknown 60-1000");
	ck_assert_str_eq(f->cpu_log[0], "target=100 0-20, unknown 20-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_pause_is_that_of_one_host)
{
	struct feed *f = hosts_begun();

	mark(f, 1, 20, JIS_MARK_PAUSE);
	feed_switch(f, 0, 30, 100, S, 0);
	feed_switch(f, 2, 40, OTHER(200), S, 0);
	mark(f, 0, 50, JIS_MARK_RESUME); /* the other one's */
	feed_switch(f, 2, 55, 0, R, OTHER(200));
	mark(f, 1, 60, JIS_MARK_RESUME);
	feed_dump(f, 61, OTHER(100), S, 3);
	feed_switch(f, 2, 70, 0, R, OTHER(200));
	done(f);
	threads_are(f, "run@0 0-30, sleep 30-1000", "unknown 0-10, sleep 10-1000",
		    "unknown 0-10, run@2 10-20, unknown 20-70, run@2 70-1000",
		    "unknown 0-10, sleep 10-20, unknown 20-61, sleep 61-1000");
	ck_assert_str_eq(f->cpu_log[2], "unknown 0-10, target=10000200 10-20, unknown 20-70, "
					"target=10000200 70-1000");
	feed_free(f);
}
END_TEST

/* By its recorder's mark, or by what the manifest says. */
START_TEST(a_host_that_ends_is_unknown_from_there_on)
{
	struct feed *f = hosts_new();

	if (_i)
		hosts[0].end = 500;
	why_start(f);
	java_starts(f, 5, 50, 0, JIS_JTHREAD_VIRTUAL);
	feed_dump(f, 10, OTHER(100), S, 3);
	feed_switch(f, 2, 10, 0, R, OTHER(200));
	writes(f, 20, 101);
	FEED(f, SLOT, 20, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK);
	feed_switch(f, 1, 30, 101, S, 0);
	writes(f, 40, 100);
	FEED(f, SLOT, 40, method_enter, .method = 1);
	FEED(f, SLOT, 45, rmi_call, .java_tid = 1, .connection = 3, .call = 1);
	FEED(f, SLOT, 46, rmi_send, .java_tid = 1, .connection = 3, .call = 1, .remote_call = 7);
	if (!_i)
		mark(f, 0, 500, JIS_MARK_STOP);
	feed_wake(f, 2, 550, OTHER(200), OTHER(100), 551);
	feed_switch(f, 2, 600, OTHER(200), S, OTHER(100));
	/* Nothing of it is believed any more. */
	feed_switch(f, 0, 610, 100, S, 103);
	mark(f, 0, 620, JIS_MARK_RESUME);
	feed_dump(f, 630, 103, S, 0);
	done(f);
	ck_assert_str_eq(f->thread_log[0], "run@0 0-500, unknown 500-1000");
	ck_assert_str_eq(f->thread_log[1], "run@1 0-30, sleep 30-500, unknown 500-1000");
	ck_assert_str_eq(f->thread_log[3], "unknown 0-1000");
	ck_assert_str_eq(f->thread_log[6], "unknown 0-10, run@2 10-600, sleep 600-1000");
	ck_assert_str_eq(f->cpu_log[0], "target=100 0-500, unknown 500-1000");
	ck_assert_str_eq(f->cpu_log[2],
			 "unknown 0-10, target=10000200 10-600, target=10000100 600-1000");
	ck_assert_str_eq(java_waits, "T101 monitor Lock@0 20-500... (470)");
	ck_assert_str_eq(told, "under way at the end until 500");
	ck_assert_str_eq(calls, "open 40-500");
	ck_assert_str_eq(f->damages, "");
	feed_free(f);
}
END_TEST

/* Also those of which nothing more is heard: 50 waits on no carrier, 51 is mounted. */
START_TEST(virtual_threads_end_with_their_host)
{
	struct feed *f = hosts_new();

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 50, "", 1), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 51, "", 2), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = NAME_LOCK);
	java_starts(f, 0, 14, 104, 0);
	feed_switch(f, 0, 0, 0, R, 104);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_LOCK);
	FEED(f, SLOT, 21, vthread_unmount, .java_tid = 50);
	FEED(f, SLOT, 30, vthread_mount, .java_tid = 51);
	mark(f, 0, 500, JIS_MARK_STOP);
	ck_assert_str_eq(java_waits, "V50 park Lock@0 20-500... (479)");
	done(f);
	ck_assert_str_eq(vstates[0], "none 0-10, run on T104 10-21, "
				     "sleep park Lock@0 21-500, unknown 500-1000");
	ck_assert_str_eq(vstates[1], "none 0-30, run on T104 30-500, unknown 500-1000");
	feed_free(f);
}
END_TEST

START_TEST(who_has_a_cpu_is_known_where_the_module_recorded)
{
	struct feed *f = hosts_begun();

	ck_assert(f->m->info.waits_known);
	/* A stranger takes the CPU for which another thread waits. */
	feed_wake(f, 0, 20, 100, 103, 21);
	feed_switch(f, 0, 30, 100, R, 77);
	feed_switch(f, 0, 40, 77, R, 103);
	feed_wake(f, 2, 20, OTHER(200), OTHER(100), 51);
	feed_switch(f, 2, 60, OTHER(200), R, OTHER(77));
	feed_end(f);
	ck_assert_str_eq(f->cpu_log[0], "target=100 0-30, foreign=77 30-40, target=103 40-1000");
	ck_assert_str_eq(f->cpu_log[2],
			 "unknown 0-10, target=10000200 10-60, unknown=10000077 60-1000");
	feed_free(f);
}
END_TEST

static void cgroup(struct feed *f, uint32_t cpu, uint32_t number, const char *path)
{
	FEED_TEXT(f, cpu, 10, cgroup_name, path, path, .cgroup = number);
}

START_TEST(cgroups_of_equal_paths_are_those_of_their_hosts)
{
	struct feed *f = hosts_begun();

	cgroup(f, 2, 11, "/a");
	cgroup(f, 0, 1, "/a");
	cgroup(f, 0, 2, "/a/b");
	cgroup(f, 2, 12, "/a/b");
	for (uint32_t i = 0; i < f->m->nr_groups; i++) {
		const struct group *g = &f->m->groups[i];

		if (g->number % 10 == 2)
			ck_assert_uint_eq(f->m->groups[g->above].number, g->number - 1);
		else
			ck_assert_uint_eq(g->above, UINT32_MAX);
	}
	feed_end(f);
	feed_free(f);
}
END_TEST

/* Connections ------------------------------------------------------------------------------- */

static void tell(struct feed *f, uint32_t cpu, uint64_t t, uint32_t pid, int32_t fd,
		 const char *local, uint32_t local_port, const char *peer, uint32_t peer_port)
{
	FEED(f, cpu, t, fd_socket, .pid = pid, .fd = fd, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = local_port, .peer_port = peer_port, .local0 = inet_addr(local),
	     .peer0 = inet_addr(peer));
}

START_TEST(every_host_has_its_own_loopback)
{
	struct feed *f = hosts_begun();

	tell(f, 0, 20, 100, 5, "127.0.0.1", 4000, "127.0.0.1", 80);
	tell(f, 2, 21, OTHER(200), 6, "127.0.0.1", 80, "127.0.0.1", 4000);
	tell(f, 0, 22, 100, 7, "127.0.0.1", 80, "127.0.0.1", 4000);
	done(f);
	ck_assert_str_eq(conns, "100:#3-1 msgs 0, 100:#1-3 msgs 0, 10000200:#2-0 msgs 0");
	feed_free(f);
}
END_TEST

/* Two sessions of one machine. */
START_TEST(one_clock_is_one_loopback)
{
	struct feed *f = hosts_new();

	hosts[1].clock = HOST_CLOCK_SAME;
	why_start(f);
	tell(f, 0, 20, 100, 5, "127.0.0.1", 4000, "127.0.0.1", 80);
	tell(f, 2, 21, OTHER(200), 6, "127.0.0.1", 80, "127.0.0.1", 4000);
	done(f);
	ck_assert_str_eq(conns, "100:#1-2 msgs 0, 10000200:#2-1 msgs 0");
	feed_free(f);
}
END_TEST

START_TEST(an_end_on_the_same_host_goes_first)
{
	struct feed *f = hosts_begun();

	tell(f, 2, 20, OTHER(200), 6, "10.0.0.2", 80, "10.0.0.1", 4000);
	tell(f, 0, 21, 100, 7, "10.0.0.2", 80, "10.0.0.1", 4000);
	tell(f, 0, 22, 100, 5, "10.0.0.1", 4000, "10.0.0.2", 80);
	tell(f, 0, 23, 100, 8, "10.0.0.1", 4001, "10.0.0.2", 80);
	tell(f, 2, 24, OTHER(200), 9, "10.0.0.2", 80, "10.0.0.1", 4001);
	done(f);
	ck_assert_str_eq(conns, "100:#4-5 msgs 0, 100:#3-2 msgs 0, 100:#2-3 msgs 0, "
				"10000200:#5-4 msgs 0, 10000200:#1-0 msgs 0");
	feed_free(f);
}
END_TEST

static void io(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, const char *name, int32_t fd,
	       int64_t result)
{
	FEED(f, cpu, t, syscall_io, .tid = tid, .nr = nr(name), .fd = fd,
	     .size = (uint64_t)AF_INET << 32 | SOCK_STREAM);
	FEED(f, cpu, t + 1, syscall_exit, .tid = tid, .nr = nr(name), .result = result);
}

/* A connection of host 1 to host 0, both ends seen from its begin on. */
static struct feed *connected(uint32_t clock)
{
	struct feed *f = hosts_new();

	hosts[1].clock = clock;
	why_start(f);
	feed_switch(f, 2, 10, 0, R, OTHER(200));
	io(f, 2, 20, OTHER(200), "socket", -1, 6);
	FEED(f, 2, 22, syscall_address, .tid = OTHER(200), .nr = nr("connect"), .fd = 6);
	FEED(f, 2, 23, syscall_exit, .tid = OTHER(200), .nr = nr("connect"), .result = 0);
	tell(f, 2, 24, OTHER(200), 6, "10.0.0.2", 5000, "10.0.0.1", 80);
	FEED(f, 0, 30, syscall_io, .tid = 100, .nr = nr("accept"), .fd = 3);
	tell(f, 0, 31, 100, 7, "10.0.0.1", 80, "10.0.0.2", 5000);
	FEED(f, 0, 32, syscall_exit, .tid = 100, .nr = nr("accept"), .result = 7);
	return f;
}

START_TEST(messages_go_from_host_to_host)
{
	struct feed *f = connected(HOST_CLOCK_CALLS);

	io(f, 2, 40, OTHER(200), "write", 6, 10);
	io(f, 0, 50, 100, "read", 7, 10);
	/* Received before it was sent, as the clocks have it. */
	io(f, 0, 60, 100, "read", 7, 10);
	io(f, 2, 70, OTHER(200), "write", 6, 10);
	io(f, 2, 80, OTHER(200), "write", 6, 10);
	io(f, 0, 90, 100, "read", 7, 10);
	done(f);
	ck_assert_str_eq(links, "10000200@40>100@51, 10000200@80>100@91");
	ck_assert_str_eq(conns, "100:#2-1 msgs 3, 10000200:#1-2 msgs 0");
	feed_free(f);
	/* By more than their error: a send was not recorded, and none after it is known. */
	f = connected(HOST_CLOCK_CALLS);
	io(f, 0, 40, 100, "read", 7, 10);
	io(f, 0, 60, 100, "read", 7, 10);
	io(f, 2, 70, OTHER(200), "write", 6, 10);
	io(f, 0, 90, 100, "read", 7, 10);
	done(f);
	ck_assert_str_eq(links, "");
	feed_free(f);
	f = connected(HOST_CLOCK_REALTIME);
	io(f, 2, 40, OTHER(200), "write", 6, 10);
	io(f, 0, 50, 100, "read", 7, 10);
	done(f);
	ck_assert_str_eq(links, "");
	ck_assert_str_eq(conns, "100:#2-1 msgs 0, 10000200:#1-2 msgs 0");
	feed_free(f);
}
END_TEST

START_TEST(the_connections_of_a_host_end_with_it)
{
	struct feed *f = connected(HOST_CLOCK_CALLS);

	mark(f, 1, 100, JIS_MARK_STOP);
	ck_assert_str_eq(conns, "10000200:#1-2 msgs 0");
	done(f);
	feed_free(f);
}
END_TEST

/* Remote calls ------------------------------------------------------------------------------- */

#define CLIENT(f, t, event, ...)                                                                   \
	do {                                                                                       \
		writes(f, t, 100);                                                                 \
		FEED(f, SLOT, t, event, .java_tid = 1, ##__VA_ARGS__);                             \
	} while (0)
#define SERVER(f, t, event, ...)                                                                   \
	do {                                                                                       \
		FEED(f, SERVER_SLOT, t, thread_bind, .tid = 200);                                  \
		FEED(f, SERVER_SLOT, t, event, .java_tid = 5, ##__VA_ARGS__);                      \
	} while (0)

static void connection(struct feed *f, uint32_t stream, uint32_t id, bool server, const char *local,
		       uint32_t local_port, const char *peer, uint32_t peer_port)
{
	FEED_TEXT(f, stream, 0, rmi_connection, endpoint, "host", .id = id, .server = server,
		  .family = AF_INET, .local_port = local_port, .local0 = inet_addr(local),
		  .peer_port = peer_port, .peer0 = inet_addr(peer));
}

/* Called at 20, served at @served, answered at 40, returned at 50; @uid 0: it has got no answer. */
static void remote_call(struct feed *f, uint64_t served, int64_t uid)
{
	if (served < 20)
		SERVER(f, served, rmi_serve, .connection = 4, .call = 1);
	CLIENT(f, 20, rmi_call, .connection = 3, .call = 1);
	CLIENT(f, 21, rmi_send, .connection = 3, .call = 1, .remote_call = 7);
	if (served >= 20)
		SERVER(f, served, rmi_serve, .connection = 4, .call = 1);
	if (uid)
		SERVER(f, 40, rmi_answer, .connection = 4, .call = 1, .uid_time = uid);
	CLIENT(f, 50, rmi_return, .remote_call = 7, .uid_time = uid,
	       .result = uid ? 0 : JIS_RMI_FAILED);
}

START_TEST(a_call_between_hosts_has_the_error_of_their_clocks)
{
	static const struct {
		uint32_t clock;
		const char *told;
	} cases[] = {
		{HOST_CLOCK_SAME, "UID +-0"},
		{HOST_CLOCK_CALLS, "UID +-15"},
		{HOST_CLOCK_REALTIME, "UID +--1"},
	};
	struct feed *f = hosts_new();

	hosts[1].clock = cases[_i].clock;
	why_start(f);
	remote_call(f, 30, 9);
	feed_end(f);
	ck_assert_str_eq(told, cases[_i].told);
	feed_free(f);
}
END_TEST

START_TEST(served_before_it_was_called_is_another_call_unless_the_clocks_differ)
{
	static const struct {
		uint32_t clock;
		uint64_t served;
		const char *told;
	} cases[] = {
		{HOST_CLOCK_SAME, 19, "no answer, under way at the end until 1000"},
		{HOST_CLOCK_CALLS, 5, "connection +-15"},
		{HOST_CLOCK_CALLS, 4, "no answer, under way at the end until 1000"},
		{HOST_CLOCK_REALTIME, 1, "connection +--1"},
	};
	struct feed *f = hosts_new();

	hosts[1].clock = cases[_i].clock;
	why_start(f);
	connection(f, DICT, 3, false, "10.0.0.1", 4000, "10.0.0.2", 1099);
	connection(f, SERVER_DICT, 4, true, "10.0.0.2", 1099, "10.0.0.1", 4000);
	remote_call(f, cases[_i].served, 0);
	feed_end(f);
	ck_assert_str_eq(told, cases[_i].told);
	feed_free(f);
}
END_TEST

START_TEST(a_call_over_the_loopback_stays_on_its_machine)
{
	struct feed *f = hosts_new();

	hosts[1].clock = _i ? HOST_CLOCK_SAME : HOST_CLOCK_CALLS;
	why_start(f);
	connection(f, DICT, 3, false, "127.0.0.1", 4000, "127.0.0.1", 1099);
	connection(f, SERVER_DICT, 4, true, "127.0.0.1", 1099, "127.0.0.1", 4000);
	remote_call(f, 30, 0);
	feed_end(f);
	ck_assert_str_eq(told,
			 _i ? "connection +-0" : "no answer, under way at the end until 1000");
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model of several hosts");
	TCase *t = tcase_create("hosts");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, equal_numbers_of_two_hosts_are_two_threads);
	tcase_add_test(t, what_one_host_loses_is_nothing_to_the_other);
	tcase_add_test(t, while_one_host_loses_records_the_other_is_believed);
	tcase_add_test(t, a_pause_is_that_of_one_host);
	tcase_add_loop_test(t, a_host_that_ends_is_unknown_from_there_on, 0, 2);
	tcase_add_test(t, virtual_threads_end_with_their_host);
	tcase_add_test(t, who_has_a_cpu_is_known_where_the_module_recorded);
	tcase_add_test(t, cgroups_of_equal_paths_are_those_of_their_hosts);
	tcase_add_test(t, every_host_has_its_own_loopback);
	tcase_add_test(t, one_clock_is_one_loopback);
	tcase_add_test(t, an_end_on_the_same_host_goes_first);
	tcase_add_test(t, messages_go_from_host_to_host);
	tcase_add_test(t, the_connections_of_a_host_end_with_it);
	tcase_add_loop_test(t, a_call_between_hosts_has_the_error_of_their_clocks, 0, 3);
	tcase_add_loop_test(t, served_before_it_was_called_is_another_call_unless_the_clocks_differ,
			    0, 4);
	tcase_add_loop_test(t, a_call_over_the_loopback_stays_on_its_machine, 0, 2);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
