/* SPDX-License-Identifier: MIT */
/* Call trees: what is in what, as the file says it; and files that are damaged. */
#include <errno.h>
#include <unistd.h>

#include "calltree/jta_names.h"
#include "calltree/jta_read.h"
#include "calltree/map64.h"
#include "calltree/tree_int.h"
#include "test_model_why.h"

enum { A = 1, B, C, RUN, NR_METHODS };

static char directory[] = "/tmp/jis-jta.XXXXXX", prefix[64], file[80];
static struct calltree *tree;

/* The JVM of test_model_why.h, and 200, whose thread is Java thread 5; each with methods. */
static struct feed *begin(void)
{
	static const char *const names[] = {"", "a", "b", "c", "run"};
	struct feed *f = why_new();
	int err;

	feed_process(f, 200, "server");
	feed_thread(f, 200, 200, ALIVE, ALIVE, "worker");
	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	tree = calltree_new(f->m, prefix, false, &err);
	ck_assert_ptr_nonnull(tree);
	f->sinks[0] = calltree_sink(tree);
	f->nr_sinks = 1;
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t p = 0; p < 2; p++) {
		for (uint32_t i = A; i < NR_METHODS; i++) {
			FEED_TEXT(f, FEED_DICT(p), 0, string_def, text, names[i], .id = i);
			FEED_TEXT(f, FEED_DICT(p), 0, method_def, class_name, p ? "S" : "T",
				  .id = i, .name = i);
			FEED(f, FEED_DICT(p), 0, traced_method, .id = i, .method = i);
		}
	}
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	FEED_TEXT(f, FEED_DICT(1), 0, java_thread_start, name, "worker", .java_tid = 5, .tid = 200);
	writes(f, 0, 100);
	FEED(f, FEED_SLOT(1), 0, thread_bind, .tid = 200);
	return f;
}

static void end(struct feed *f)
{
	ck_assert_int_eq(model_finish(f->m), 0);
	calltree_delete(tree);
	feed_free(f);
}

static void enter(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_enter, .method = method);
}

static void leave(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_exit, .method = method);
}

/* Tree as text ------------------------------------------------------------------------------- */

struct printer {
	const struct jta *t;
	const struct jta_names *names;
	char text[FEED_LOG];
	uint32_t depth;
};

static int print(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	static const char *const kinds[] = {"", "root", "jvm", "", "call of ", "served "};
	struct printer *p = ctx;

	(void)number;
	if (r->kind == JTA_JVM && !r->children)
		return 0;
	feed_log(p->text, "%s%*s%s", *p->text ? "\n" : "", (int)depth, "", kinds[r->kind]);
	if (r->kind == JTA_JVM)
		feed_log(p->text, " %u", jta_jvm_name(p->names, r->jvm)->pid);
	if (r->kind > JTA_JVM)
		feed_log(p->text, "%s %" PRIu64 "-%" PRIu64 " #%" PRIu64,
			 jta_method_name(p->names, r->method), r->begin, r->end,
			 jta_thread_name(p->names, r->thread)->java_tid);
	if (r->flags)
		feed_log(p->text, " !%u", r->flags);
	return 0;
}

static const struct jta_query any = {.thread = UINT32_MAX, .jvm = UINT32_MAX};

static const char *tree_text(void)
{
	static struct printer p;

	p.text[0] = 0;
	ck_assert_int_eq(jta_open(file, (struct jta **)&p.t), 0);
	ck_assert_int_eq(jta_names_open(file, (struct jta_names **)&p.names), 0);
	ck_assert_int_eq(jta_search(p.t, 0, JTA_DEPTH_FIRST, &any, print, &p), 0);
	jta_names_close((struct jta_names *)p.names);
	jta_close((struct jta *)p.t);
	return p.text;
}

struct order {
	uint64_t numbers[64];
	uint32_t nr;
};

static int note(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	struct order *o = ctx;

	(void)r;
	(void)depth;
	if (o->nr < 64)
		o->numbers[o->nr] = number;
	o->nr++;
	return 0;
}

START_TEST(calls_are_in_their_callers)
{
	struct feed *f = begin();

	enter(f, 10, A);
	enter(f, 20, B);
	leave(f, 30, B);
	enter(f, 40, C);
	enter(f, 42, B);
	leave(f, 44, B);
	FEED(f, SLOT, 50, method_exit, .method = C | JIS_METHOD_UNWOUND);
	leave(f, 60, A);
	enter(f, 70, C);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " jvm 100\n"
				      "  T.a 10-60 #1\n"
				      "   T.b 20-30 #1\n"
				      "   T.c 40-50 #1 !2\n"
				      "    T.b 42-44 #1\n"
				      "  T.c 70-1000 #1 !1");
}
END_TEST

