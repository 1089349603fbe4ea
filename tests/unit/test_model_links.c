/* SPDX-License-Identifier: MIT */
/* Connections, who serves them and hands them over, bytes between traced ends, hand-overs of locks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/epoll.h>

#include "test_model_why.h"

static char links[FEED_LOG], conns[FEED_LOG];

static void log_who(char *log, const struct feed *f, const struct model_who *who)
{
	if (who->vthread != MODEL_NO_THREAD)
		feed_log(log, "V%" PRIu64, f->m->info.vthreads[who->vthread].java_tid);
	else if (who->thread == MODEL_NO_THREAD)
		feed_log(log, "T?");
	else
		feed_log(log, "T%u", f->threads[who->thread].tid);
}

static int on_link(void *ctx, const struct model_link *l)
{
	struct feed *f = ctx;

	if (l->kind == MODEL_LINK_WAKEUP)
		return 0;
	feed_log(links, "%s%s ", *links ? ", " : "", model_link_name(l->kind));
	log_who(links, f, &l->from);
	feed_log(links, "@%" PRIu64 ">", l->begin);
	log_who(links, f, &l->to);
	feed_log(links, "@%" PRIu64, l->end);
	if (l->class_name)
		feed_log(links, " %s@%x", model_name(f->m, l->class_name), l->hash);
	if (l->connection)
		feed_log(links, " #%" PRIu64, l->connection);
	if (l->bytes)
		feed_log(links, " %" PRIu64, l->bytes);
	return 0;
}

static void log_time(const char *what, uint64_t t)
{
	if (t == TIME_NONE)
		feed_log(conns, " %s -", what);
	else
		feed_log(conns, " %s %" PRIu64, what, t);
}

static int on_connection(void *ctx, const struct model_connection *c)
{
	struct feed *f = ctx;
	char text[MODEL_ADDRESS_ROOM];

	feed_log(conns, "%s#%" PRIu64 " %s%s", *conns ? "; " : "", c->number,
		 model_origin_name(c->origin), c->complete ? "" : "?");
	if (c->family) {
		model_address_text(c, false, text);
		feed_log(conns, " %s", text);
		model_address_text(c, true, text);
		feed_log(conns, "-%s", text);
	}
	log_time("open", c->opened);
	log_time("first", c->first_byte);
	log_time("last", c->last_byte);
	log_time("close", c->closed);
	feed_log(conns, " in %" PRIu64 " out %" PRIu64 " calls %" PRIu64 " req %" PRIu64,
		 c->bytes_in, c->bytes_out, c->calls, c->requests);
	feed_log(conns, " handed %" PRIu64 " kept %" PRIu64 " by", c->handovers, c->kept);
	for (uint32_t i = 0; i < c->nr_threads; i++) {
		feed_log(conns, " ");
		log_who(conns, f, &c->threads[i]);
	}
	if (c->other_end)
		feed_log(conns, " end %" PRIu64 " msgs %" PRIu64, c->other_end, c->messages);
	return 0;
}

/* Two processes: the JVM of test_model_why.h, and 200. */
static struct feed *links_new(void)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	links[0] = conns[0] = 0;
	feed_process(f, 200, "client");
	feed_thread(f, 200, 200, ALIVE, ALIVE, "client");
	sink = (struct model_sink){.link = on_link, .connection = on_connection, .ctx = f};
	f->sinks[f->nr_sinks++] = &sink;
	why_start(f);
	feed_switch(f, 2, 0, 0, R, 102);
	feed_switch(f, 3, 0, 0, R, 200);
	return f;
}

static void done(struct feed *f)
{
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
	feed_free(f);
}

static void leave_call(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, const char *call,
		       int64_t result)
{
	FEED(f, cpu, t, syscall_exit, .tid = tid, .nr = nr(call), .result = result);
}

/* A call of one tick. */
static void call(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, const char *name,
		 int32_t fd, uint64_t size, int64_t result)
{
	FEED(f, cpu, t, syscall_io, .tid = tid, .nr = nr(name), .fd = fd, .size = size);
	leave_call(f, cpu, t + 1, tid, name, result);
}

static void epoll_wait_call(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, int64_t result)
{
	FEED(f, cpu, t, syscall_wait, .tid = tid, .nr = nr("epoll_wait"), .fd = 5, .count = 10,
	     .timeout = -1);
	leave_call(f, cpu, t + 1, tid, "epoll_wait", result);
}

