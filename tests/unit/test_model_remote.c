/* SPDX-License-Identifier: MIT */
/* Remote calls: both ends in one piece, and each reason for which there is only one. */
#include <sys/socket.h>

#include "test_model_why.h"

#define SERVER_SLOT FEED_SLOT(1)
#define SERVER_DICT FEED_DICT(1)

static char calls[FEED_LOG];

static int on_remote(void *ctx, const struct model_remote_call *c)
{
	(void)ctx;
	feed_log(calls, "%s%s", *calls ? ", " : "", model_remote_match_name(c->match));
	if (c->client.known)
		feed_log(calls, " C%u#%u", c->client.connection, c->client.call);
	if (c->server.known)
		feed_log(calls, " S%u#%u", c->server.connection, c->server.call);
	for (int i = 0; i < MODEL_NR_REMOTE_MOMENTS; i++)
		if (c->at[i] != TIME_NONE)
			feed_log(calls, " %.2s@%" PRIu64,
				 model_remote_moment_name((enum model_remote_moment)i), c->at[i]);
	if (c->internal)
		feed_log(calls, " internal");
	if (c->disagrees)
		feed_log(calls, " disagrees");
	if (c->client.result)
		feed_log(calls, " result %u", c->client.result);
	return 0;
}

/* The JVM of test_model_why.h, and 200, whose thread is Java thread 5. */
static struct feed *remote_in_window(const struct model_options *options, bool cut)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	calls[0] = 0;
	feed_process(f, 200, "server");
	feed_thread(f, 200, 200, ALIVE, ALIVE, "server");
	feed_thread(f, 200, 201, ALIVE, ALIVE, "worker");
	sink = (struct model_sink){.remote = on_remote, .ctx = f, .wants_cut_remotes = cut};
	f->sinks[f->nr_sinks++] = &sink;
	why_start_with(f, options);
	return f;
}

static struct feed *remote_new_feed(void)
{
	return remote_in_window(NULL, false);
}

static void done(struct feed *f)
{
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
	feed_free(f);
}

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

/* Up to when it is sent, at t and t + 1. */
static void sends(struct feed *f, uint64_t t, uint32_t connection, uint32_t call, uint32_t object)
{
	CLIENT(f, t, rmi_call, .connection = connection, .call = call, .operation = -1,
	       .object = 77, .space_time = 9);
	CLIENT(f, t + 1, rmi_send, .connection = connection, .call = call, .remote_call = object);
}

static void returns(struct feed *f, uint64_t t, uint32_t object, int64_t uid, uint32_t result)
{
	CLIENT(f, t, rmi_return, .remote_call = object, .result = result, .uid_time = uid,
	       .uid_count = 1);
}

/* Serves it from t to t + 3. */
static void serves(struct feed *f, uint64_t t, uint32_t connection, uint32_t call, int64_t uid)
{
	SERVER(f, t, rmi_serve, .connection = connection, .call = call);
	SERVER(f, t + 1, rmi_dispatch, .object = 77, .space_time = 9);
	SERVER(f, t + 2, rmi_result, .result = 0);
	SERVER(f, t + 3, rmi_answer, .connection = connection, .call = call, .uid_time = uid,
	       .uid_count = 1);
}

/* Connection 3 of the client is connection 4 of the server. */
static void connections(struct feed *f, uint64_t t, uint32_t client_port)
{
	FEED_TEXT(f, DICT, t, rmi_connection, endpoint, "host:1", .id = 3, .family = AF_INET,
		  .local_port = client_port, .local0 = 1, .peer_port = 1099, .peer0 = 2);
	FEED_TEXT(f, SERVER_DICT, t, rmi_connection, endpoint, "host:2", .id = 4, .server = 1,
		  .family = AF_INET, .local_port = 1099, .local0 = 2, .peer_port = client_port,
		  .peer0 = 1);
}

START_TEST(the_two_ends_of_a_call_are_one)
{
	struct feed *f = remote_new_feed();

	CLIENT(f, 10, rmi_invoke, .method = 0);
	sends(f, 12, 3, 1, 0xa);
	serves(f, 20, 4, 1, 500);
	CLIENT(f, 30, rmi_reply, .connection = 3, .call = 1);
	returns(f, 32, 0xa, 500, 0);
	/* The registry's; its thrown exception. */
	CLIENT(f, 40, rmi_call, .connection = 3, .call = 2, .operation = 2);
	CLIENT(f, 41, rmi_send, .connection = 3, .call = 2, .remote_call = 0xb);
	serves(f, 42, 4, 2, 501);
	returns(f, 50, 0xb, 501, JIS_RMI_THROWN);
	done(f);
	ck_assert_str_eq(
		calls, "UID C3#1 S4#1 in@10 ca@12 se@13 se@20 di@21 re@22 an@23 re@30 re@32, "
		       "UID C3#2 S4#2 ca@40 se@41 se@42 di@43 re@44 an@45 re@50 internal result 1");
}
END_TEST