/* Remote call @call by method A from @t to @t + 100; it is served from @t + 20 to @t + 80. */
static void remote_call(struct feed *f, uint64_t t, uint32_t call, bool answered)
{
	FEED(f, SLOT, t, rmi_invoke, .java_tid = 1, .method = A);
	FEED(f, SLOT, t + 5, rmi_call, .java_tid = 1, .connection = 3, .call = call,
	     .operation = -1, .object = 77, .space_time = 9);
	FEED(f, SLOT, t + 10, rmi_send, .java_tid = 1, .connection = 3, .call = call,
	     .remote_call = 7);
	FEED(f, FEED_SLOT(1), t + 20, rmi_serve, .java_tid = 5, .connection = 4, .call = call);
	FEED(f, FEED_SLOT(1), t + 25, rmi_dispatch, .java_tid = 5, .object = 77, .space_time = 9,
	     .method = B);
	FEED(f, FEED_SLOT(1), t + 30, method_enter, .method = B);
	FEED(f, FEED_SLOT(1), t + 60, method_exit, .method = B);
	FEED(f, FEED_SLOT(1), t + 70, rmi_result, .java_tid = 5);
	FEED(f, FEED_SLOT(1), t + 80, rmi_answer, .java_tid = 5, .connection = 4, .call = call,
	     .uid_time = (int64_t)t, .uid_count = 1);
	if (!answered)
		return;
	FEED(f, SLOT, t + 90, rmi_reply, .java_tid = 1, .connection = 3, .call = call);
	FEED(f, SLOT, t + 100, rmi_return, .java_tid = 1, .remote_call = 7, .uid_time = (int64_t)t,
	     .uid_count = 1);
}

START_TEST(what_serves_a_remote_call_is_in_it)
{
	struct feed *f = begin();

	enter(f, 10, C);
	/* It is under way in the server, and is the server's own, whatever is served meanwhile. */
	FEED(f, FEED_SLOT(1), 15, method_enter, .method = RUN);
	remote_call(f, 100, 1, true);
	FEED(f, FEED_SLOT(1), 205, method_enter, .method = C);
	FEED(f, FEED_SLOT(1), 206, method_exit, .method = C);
	leave(f, 210, C);
	remote_call(f, 300, 2, true);
	FEED(f, FEED_SLOT(1), 500, method_exit, .method = RUN);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " jvm 100\n"
				      "  T.c 10-210 #1\n"
				      "   call of T.a 100-200 #1\n"
				      "    served S.b 120-180 #5\n"
				      "     S.b 130-160 #5\n"
				      "  call of T.a 300-400 #1\n"
				      "   served S.b 320-380 #5\n"
				      "    S.b 330-360 #5\n"
				      " jvm 200\n"
				      "  S.run 15-500 #5\n"
				      "   S.c 205-206 #5");
}
END_TEST

START_TEST(what_has_no_client_is_in_the_root)
{
	struct feed *f = begin();

	remote_call(f, 100, 1, false);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " served S.b 120-180 #5 !128\n"
				      "  S.b 130-160 #5\n"
				      " jvm 100\n"
				      "  call of T.a 100-1000 #1 !133");
}
END_TEST

START_TEST(what_goes_on_at_the_end_is_where_it_was_made)
{
	struct feed *f = begin();

	enter(f, 10, C);
	FEED(f, SLOT, 20, rmi_invoke, .java_tid = 1, .method = A);
	FEED(f, SLOT, 25, rmi_call, .java_tid = 1, .connection = 3, .call = 1, .operation = -1,
	     .object = 77, .space_time = 9);
	FEED(f, SLOT, 30, rmi_send, .java_tid = 1, .connection = 3, .call = 1, .remote_call = 7);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " jvm 100\n"
				      "  T.c 10-1000 #1 !1\n"
				      "   call of T.a 20-1000 #1 !133");
}
END_TEST