static void epoll_ctl_call(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, uint32_t op,
			   int32_t fd)
{
	call(f, cpu, t, tid, "epoll_ctl", 5, (uint64_t)op << 32 | (uint32_t)fd, 0);
}

static void connect_call(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, int32_t fd,
			 int64_t result)
{
	FEED(f, cpu, t, syscall_address, .tid = tid, .nr = nr("connect"), .fd = fd);
	leave_call(f, cpu, t + 1, tid, "connect", result);
}

static void tell(struct feed *f, uint32_t cpu, uint64_t t, uint32_t pid, int32_t fd, uint32_t local,
		 uint32_t peer)
{
	uint64_t address = htonl(INADDR_LOOPBACK);

	FEED(f, cpu, t, fd_socket, .pid = pid, .fd = fd, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = local, .peer_port = peer, .local0 = address,
	     .peer0 = peer ? address : 0);
}

START_TEST(who_accepts_hands_over_to_who_reads)
{
	struct feed *f = links_new();

	call(f, 0, 10, 100, "accept4", 3, 0, 7);
	call(f, 1, 20, 101, "read", 7, 100, 40);
	call(f, 1, 30, 101, "read", 7, 100, 2);
	call(f, 1, 40, 101, "write", 7, 50, 50);
	call(f, 1, 50, 101, "read", 7, 100, 40);
	call(f, 1, 60, 101, "write", 7, 50, 50);
	call(f, 1, 70, 101, "read", 7, 100, 0);
	call(f, 1, 80, 101, "close", 7, 0, 0);
	call(f, 1, 90, 101, "read", 7, 100, 40); /* a file by now */
	done(f);
	ck_assert_str_eq(links, "socket T100@11>T101@20 #1 40");
	ck_assert_str_eq(conns,
			 "#1 accepted open 11 first 21 last 61 close 81 in 82 out 100 calls 7 "
			 "req 2 handed 1 kept 1 by T101");
}
END_TEST

/* 101 waits for a Lock during [t, t + 3]. */
static void waits_at(struct feed *f, uint64_t t)
{
	writes(f, t, 101);
	FEED(f, SLOT, t, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 1);
	FEED(f, SLOT, t + 3, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 1);
}

START_TEST(who_has_read_a_request_works_until_it_looks_for_the_next)
{
	struct feed *f = links_new();

	waits_at(f, 12);
	call(f, 0, 16, 100, "accept4", 3, 0, 7);
	call(f, 1, 20, 101, "read", 7, 100, 40);
	waits_at(f, 22);
	connect_call(f, 1, 26, 101, 8, 0);
	call(f, 1, 28, 101, "write", 8, 50, 50);
	call(f, 1, 30, 101, "read", 8, 50, 50); /* what it asked for itself */
	waits_at(f, 32);
	call(f, 1, 40, 101, "write", 7, 50, 50);
	call(f, 1, 42, 101, "read", 7, 100, -EAGAIN);
	waits_at(f, 44);
	call(f, 1, 50, 101, "read", 7, 100, 40);
	epoll_wait_call(f, 1, 52, 101, 0);
	waits_at(f, 54);
	call(f, 1, 60, 101, "read", 7, 100, 40);
	waits_at(f, 62);
	call(f, 1, 66, 101, "close", 7, 0, 0);
	waits_at(f, 70);
	done(f);
	ck_assert_str_eq(java_waits,
			 "T101 monitor Lock@1 12-15, T101 monitor Lock@1 22-25 in work, "
			 "T101 monitor Lock@1 32-35 in work, T101 monitor Lock@1 44-47, "
			 "T101 monitor Lock@1 54-57, T101 monitor Lock@1 62-65 in work, "
			 "T101 monitor Lock@1 70-73");
}
END_TEST

static void queue_put(struct feed *f, uint64_t t, uint32_t tid, uint32_t hash, uint32_t queue)
{
	writes(f, t, tid);
	FEED(f, SLOT, t, queue_put, .java_tid = tid - 99, .class_name = NAME_OTHER, .hash = hash,
	     .queue_class = NAME_SYNC, .queue_hash = queue);
}

static void queue_take(struct feed *f, uint64_t t, uint32_t tid, uint32_t hash, uint32_t queue)
{
	writes(f, t, tid);
	FEED(f, SLOT, t, queue_take, .java_tid = tid - 99, .class_name = NAME_OTHER, .hash = hash,
	     .queue_class = NAME_SYNC, .queue_hash = queue);
}