/* What is called at an end of a call of @method. */
static void method_defined(struct feed *f, uint32_t dict, const char *class_name)
{
	FEED_TEXT(f, dict, 1, string_def, text, "getAttribute", .id = 60);
	FEED_TEXT(f, dict, 1, method_def, class_name, class_name, .id = 7, .name = 60);
}

/* By the interface's name at either end, whatever its object's number. */
START_TEST(calls_of_jmx_are_the_jdk_s_own)
{
	static const char *const classes[] = {"javax.management.remote.rmi.RMIConnection",
					      "javax.management.remote.rmi2.RMIConnection"};
	struct feed *f = remote_new_feed();

	method_defined(f, _i % 2 ? SERVER_DICT : DICT, classes[_i / 2]);
	CLIENT(f, 10, rmi_invoke, .method = _i % 2 ? 0 : 7);
	sends(f, 12, 3, 1, 0xa);
	SERVER(f, 20, rmi_serve, .connection = 4, .call = 1);
	SERVER(f, 21, rmi_dispatch, .object = 77, .space_time = 9, .method = _i % 2 ? 7 : 0);
	SERVER(f, 22, rmi_answer, .connection = 4, .call = 1, .uid_time = 500, .uid_count = 1);
	returns(f, 30, 0xa, 500, 0);
	done(f);
	ck_assert_str_eq(calls, _i / 2 ? "UID C3#1 S4#1 in@10 ca@12 se@13 se@20 di@21 an@22 re@30"
				       : "UID C3#1 S4#1 in@10 ca@12 se@13 se@20 di@21 an@22 re@30 "
					 "internal");
}
END_TEST

START_TEST(what_one_passes_may_call)
{
	struct feed *f = remote_new_feed();

	CLIENT(f, 10, rmi_call, .connection = 3, .call = 1, .object = 77, .space_time = 9);
	sends(f, 12, 5, 1, 0xb); /* while 3 is written */
	returns(f, 16, 0xb, 501, 0);
	sends(f, 18, 6, 1, 0xc); /* sent, and nobody tells of its end */
	CLIENT(f, 20, rmi_send, .connection = 3, .call = 1, .remote_call = 0xa);
	returns(f, 22, 0xa, 500, 0);
	done(f);
	ck_assert_str_eq(calls, "never sent C6#1 ca@18 se@19, "
				"other end not recorded C5#1 ca@12 se@13 re@16, "
				"other end not recorded C3#1 ca@10 se@20 re@22");
}
END_TEST

START_TEST(a_call_without_an_answer_is_known_by_its_connection)
{
	struct feed *f = remote_new_feed();

	connections(f, 5, 4000);
	sends(f, 10, 3, 1, 0xa);
	SERVER(f, 20, rmi_serve, .connection = 4, .call = 1);
	returns(f, 30, 0xa, 0, JIS_RMI_FAILED);
	SERVER(f, 40, rmi_dispatch, .object = 77, .space_time = 9);
	done(f);
	ck_assert_str_eq(calls, "connection C3#1 S4#1 ca@10 se@11 se@20 di@40 re@30 result 2");
}
END_TEST

/* Whichever of the two ends the model comes upon first. */
START_TEST(a_call_under_way_at_the_end_is_known_by_its_connection)
{
	struct feed *f = remote_new_feed();

	connections(f, 5, 4000);
	sends(f, 10, 3, 1, 0xa);
	serves(f, 20, 4, 1, 500);
	returns(f, 30, 0xa, 500, 0);
	sends(f, 40, 3, 2, 0xa);
	SERVER(f, 50, rmi_serve, .connection = 4, .call = 2);
	SERVER(f, 51, rmi_dispatch, .object = 77, .space_time = 9);
	done(f);
	ck_assert_ptr_nonnull(strstr(calls, ", connection C3#2 S4#2 ca@40 se@41 se@50 di@51"));
	/* The request is still on its way: what the connection has is the call before. */
	f = remote_new_feed();
	connections(f, 5, 4000);
	serves(f, 20, 4, 1, 500);
	sends(f, 40, 3, 2, 0xa);
	done(f);
	ck_assert_ptr_nonnull(strstr(calls, "under way at the end C3#2 "));
}
END_TEST