START_TEST(ends_without_a_begin_are_parts)
{
	struct feed *f = begin();

	FEED(f, SLOT, 50, rmi_return, .java_tid = 1, .remote_call = 7, .uid_time = 3,
	     .uid_count = 1);
	FEED(f, FEED_SLOT(1), 60, rmi_answer, .java_tid = 5, .connection = 4, .call = 1,
	     .uid_time = 9, .uid_count = 1);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " served ? 60-60 #5 !129\n"
				      " jvm 100\n"
				      "  call of ? 50-50 #1 !129");
}
END_TEST

/* Records that are not in memory any more are changed all the same. */
START_TEST(files_grow_beyond_what_is_in_memory)
{
	uint64_t window = tree_file_window, begins = 0;
	struct order o = {0};
	struct feed *f;
	struct jta *t;

	tree_file_window = 4;
	f = begin();
	enter(f, 5, A);
	for (uint64_t i = 0; i < 300; i++) {
		enter(f, 10 + 3 * i, B);
		enter(f, 11 + 3 * i, C);
		leave(f, 11 + 3 * i, C);
		leave(f, 12 + 3 * i, B);
	}
	leave(f, 990, A);
	end(f);
	tree_file_window = window;
	ck_assert_int_eq(jta_open(file, &t), 0);
	ck_assert_uint_eq(jta_header(t)->records, 604);
	ck_assert_int_eq(jta_search(t, 0, JTA_DEPTH_FIRST, &any, note, &o), 0);
	ck_assert_uint_eq(o.nr, 604);
	for (uint64_t n = 1; n <= 600; n++) {
		const struct jta_record *r = jta_get(t, n);

		ck_assert_uint_eq(r->method, n % 2 ? C : B);
		ck_assert_uint_eq(jta_parent(t, n), n % 2 ? n + 1 : 601);
		begins += r->begin;
	}
	ck_assert_uint_eq(begins, 300 * 21 + 6 * (299 * 300 / 2));
	jta_close(t);
}
END_TEST

START_TEST(threads_are_in_the_call_that_started_them)
{
	struct feed *f = begin();

	enter(f, 10, A);
	enter(f, 20, B);
	FEED(f, SLOT, 21, thread_start_call, .java_tid = 1, .child_java_tid = 2);
	leave(f, 30, B);
	writes(f, 40, 101);
	enter(f, 40, RUN);
	enter(f, 41, C);
	leave(f, 42, C);
	leave(f, 50, RUN);
	writes(f, 60, 100);
	leave(f, 60, A);
	writes(f, 70, 101);
	enter(f, 70, RUN);
	leave(f, 80, RUN);
	end(f);
	ck_assert_str_eq(tree_text(), "root\n"
				      " jvm 100\n"
				      "  T.a 10-60 #1\n"
				      "   T.b 20-30 #1 !32\n"
				      "    T.run 40-50 #2 !16\n"
				      "     T.c 41-42 #2\n"
				      "    T.run 70-80 #2 !16");
}
END_TEST

START_TEST(children_are_had_in_either_order_and_the_way_up)
{
	struct feed *f = begin();
	struct jta_children c;
	uint64_t path[8], number;
	struct jta *t;

	enter(f, 10, A);
	FEED(f, SLOT, 21, thread_start_call, .java_tid = 1, .child_java_tid = 2);
	writes(f, 30, 101);
	enter(f, 30, RUN);
	writes(f, 40, 100);
	enter(f, 40, B);
	leave(f, 50, B);
	leave(f, 60, A);
	writes(f, 70, 101);
	leave(f, 80, RUN);
	end(f);
	ck_assert_int_eq(jta_open(file, &t), 0);
	/* b, a, run, two JVMs, the root: by their ends. */
	ck_assert_uint_eq(jta_header(t)->records, 6);
	ck_assert_int_eq(jta_children_begin(t, 2, false, &c), 0);
	ck_assert_uint_eq(jta_children_next(&c), 1);
	ck_assert_uint_eq(jta_children_next(&c), 3);
	ck_assert_uint_eq(jta_children_next(&c), 0);
	jta_children_end(&c);
	ck_assert_int_eq(jta_children_begin(t, 2, true, &c), 0);
	ck_assert_uint_eq(jta_children_next(&c), 3);
	ck_assert_uint_eq(jta_children_next(&c), 1);
	ck_assert_uint_eq(jta_children_next(&c), 0);
	jta_children_end(&c);
	ck_assert_int_eq(jta_path(t, 3, path, 8), 4);
	ck_assert_uint_eq(path[0], 3);
	ck_assert_uint_eq(path[1], 2);
	ck_assert_uint_eq(path[2], jta_jvm(t, 0));
	ck_assert_uint_eq(path[3], jta_header(t)->root);
	number = jta_header(t)->records + 1;
	ck_assert_ptr_null(jta_get(t, number));
	ck_assert_int_eq(jta_children_begin(t, number, false, &c), -EINVAL);
	ck_assert_int_eq(jta_path(t, 0, path, 8), -EBADMSG);
	jta_close(t);
}
END_TEST