START_TEST(an_object_goes_from_who_puts_it_in_to_who_takes_it_out)
{
	struct feed *f = links_new();

	queue_put(f, 10, 100, 7, 1);
	queue_put(f, 12, 100, 8, 1);
	queue_put(f, 14, 101, 7, 2);  /* in another queue */
	queue_put(f, 16, 100, 7, 1);  /* once more */
	queue_take(f, 20, 101, 8, 1); /* in no order */
	queue_take(f, 22, 101, 7, 1); /* the oldest one */
	queue_take(f, 24, 101, 9, 1); /* nobody has put it in */
	queue_take(f, 26, 100, 7, 2);
	queue_take(f, 28, 100, 7, 1);
	queue_take(f, 30, 100, 7, 1); /* there is none left */
	/* A task of a pool is none. */
	writes(f, 40, 100);
	FEED(f, SLOT, 40, task_submit, .java_tid = 1, .class_name = NAME_OTHER, .hash = 5,
	     .pool_class = NAME_LOCK, .pool_hash = 3, .queued = -1);
	queue_put(f, 42, 100, 5, 1);
	queue_take(f, 44, 101, 5, 1);
	done(f);
	ck_assert_str_eq(links, "queue T100@12>T101@20 Sync@1, queue T100@10>T101@22 Sync@1, "
				"queue T101@14>T100@26 Sync@2, queue T100@16>T100@28 Sync@1");
}
END_TEST

START_TEST(lost_records_forget_what_is_in_queues)
{
	struct feed *f = links_new();

	for (uint32_t i = 0; i < 1000; i++)
		queue_put(f, 10, 100, i, 1);
	queue_take(f, 12, 101, 999, 1);
	queues_lost(f->m, 1);
	queue_take(f, 14, 101, 998, 1);
	queues_lost(f->m, 0);
	queue_take(f, 16, 101, 997, 1);
	done(f);
	ck_assert_str_eq(links, "queue T100@10>T101@12 Sync@1, queue T100@10>T101@14 Sync@1");
}
END_TEST

START_TEST(who_polls_hands_over_each_request)
{
	struct feed *f = links_new();

	/* As Tomcat does: 100 accepts, 102 polls and unregisters what is ready, 101 works. */
	call(f, 0, 10, 100, "accept4", 3, 0, 7);
	epoll_ctl_call(f, 2, 20, 102, EPOLL_CTL_ADD, 7);
	epoll_wait_call(f, 2, 25, 102, 1);
	call(f, 1, 30, 101, "read", 7, 100, 40); /* before it is taken out */
	epoll_ctl_call(f, 2, 32, 102, EPOLL_CTL_DEL, 7);
	epoll_wait_call(f, 2, 34, 102, 1); /* of another */
	call(f, 1, 40, 101, "write", 7, 50, 50);
	call(f, 1, 44, 101, "read", 7, 100, -EAGAIN);
	epoll_ctl_call(f, 2, 50, 102, EPOLL_CTL_ADD, 7);
	epoll_wait_call(f, 2, 55, 102, 1);
	epoll_ctl_call(f, 2, 60, 102, EPOLL_CTL_DEL, 7);
	epoll_wait_call(f, 2, 65, 102, 1);
	call(f, 0, 70, 100, "read", 7, 100, 40); /* another, and after it is taken out */
	call(f, 0, 75, 100, "write", 7, 50, 50);
	call(f, 0, 80, 100, "read", 7, 100, 40); /* at once: nobody hands it over */
	call(f, 0, 85, 100, "write", 7, 50, 50);
	epoll_ctl_call(f, 2, 90, 102, EPOLL_CTL_ADD, 7);
	epoll_wait_call(f, 2, 95, 102, 1);
	call(f, 0, 100, 100, "read", 7, 100, 0); /* the end is no request */
	done(f);
	ck_assert_str_eq(links, "socket T102@26>T101@30 #1 40, socket T102@56>T100@70 #1 40");
	ck_assert_str_eq(conns,
			 "#1 accepted open 11 first 31 last 86 close - in 120 out 150 calls 8 "
			 "req 3 handed 2 kept 1 by T101 T100");
}
END_TEST