START_TEST(calls_that_reach_out_of_the_window_are_told_to_who_wants_them)
{
	static const struct model_options options = {.from = 15, .to = 35};

	for (int cut = 0; cut < 2; cut++) {
		struct feed *f = remote_in_window(&options, cut);

		sends(f, 10, 3, 1, 0xa);
		serves(f, 20, 4, 1, 500);
		returns(f, 30, 0xa, 500, 0);
		done(f);
		ck_assert_str_eq(calls, cut ? "UID C3#1 S4#1 ca@10 se@11 se@20 di@21 re@22 an@23 "
					      "re@30"
					    : "");
	}
}
END_TEST

START_TEST(an_answer_that_comes_too_late_is_of_the_call)
{
	struct feed *f = remote_new_feed();

	connections(f, 5, 4000);
	sends(f, 10, 3, 1, 0xa);
	SERVER(f, 20, rmi_serve, .connection = 4, .call = 1);
	returns(f, 30, 0xa, 0, JIS_RMI_FAILED);
	SERVER(f, 40, rmi_answer, .connection = 4, .call = 1, .uid_time = 500);
	/* And one that came, and could not be read. */
	sends(f, 50, 3, 2, 0xa);
	serves(f, 60, 4, 2, 501);
	returns(f, 70, 0xa, 0, JIS_RMI_FAILED);
	done(f);
	ck_assert_str_eq(calls, "connection C3#1 S4#1 ca@10 se@11 se@20 an@40 re@30 result 2, "
				"connection C3#2 S4#2 ca@50 se@51 se@60 di@61 re@62 an@63 re@70 "
				"result 2");
}
END_TEST

/* The server was attached to later: its numbers are lower. */
START_TEST(calls_are_counted_from_the_first_that_was_recorded)
{
	struct feed *f = remote_new_feed();

	sends(f, 10, 3, 7, 0xa);
	serves(f, 20, 4, 1, 500);
	returns(f, 30, 0xa, 500, 0);
	sends(f, 40, 3, 8, 0xa);
	SERVER(f, 50, rmi_serve, .connection = 4, .call = 2);
	returns(f, 60, 0xa, 0, JIS_RMI_FAILED);
	done(f);
	ck_assert_str_eq(calls, "UID C3#7 S4#1 ca@10 se@11 se@20 di@21 re@22 an@23 re@30, "
				"connection C3#8 S4#2 ca@40 se@41 se@50 re@60 result 2");
}
END_TEST

START_TEST(keys_that_disagree_are_told)
{
	struct feed *f = remote_new_feed();

	sends(f, 10, 3, 1, 0xa);
	serves(f, 20, 4, 1, 500);
	returns(f, 30, 0xa, 500, 0);
	sends(f, 40, 3, 2, 0xa);
	serves(f, 50, 4, 3, 501);
	returns(f, 60, 0xa, 501, 0);
	done(f);
	ck_assert_ptr_nonnull(strstr(calls, "UID C3#2 S4#3"));
	ck_assert_ptr_nonnull(strstr(calls, " disagrees"));
	ck_assert_ptr_eq(strstr(calls, " disagrees"), strrchr(calls, ' '));
}
END_TEST

START_TEST(a_port_that_is_used_again_is_the_last_connection_s)
{
	struct feed *f = remote_new_feed();

	connections(f, 5, 4000);
	sends(f, 10, 3, 1, 0xa);
	serves(f, 20, 4, 1, 500);
	returns(f, 30, 0xa, 500, 0);
	FEED_TEXT(f, DICT, 40, rmi_connection, endpoint, "", .id = 8, .family = AF_INET,
		  .local_port = 4000, .local0 = 1, .peer_port = 1099, .peer0 = 2);
	FEED_TEXT(f, SERVER_DICT, 40, rmi_connection, endpoint, "", .id = 9, .server = 1,
		  .family = AF_INET, .local_port = 1099, .local0 = 2, .peer_port = 4000,
		  .peer0 = 1);
	sends(f, 50, 8, 1, 0xb);
	SERVER(f, 60, rmi_serve, .connection = 9, .call = 1);
	returns(f, 70, 0xb, 0, JIS_RMI_FAILED);
	done(f);
	ck_assert_ptr_nonnull(strstr(calls, "connection C8#1 S9#1 "));
}
END_TEST