static bool is_b(void *ctx, uint32_t method)
{
	return method == *(uint32_t *)ctx;
}

START_TEST(searches_find_what_is_asked_for)
{
	struct feed *f = begin();
	uint32_t method = B;
	struct jta_query q = any;
	struct order o = {0};
	struct jta *t;

	for (uint64_t i = 10; i < 500; i += 100) {
		enter(f, i, A);
		enter(f, i + 10, B);
		leave(f, i + 20, B);
		leave(f, i + 50, A);
	}
	end(f);
	ck_assert_int_eq(jta_open(file, &t), 0);
	q.kinds = 1u << JTA_METHOD;
	ck_assert_int_eq(jta_search(t, 0, JTA_DEPTH_FIRST, &q, note, &o), 0);
	ck_assert_uint_eq(o.nr, 10);
	ck_assert_uint_eq(o.numbers[0], 2); /* a, then the b in it */
	ck_assert_uint_eq(o.numbers[1], 1);
	o.nr = 0;
	ck_assert_int_eq(jta_search(t, 0, JTA_BREADTH_FIRST, &q, note, &o), 0);
	ck_assert_uint_eq(o.nr, 10);
	ck_assert_uint_eq(o.numbers[1], 4); /* the next a */
	ck_assert_uint_eq(o.numbers[5], 1);
	o.nr = 0;
	q.method = is_b;
	q.ctx = &method;
	q.from = 215;
	q.to = 325;
	ck_assert_int_eq(jta_search(t, 0, JTA_DEPTH_FIRST, &q, note, &o), 0);
	ck_assert_uint_eq(o.nr, 2);
	q.longer_than = 11;
	o.nr = 0;
	ck_assert_int_eq(jta_search(t, 0, JTA_DEPTH_FIRST, &q, note, &o), 0);
	ck_assert_uint_eq(o.nr, 0);
	ck_assert_int_eq(jta_search(t, jta_header(t)->records + 1, JTA_DEPTH_FIRST, &q, note, &o),
			 -EINVAL);
	jta_close(t);
}
END_TEST

/* Damage ------------------------------------------------------------------------------------- */

static void all_of(struct jta *t)
{
	uint64_t path[4], most = jta_header(t)->records;
	struct order o = {0};

	jta_search(t, 0, JTA_DEPTH_FIRST, &any, note, &o);
	ck_assert_uint_le(o.nr, most);
	o.nr = 0;
	jta_search(t, 0, JTA_BREADTH_FIRST, &any, note, &o);
	ck_assert_uint_le(o.nr, most);
	for (uint64_t n = 0; n <= most + 1; n++) {
		struct jta_children c;
		uint64_t children = 0;

		jta_path(t, n, path, 4);
		if (jta_children_begin(t, n, n & 1, &c))
			continue;
		while (jta_children_next(&c))
			children++;
		jta_children_end(&c);
		ck_assert_uint_le(children, most);
	}
}

START_TEST(damaged_files_end_in_an_error_or_early)
{
	struct feed *f = begin();
	unsigned char good[4096], bad[4096];
	unsigned long seed = 1;
	uint32_t opened = 0;
	struct jta *t;
	size_t size;
	FILE *out;

	enter(f, 10, A);
	enter(f, 20, B);
	leave(f, 30, B);
	remote_call(f, 100, 1, true);
	leave(f, 300, A);
	end(f);
	out = fopen(file, "r");
	size = fread(good, 1, sizeof(good), out);
	fclose(out);
	for (int i = 0; i < 20000; i++) {
		memcpy(bad, good, size);
		for (int n = 0; n < 1 + i % 4; n++) {
			uint64_t word, at;

			seed = seed * 6364136223846793005ul + 1442695040888963407ul;
			at = (seed >> 33) % (size / 8) * 8;
			/* Mostly numbers of records that are there. */
			word = seed >> 40 & 1 ? (seed >> 41) % 12 : seed;
			memcpy(bad + at, &word, 8);
		}
		unlink(file); /* else some file systems write it to the disk */
		out = fopen(file, "w");
		ck_assert_uint_eq(fwrite(bad, 1, i % 50 ? size : seed % size, out),
				  i % 50 ? size : seed % size);
		fclose(out);
		if (jta_open(file, &t))
			continue;
		opened++;
		all_of(t);
		jta_close(t);
	}
	ck_assert_uint_gt(opened, 5000);
}
END_TEST