START_TEST(one_given_back_before_it_is_taken_out_stays_in)
{
	struct feed *f = links_new();

	call(f, 0, 10, 100, "accept4", 3, 0, 7);
	epoll_ctl_call(f, 2, 20, 102, EPOLL_CTL_ADD, 7);
	epoll_wait_call(f, 2, 25, 102, 1);
	call(f, 1, 30, 101, "read", 7, 100, 40);
	call(f, 1, 32, 101, "write", 7, 50, 50);
	epoll_wait_call(f, 2, 40, 102, 1);
	epoll_ctl_call(f, 2, 44, 102, EPOLL_CTL_DEL, 7);
	epoll_wait_call(f, 2, 48, 102, 1);
	call(f, 1, 50, 101, "read", 7, 100, 40);
	done(f);
	ck_assert_str_eq(links, "socket T102@26>T101@30 #1 40, socket T102@41>T101@50 #1 40");
}
END_TEST

START_TEST(one_that_stays_registered_is_handed_over_once_a_request)
{
	struct feed *f = links_new();

	call(f, 0, 10, 100, "accept4", 3, 0, 7);
	epoll_ctl_call(f, 2, 20, 102, EPOLL_CTL_ADD, 7);
	for (uint64_t t = 100; t < 300; t += 100) {
		epoll_wait_call(f, 2, t, 102, 1);
		call(f, 1, t + 10, 101, "read", 7, 10, 10);
		epoll_wait_call(f, 2, t + 20, 102, 1);
		call(f, 1, t + 30, 101, "read", 7, 10, 10);
		call(f, 1, t + 40, 101, "write", 7, 50, 50);
	}
	/* Who polls and reads itself hands nothing over. */
	epoll_wait_call(f, 2, 400, 102, 1);
	call(f, 2, 410, 102, "read", 7, 10, 10);
	done(f);
	ck_assert_str_eq(links, "socket T102@101>T101@110 #1 10, socket T102@201>T101@210 #1 10");
	ck_assert_str_eq(conns,
			 "#1 accepted open 11 first 111 last 411 close - in 50 out 100 calls 7 "
			 "req 3 handed 2 kept 1 by T101 T102");
}
END_TEST

START_TEST(what_is_no_stream_of_the_internet_is_no_connection)
{
	struct feed *f = links_new();

	call(f, 0, 10, 100, "socket", -1, (uint64_t)AF_UNIX << 32 | SOCK_STREAM, 7);
	connect_call(f, 0, 12, 100, 7, 0);
	call(f, 0, 14, 100, "write", 7, 5, 5);
	call(f, 0, 20, 100, "socket", -1, (uint64_t)AF_INET << 32 | SOCK_DGRAM | SOCK_CLOEXEC, 8);
	connect_call(f, 0, 22, 100, 8, 0);
	call(f, 0, 30, 100, "socket", -1, (uint64_t)AF_INET6 << 32 | SOCK_STREAM | SOCK_NONBLOCK,
	     9);
	connect_call(f, 0, 32, 100, 9, -ECONNREFUSED);
	connect_call(f, 0, 34, 100, 9, -EINPROGRESS);
	connect_call(f, 0, 36, 100, 9, 0);
	call(f, 0, 40, 100, "dup2", 4, 0, 9); /* as the JDK does before it closes */
	call(f, 0, 42, 100, "close", 9, 0, 0);
	done(f);
	ck_assert_str_eq(links, "");
	ck_assert_str_eq(conns, "#1 connected open 35 first - last - close 41 in 0 out 0 calls 0 "
				"req 0 handed 0 kept 0 by");
}
END_TEST