START_TEST(each_end_that_is_alone_has_a_reason)
{
	struct feed *f = remote_new_feed();

	CLIENT(f, 10, rmi_invoke, .method = 0); /* no connection to be had */
	CLIENT(f, 20, rmi_invoke, .method = 0);
	sends(f, 22, 3, 1, 0xa);
	returns(f, 30, 0xa, 0, JIS_RMI_FAILED); /* nobody there */
	returns(f, 40, 0xf, 400, 0);		/* sent before */
	sends(f, 50, 3, 2, 0xa);
	serves(f, 60, 4, 1, 500); /* of a client that is not recorded */
	SERVER(f, 70, rmi_serve, .connection = 4, .call = 2);
	done(f);
	ck_assert_str_eq(calls, "never sent C0#0 in@10, "
				"no answer C3#1 in@20 ca@22 se@23 re@30 result 2, "
				"under way at the end C3#2 ca@50 se@51, "
				"began before the recording C0#0 re@40, "
				"other end not recorded S4#1 se@60 di@61 re@62 an@63, "
				"under way at the end S4#2 se@70");
}
END_TEST

/* Of its client only the end was recorded: the UID is in that. */
START_TEST(a_call_that_began_before_is_known_by_its_uid)
{
	struct feed *f = remote_new_feed();

	serves(f, 10, 4, 1, 500);
	returns(f, 30, 0xf, 500, 0);
	returns(f, 40, 0xf, 0, JIS_RMI_FAILED); /* that one has none */
	done(f);
	ck_assert_str_eq(calls, "UID C0#0 S4#1 se@10 di@11 re@12 an@13 re@30, "
				"began before the recording C0#0 re@40 result 2");
}
END_TEST

START_TEST(lost_records_end_a_call)
{
	struct feed *f = remote_new_feed();

	sends(f, 10, 3, 1, 0xa);
	FEED(f, SLOT, 20, lost_records, .type = 0, .count = 3, .first = 15, .last = 20);
	returns(f, 30, 0xa, 500, 0);
	done(f);
	ck_assert_str_eq(calls, "records are missing C3#1 ca@10 se@11, "
				"began before the recording C0#0 re@30");
}
END_TEST

/* Of more than can wait, the oldest is told; one thread's unsent ones are bounded, too. */
START_TEST(what_is_alone_takes_no_memory_without_end)
{
	struct feed *f = remote_new_feed();

	for (uint32_t i = 0; i < 70000; i++) {
		sends(f, 10, 3, i + 1, 0xa);
		returns(f, 10, 0xa, i + 1, 0);
		if (calls[0])
			break;
	}
	ck_assert_ptr_nonnull(strstr(calls, "other end not recorded C3#1 "));
	calls[0] = 0;
	for (uint32_t i = 0; i < 100 && !calls[0]; i++)
		CLIENT(f, 20, rmi_call, .connection = 7, .call = i + 1, .space_time = 9);
	ck_assert_ptr_nonnull(strstr(calls, "never sent C7#1 "));
	model_free(f->m);
	f->m = NULL;
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_remote");
	TCase *t = tcase_create("remote calls");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, the_two_ends_of_a_call_are_one);
	tcase_add_loop_test(t, calls_of_jmx_are_the_jdk_s_own, 0, 4);
	tcase_add_test(t, what_one_passes_may_call);
	tcase_add_test(t, a_call_without_an_answer_is_known_by_its_connection);
	tcase_add_test(t, a_call_under_way_at_the_end_is_known_by_its_connection);
	tcase_add_test(t, calls_that_reach_out_of_the_window_are_told_to_who_wants_them);
	tcase_add_test(t, an_answer_that_comes_too_late_is_of_the_call);
	tcase_add_test(t, calls_are_counted_from_the_first_that_was_recorded);
	tcase_add_test(t, keys_that_disagree_are_told);
	tcase_add_test(t, a_port_that_is_used_again_is_the_last_connection_s);
	tcase_add_test(t, each_end_that_is_alone_has_a_reason);
	tcase_add_test(t, a_call_that_began_before_is_known_by_its_uid);
	tcase_add_test(t, lost_records_end_a_call);
	tcase_add_test(t, what_is_alone_takes_no_memory_without_end);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