START_TEST(what_is_no_tree_is_refused)
{
	struct jta_names *names;
	struct jta *t;
	FILE *out;

	ck_assert_int_eq(jta_open("/", &t), -EISDIR);
	ck_assert_int_eq(jta_open("/nonexistent.jta", &t), -ENOENT);
	out = fopen(file, "w");
	fputs("JISJTA1", out);
	fclose(out);
	ck_assert_int_eq(jta_open(file, &t), -EBADMSG);
	ck_assert_int_eq(jta_names_open("tree", &names), -EINVAL);
	ck_assert_int_eq(jta_names_open("/nonexistent.jta", &names), -ENOENT);
	static const char *const bad[] = {"jvm\t1\t2\n",
					  "jvm\tx\t2\tname\n",
					  "thread\t1\t2\n",
					  "method\t99999999999\tname\n",
					  "what\t1\n",
					  "\n",
					  "jvm\t0\t1\ta\tb\njvm\t0\t1\ta\tb\n",
					  "thread\t4000000000\t0\t0\t0\tx\n"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char path[80];

		snprintf(path, sizeof(path), "%s.mth", prefix);
		out = fopen(path, "w");
		fputs(bad[i], out);
		fclose(out);
		ck_assert_int_eq(jta_names_open(file, &names), -EBADMSG);
	}
	/* Nobody has written all of it. */
	unlink(file);
	out = fopen(file, "w");
	fclose(out);
	ck_assert_int_eq(jta_open(file, &t), -ENODATA);
}
END_TEST

/* Against an array with as many places as there are keys. */
START_TEST(maps_hold_what_was_put)
{
	static uint64_t is[512];
	struct map64 m = {0};
	unsigned long seed = 7;
	uint64_t nr = 0;

	for (int i = 0; i < 200000; i++) {
		uint64_t key, value;

		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		key = (seed >> 33) % 512;
		if (!key)
			continue;
		if (seed >> 60 & 1) {
			nr += !is[key];
			is[key] = seed | 1;
			ck_assert_int_eq(map64_put(&m, key, is[key]), 0);
		} else {
			ck_assert_int_eq(map64_take(&m, key, &value), is[key] != 0);
			if (is[key])
				ck_assert_uint_eq(value, is[key]);
			nr -= is[key] != 0;
			is[key] = 0;
		}
		ck_assert_uint_eq(m.nr, nr);
		key = key % 511 + 1;
		ck_assert_int_eq(map64_get(&m, key) != NULL, is[key] != 0);
		if (is[key])
			ck_assert_uint_eq(*map64_get(&m, key), is[key]);
	}
	map64_free(&m);
}
END_TEST

static void clean(void)
{
	static const char *const suffixes[] = {"jta", "mth", "stt"};
	char path[80];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s.%s", prefix, suffixes[i]);
		unlink(path);
	}
	rmdir(directory);
}

int main(void)
{
	Suite *s = suite_create("jta");
	TCase *tc = tcase_create("jta");
	SRunner *r;
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(prefix, sizeof(prefix), "%s/tree", directory);
	snprintf(file, sizeof(file), "%s.jta", prefix);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, calls_are_in_their_callers);
	tcase_add_test(tc, what_serves_a_remote_call_is_in_it);
	tcase_add_test(tc, what_has_no_client_is_in_the_root);
	tcase_add_test(tc, what_goes_on_at_the_end_is_where_it_was_made);
	tcase_add_test(tc, ends_without_a_begin_are_parts);
	tcase_add_test(tc, files_grow_beyond_what_is_in_memory);
	tcase_add_test(tc, threads_are_in_the_call_that_started_them);
	tcase_add_test(tc, children_are_had_in_either_order_and_the_way_up);
	tcase_add_test(tc, searches_find_what_is_asked_for);
	tcase_add_test(tc, damaged_files_end_in_an_error_or_early);
	tcase_add_test(tc, what_is_no_tree_is_refused);
	tcase_add_test(tc, maps_hold_what_was_put);
	suite_add_tcase(s, tc);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	clean();
	return failed > 0;
}