START_TEST(both_ends_of_a_connection_find_one_another)
{
	struct feed *f = links_new();

	call(f, 3, 10, 200, "socket", -1, (uint64_t)AF_INET << 32 | SOCK_STREAM, 6);
	connect_call(f, 3, 12, 200, 6, 0);
	tell(f, 3, 20, 200, 6, 5000, 80);
	/* The receiver is done before the sender. */
	FEED(f, 3, 21, syscall_io, .tid = 200, .nr = nr("write"), .fd = 6, .size = 10);
	FEED(f, 0, 22, syscall_io, .tid = 100, .nr = nr("accept"), .fd = 3);
	tell(f, 0, 23, 100, 7, 80, 5000);
	leave_call(f, 0, 24, 100, "accept", 7);
	call(f, 1, 30, 101, "read", 7, 100, 10);
	leave_call(f, 3, 40, 200, "write", 10);
	/* One send in two receives, two sends in one. */
	call(f, 1, 50, 101, "write", 7, 100, 100);
	call(f, 3, 60, 200, "read", 6, 60, 60);
	call(f, 3, 70, 200, "read", 6, 60, 40);
	call(f, 1, 80, 101, "write", 7, 1, 1);
	call(f, 1, 90, 101, "write", 7, 2, 2);
	call(f, 3, 100, 200, "read", 6, 60, 3);
	tell(f, 3, 110, 200, 6, 5000, 80); /* told again, it is the same */
	call(f, 3, 120, 200, "close", 6, 0, 0);
	call(f, 1, 130, 101, "close", 7, 0, 0);
	done(f);
	ck_assert_str_eq(links, "socket T100@24>T101@30 #2 10, message T200@21>T101@31 #2 10, "
				"message T101@50>T200@71 #1 100, message T101@80>T200@101 #1 1, "
				"message T101@90>T200@101 #1 2");
	ck_assert_str_eq(conns,
			 "#1 connected 127.0.0.1:5000-127.0.0.1:80 open 13 first 40 last 101 "
			 "close 121 in 103 out 10 calls 5 req 1 handed 0 kept 1 by T200 end 2 "
			 "msgs 3; "
			 "#2 accepted 127.0.0.1:80-127.0.0.1:5000 open 24 first 31 last 91 "
			 "close 131 in 10 out 103 calls 5 req 1 handed 1 kept 0 by T101 end 1 "
			 "msgs 1");
}
END_TEST

/* Thread 101 polls, and 200's call on the other end of 7 ends that, or something else does. */
static void polled(const char *name, int32_t fd, uint32_t context, const char *why)
{
	struct feed *f = links_new();

	call(f, 3, 10, 200, "socket", -1, (uint64_t)AF_INET << 32 | SOCK_STREAM, 6);
	connect_call(f, 3, 12, 200, 6, 0);
	tell(f, 3, 20, 200, 6, 5000, 80);
	FEED(f, 0, 22, syscall_io, .tid = 100, .nr = nr("accept"), .fd = 3);
	tell(f, 0, 23, 100, 7, 80, 5000);
	leave_call(f, 0, 24, 100, "accept", 7);
	FEED_TEXT(f, 0, 25, fd_file, path, "anon_inode:[eventpoll]", .pid = 100, .fd = 5,
		  .type = JIS_FD_EPOLL);
	epoll_ctl_call(f, 0, 26, 100, EPOLL_CTL_ADD, 7);
	FEED(f, 1, 30, syscall_wait, .tid = 101, .nr = nr("epoll_wait"), .fd = 5, .count = 10,
	     .timeout = -1);
	leaves(f, 1, 40, 101, S, "epoll_wait", 4, 2);
	FEED(f, 3, 50, syscall_io, .tid = 200, .nr = nr(name), .fd = fd, .size = 10);
	FEED(f, 3, 52, sched_waking, .tid = 101, .waker_tid = 200, .context = context);
	FEED(f, 3, 53, sched_wakeup, .tid = 101);
	leave_call(f, 3, 54, 200, name, 10);
	comes(f, 1, 55, 101);
	leave_call(f, 1, 56, 101, "epoll_wait", 1);
	feed_end(f);
	ck_assert_msg(strstr(reasons[1], why), "%s instead of %s", reasons[1], why);
	feed_free(f);
}

START_TEST(the_end_of_a_poll_is_the_connection_that_was_sent_on)
{
	polled("write", 6, JIS_WAKER_SOFTIRQ, "poll fd 5 '127.0.0.1:5000' 40-53");
	polled("close", 6, JIS_WAKER_SOFTIRQ, "poll fd 5 '127.0.0.1:5000' 40-53");
	/* On another descriptor, in a call that sends nothing, by an interrupt. */
	polled("write", 8, JIS_WAKER_SOFTIRQ, "poll fd 5 'anon_inode:[eventpoll]' 40-53");
	polled("read", 6, JIS_WAKER_SOFTIRQ, "poll fd 5 'anon_inode:[eventpoll]' 40-53");
	polled("write", 6, JIS_WAKER_HARDIRQ, "poll fd 5 'anon_inode:[eventpoll]' 40-53");
}
END_TEST

START_TEST(one_that_was_there_has_no_messages)
{
	struct feed *f = links_new();

	tell(f, 3, 20, 200, 6, 5000, 80);
	call(f, 3, 21, 200, "write", 6, 10, 10);
	tell(f, 1, 30, 100, 7, 80, 5000);
	call(f, 1, 31, 101, "read", 7, 100, 10);
	/* The descriptor is another's, without that its closing was recorded. */
	tell(f, 1, 40, 100, 7, 80, 5001);
	call(f, 1, 41, 101, "read", 7, 100, 5);
	done(f);
	ck_assert_str_eq(links, "");
	ck_assert_str_eq(conns,
			 "#2 before? 127.0.0.1:80-127.0.0.1:5000 open 30 first 32 last 32 close "
			 "40 in 10 out 0 calls 1 req 1 handed 0 kept 1 by T101 end 1 msgs 0; "
			 "#3 before? 127.0.0.1:80-127.0.0.1:5001 open 40 first 42 last 42 "
			 "close - in 5 out 0 calls 1 req 1 handed 0 kept 1 by T101; "
			 "#1 before? 127.0.0.1:5000-127.0.0.1:80 open 20 first 22 last 22 "
			 "close - in 0 out 10 calls 1 req 0 handed 0 kept 0 by T200 end 2 "
			 "msgs 0");
}
END_TEST

START_TEST(lost_records_make_a_connection_incomplete)
{
	struct feed *f = links_new();

	call(f, 3, 10, 200, "socket", -1, (uint64_t)AF_INET << 32 | SOCK_STREAM, 6);
	connect_call(f, 3, 12, 200, 6, 0);
	tell(f, 3, 20, 200, 6, 5000, 80);
	call(f, 3, 21, 200, "write", 6, 10, 10);
	FEED(f, 0, 22, syscall_io, .tid = 100, .nr = nr("accept"), .fd = 3);
	tell(f, 0, 23, 100, 7, 80, 5000);
	leave_call(f, 0, 24, 100, "accept", 7);
	FEED(f, 2, 30, lost_records, .type = 0, .count = 3, .first = 25, .last = 30);
	feed_switch(f, 1, 40, 0, R, 101);
	call(f, 1, 41, 101, "read", 7, 100, 10);
	feed_end(f);
	ck_assert_str_eq(links, "");
	ck_assert_ptr_nonnull(strstr(conns, "#2 accepted? "));
	ck_assert_ptr_nonnull(strstr(conns, "#1 connected? "));
	feed_free(f);
}
END_TEST

START_TEST(a_monitor_goes_from_who_let_it_go_to_the_next_owner)
{
	struct feed *f = links_new();

	writes(f, 10, 101);
	FEED(f, SLOT, 10, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab, .owner_tid = 100, .owner_java_tid = 1);
	leaves(f, 1, 12, 101, S, "futex", 0, 0);
	/* Woken for a safepoint by the VM's own thread, which gives nothing. */
	feed_wake(f, 2, 20, 102, 101, 21);
	comes(f, 1, 22, 101);
	leaves(f, 1, 24, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 40, 100, 101, 41);
	comes(f, 1, 45, 101);
	FEED(f, SLOT, 50, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	/* Got without a wake-up: nobody gave it. */
	FEED(f, SLOT, 60, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	FEED(f, SLOT, 65, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	/* Given it, and stopped before it said so. */
	FEED(f, SLOT, 70, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	leaves(f, 1, 72, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 74, 100, 101, 75);
	comes(f, 1, 76, 101);
	leaves(f, 1, 77, 101, S, "futex", 0, 0);
	feed_wake(f, 2, 78, 102, 101, 79);
	comes(f, 1, 80, 101);
	FEED(f, SLOT, 82, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	/* Of its way back to a CPU only who woke it is recorded. */
	FEED(f, SLOT, 84, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	leaves(f, 1, 86, 101, S, "futex", 0, 0);
	FEED(f, 0, 90, sched_waking, .tid = 101, .waker_tid = 100, .context = JIS_WAKER_TASK);
	FEED(f, SLOT, 92, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	done(f);
	ck_assert_str_eq(links, "monitor T100@40>T101@50 Lock@ab, monitor T100@74>T101@82 Lock@ab, "
				"monitor T100@90>T101@92 Lock@ab");
}
END_TEST

START_TEST(parks_are_locks_when_somebody_owns_them)
{
	struct feed *f = links_new();

	writes(f, 10, 101);
	FEED(f, SLOT, 10, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5,
	     .owner_tid = 100, .timeout = -1);
	leaves(f, 1, 12, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 40, 100, 101, 41);
	comes(f, 1, 45, 101);
	FEED(f, SLOT, 50, park_end, .java_tid = 2);
	FEED(f, SLOT, 60, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5,
	     .timeout = 9);
	leaves(f, 1, 62, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 70, 100, 101, 71);
	comes(f, 1, 75, 101);
	FEED(f, SLOT, 80, park_end, .java_tid = 2);
	/* By a timer: nobody gave it. */
	FEED(f, SLOT, 90, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5,
	     .timeout = 9);
	leaves(f, 1, 92, 101, S, "futex", 0, 0);
	FEED(f, 0, 95, sched_waking, .tid = 101, .waker_tid = 100, .context = JIS_WAKER_TIMER);
	FEED(f, 0, 95, sched_wakeup, .tid = 101);
	comes(f, 1, 97, 101);
	FEED(f, SLOT, 99, park_end, .java_tid = 2);
	FEED(f, SLOT, 110, monitor_wait, .java_tid = 2, .class_name = NAME_OTHER, .hash = 6,
	     .timeout = -1);
	leaves(f, 1, 112, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 120, 100, 101, 121);
	comes(f, 1, 125, 101);
	FEED(f, SLOT, 130, monitor_waited, .java_tid = 2, .class_name = NAME_OTHER, .hash = 6);
	done(f);
	ck_assert_str_eq(links, "lock T100@40>T101@50 Sync@5, unpark T100@70>T101@80 Sync@5, "
				"notify T100@120>T101@130 Other@6");
}
END_TEST

START_TEST(a_descriptor_told_of_late_had_its_name_before)
{
	struct feed *f = links_new();

	FEED(f, 1, 10, syscall_io, .tid = 101, .nr = nr("read"), .fd = 9, .size = 1);
	leaves(f, 1, 12, 101, S, "read", 0, 0);
	FEED_TEXT(f, 0, 20, fd_file, path, "pipe:[7]", .pid = 100, .fd = 9, .type = JIS_FD_PIPE,
		  .age = 15);
	feed_wake(f, 0, 30, 100, 101, 31);
	comes(f, 1, 35, 101);
	leave_call(f, 1, 36, 101, "read", 1);
	done(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "pipe fd 9 'pipe:[7]' 12-31"));
}
END_TEST

START_TEST(an_accept_that_was_under_way_has_a_connection)
{
	struct feed *f = links_new();

	leave_call(f, 0, 10, 100, "accept", 7);
	call(f, 1, 20, 101, "read", 7, 100, 40);
	leave_call(f, 3, 30, 200, "read", 5); /* of what is not known */
	tell(f, 3, 40, 200, 9, 80, 5000);
	leave_call(f, 3, 40, 200, "accept4", 9);
	done(f);
	ck_assert_str_eq(links, "socket T100@10>T101@20 #1 40");
	ck_assert_ptr_nonnull(strstr(conns, "#1 accepted open 10 first 21 "));
	ck_assert_ptr_nonnull(
		strstr(conns, "#2 accepted 127.0.0.1:80-127.0.0.1:5000 open 40 first - "));
}
END_TEST

START_TEST(a_process_takes_its_connections_with_it)
{
	struct feed *f = links_new();

	f->m->threads[6].death = f->m->runs[1].end = 500;
	call(f, 3, 10, 200, "accept4", 3, 0, 7);
	call(f, 0, 20, 100, "accept4", 3, 0, 7);
	FEED(f, 3, 490, sched_process_exit, .tid = 200, .pid = 200);
	FEED(f, 0, 495, sched_process_exit, .tid = 100, .pid = 100);
	ck_assert_ptr_null(f->m->runs[1].conns);
	ck_assert_ptr_nonnull(f->m->runs[0].conns);
	ck_assert_str_eq(conns, "#1 accepted open 11 first - last - close 490 in 0 out 0 calls 0 "
				"req 0 handed 0 kept 0 by");
	done(f);
}
END_TEST

static void mounts(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_mount, .java_tid = java_tid);
}

static void unmounts(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_unmount, .java_tid = java_tid);
}

/* Two virtual threads on one carrier are two; the same one on another carrier is the same. */
START_TEST(virtual_threads_hand_over_as_themselves)
{
	struct feed *f = why_new();
	static struct model_sink sink;

	links[0] = conns[0] = 0;
	sink = (struct model_sink){.link = on_link, .connection = on_connection, .ctx = f};
	f->sinks[f->nr_sinks++] = &sink;
	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 50, "one", 1), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 51, "two", 1), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = NAME_LOCK);
	java_starts(f, 0, 14, 104, 0);
	java_starts(f, 0, 15, 105, 0);
	java_starts(f, 1, 50, 0, JIS_JTHREAD_VIRTUAL);
	java_starts(f, 1, 51, 0, JIS_JTHREAD_VIRTUAL);
	feed_switch(f, 2, 2, 0, R, 104);
	feed_switch(f, 3, 2, 0, R, 105);
	mounts(f, 5, 104, 50);
	call(f, 2, 10, 104, "accept4", 3, 0, 7);
	FEED(f, SLOT, 15, park_begin, .java_tid = 50, .class_name = NAME_LOCK, .hash = 9,
	     .timeout = -1);
	unmounts(f, 20, 104, 50);
	mounts(f, 30, 104, 51);
	call(f, 2, 40, 104, "read", 7, 100, 40);
	FEED(f, SLOT, 45, unpark, .java_tid = 51, .target_java_tid = 50);
	unmounts(f, 50, 104, 51);
	mounts(f, 60, 105, 51);
	call(f, 3, 70, 105, "write", 7, 10, 10);
	call(f, 3, 80, 105, "read", 7, 100, 40);
	mounts(f, 90, 104, 50);
	FEED(f, SLOT, 92, park_end, .java_tid = 50);
	feed_end(f);
	feed_free(f);
	ck_assert_str_eq(links, "socket V50@11>V51@40 #1 40, unpark V51@45>V50@92 Lock@9");
	ck_assert_str_eq(conns, "#1 accepted open 11 first 41 last 81 close - in 80 out 10 calls 3 "
				"req 2 handed 1 kept 1 by V51");
}
END_TEST

/* Connections are forgotten when they are closed: their number does not make the model grow. */
START_TEST(closed_connections_take_no_memory)
{
	struct feed *f = links_new();
	uint32_t open = 0;

	for (uint32_t i = 0; i < 300; i++) {
		call(f, 0, 10 + 2 * i, 100, "accept4", 3, 0, 7 + (int)(i % 3));
		conns[0] = 0;
	}
	ck_assert_ptr_nonnull(f->m->runs[0].conns);
	for (uint32_t fd = 7; fd < 10; fd++)
		open += fd_find(f->m, 0, (int)fd)->conn != NULL;
	ck_assert_uint_eq(open, 3);
	done(f);
	ck_assert_ptr_null(strstr(conns, "#297 "));
	ck_assert_ptr_nonnull(strstr(conns, "#298 "));
	ck_assert_ptr_nonnull(strstr(conns, "#300 "));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_links");
	TCase *t = tcase_create("links");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, who_accepts_hands_over_to_who_reads);
	tcase_add_test(t, who_has_read_a_request_works_until_it_looks_for_the_next);
	tcase_add_test(t, an_object_goes_from_who_puts_it_in_to_who_takes_it_out);
	tcase_add_test(t, lost_records_forget_what_is_in_queues);
	tcase_add_test(t, who_polls_hands_over_each_request);
	tcase_add_test(t, one_given_back_before_it_is_taken_out_stays_in);
	tcase_add_test(t, one_that_stays_registered_is_handed_over_once_a_request);
	tcase_add_test(t, what_is_no_stream_of_the_internet_is_no_connection);
	tcase_add_test(t, both_ends_of_a_connection_find_one_another);
	tcase_add_test(t, the_end_of_a_poll_is_the_connection_that_was_sent_on);
	tcase_add_test(t, one_that_was_there_has_no_messages);
	tcase_add_test(t, lost_records_make_a_connection_incomplete);
	tcase_add_test(t, a_monitor_goes_from_who_let_it_go_to_the_next_owner);
	tcase_add_test(t, parks_are_locks_when_somebody_owns_them);
	tcase_add_test(t, a_descriptor_told_of_late_had_its_name_before);
	tcase_add_test(t, an_accept_that_was_under_way_has_a_connection);
	tcase_add_test(t, a_process_takes_its_connections_with_it);
	tcase_add_test(t, virtual_threads_hand_over_as_themselves);
	tcase_add_test(t, closed_connections_take_no_memory);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
