/* SPDX-License-Identifier: MIT */
/* Why threads wait: what kernel, VM and Java thread say, alone and together, and which of them
 * wins. */
#include <arpa/inet.h>

#include "analysis/report.h"
#include "test_model_why.h"

/* What the VM's words say: in native code, in the VM, in Java, blocked; of the OS thread. */
enum { NATIVE = 4, IN_VM = 6, JAVA = 8, BLOCKED = 10 };
enum { RUNNABLE = 2, MONITOR = 3, CONDITION = 4, OBJECT = 5, SLEEPING = 7 };

static void no_conflicts(const struct feed *f)
{
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++)
		ck_assert_msg(!f->counts.conflicts[i], "%s", model_conflict_name(i));
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
}

START_TEST(a_monitor_has_class_owner_and_waker)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 10, 101);
	FEED(f, SLOT, 10, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab, .owner_tid = 100, .owner_java_tid = 1);
	leaves(f, 1, 12, 101, S, "futex", BLOCKED, MONITOR);
	feed_wake(f, 0, 40, 100, 101, 41);
	comes(f, 1, 45, 101);
	FEED(f, SLOT, 50, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
	     .hash = 0xab);
	leaves(f, 1, 60, 101, S, "futex", BLOCKED, CONDITION);
	feed_end(f);
	ck_assert_str_eq(reasons[1], "in the VM? 0-12, monitor Lock@ab of T100 #1 12-41, "
				     "woken 41-45, in the VM? 45-60, park? 60-1000");
	ck_assert_str_eq(java_waits, "T101 monitor Lock@ab of T100 #1 10-50 (29)");
	ck_assert_str_eq(woken, "101<-100 monitor Lock@ab of T100 #1 12");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(what_the_switch_says_of_a_running_thread_is_a_sample)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, R | JIS_TASK_PREEMPTED, NULL, JAVA, RUNNABLE);
	comes(f, 1, 20, 101);
	leaves(f, 1, 30, 101, R | JIS_TASK_PREEMPTED, "read", NATIVE, RUNNABLE);
	comes(f, 1, 40, 101);
	leaves(f, 1, 50, 101, R | JIS_TASK_PREEMPTED, NULL, 0, 0);
	feed_end(f);
	ck_assert_str_eq(reasons[1], "in Java? 0-10, preempted 10-20, in native code? 20-30, "
				     "preempted 30-40, running 40-50, preempted 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(threads_of_the_vm_run_what_their_name_says)
{
	struct feed *f = why_new();

	why_start(f);
	comes(f, 2, 10, 102);
	leaves(f, 2, 20, 102, S, "futex", 0, 0);
	comes(f, 2, 30, 103);
	leaves(f, 2, 40, 103, S, "futex", 0, 0);
	feed_end(f);
	ck_assert_str_eq(reasons[2], "VM operation 10-20, thread of the VM waits 20-1000");
	ck_assert_str_eq(reasons[3], "running 30-40, futex 40-1000");
	feed_free(f);
}
END_TEST

START_TEST(system_calls_divide_running_time_and_say_what_for)
{
	struct feed *f = why_new();

	why_start(f);
	FEED_TEXT(f, 1, 9, fd_file, path, "/data/x", .pid = 100, .fd = 5, .type = JIS_FD_FILE);
	FEED(f, 1, 10, syscall_io, .tid = 101, .nr = nr("pread64"), .fd = 5, .size = 4096);
	leaves(f, 1, 12, 101, D | JIS_TASK_IOWAIT, "pread64", 0, 0);
	feed_wake(f, 0, 20, 0, 101, 20);
	comes(f, 1, 25, 101);
	FEED(f, 1, 30, syscall_exit, .tid = 101, .nr = nr("pread64"), .result = 4096);
	leaves(f, 1, 40, 101, S, "futex", 0, 0);
	feed_end(f);
	ck_assert_str_eq(reasons[1], "running 0-10+, in a system call fd 5 '/data/x' 10-12, "
				     "file fd 5 '/data/x' 12-20, woken 20-25, "
				     "in a system call fd 5 '/data/x' 25-30+, running 30-40, "
				     "futex 40-1000");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

/* One wait of thread 101 in a call with descriptor 7, from 20 to 30, and what it is found to be. */
static void waits_in(const char *call, uint32_t type, const char *path, const char *expected)
{
	struct feed *f = why_new();
	char text[128];

	why_start(f);
	if (type)
		FEED_TEXT(f, 1, 9, fd_file, path, path, .pid = 100, .fd = 7, .type = type);
	FEED(f, 1, 10, syscall_io, .tid = 101, .nr = nr(call), .fd = 7);
	leaves(f, 1, 20, 101, S, call, NATIVE, RUNNABLE);
	feed_wake(f, 0, 30, 100, 101, 30);
	feed_end(f);
	snprintf(text, sizeof(text), "%s 20-30", expected);
	ck_assert_msg(strstr(reasons[1], text), "%s: %s is not in: %s", call, text, reasons[1]);
	no_conflicts(f);
	feed_free(f);
}

START_TEST(descriptors_say_what_a_call_waits_for)
{
	waits_in("read", JIS_FD_PIPE, "pipe:[1]", "pipe fd 7 'pipe:[1]'");
	waits_in("read", JIS_FD_FILE, "/f", "file fd 7 '/f'");
	waits_in("write", JIS_FD_FILE, "/f", "file fd 7 '/f'");
	waits_in("write", JIS_FD_SOCKET, "socket:[3]", "socket write fd 7 'socket:[3]'");
	waits_in("read", JIS_FD_SOCKET, "socket:[3]", "socket read fd 7 'socket:[3]'");
	waits_in("read", JIS_FD_EVENTFD, "anon_inode:[eventfd]",
		 "event descriptor fd 7 'anon_inode:[eventfd]'");
	waits_in("fsync", JIS_FD_FILE, "/f", "file fd 7 '/f'");
	waits_in("epoll_wait", JIS_FD_EPOLL, "anon_inode:[eventpoll]",
		 "poll fd 7 'anon_inode:[eventpoll]'");
	waits_in("recvfrom", 0, "", "socket read fd 7");
	waits_in("sendmsg", 0, "", "socket write fd 7");
	waits_in("read", 0, "", "system call fd 7");
	waits_in("wait4", 0, "", "child process fd 7");
	waits_in("nanosleep", 0, "", "timer fd 7");
	waits_in("mmap", 0, "", "address space fd 7");
	waits_in("ioctl", 0, "", "system call fd 7");
}
END_TEST

static uint64_t address(const char *text)
{
	uint32_t bytes;

	ck_assert_int_eq(inet_pton(AF_INET, text, &bytes), 1);
	return bytes;
}

START_TEST(sockets_have_peers)
{
	struct feed *f = why_new();

	why_start(f);
	FEED(f, 1, 9, fd_socket, .pid = 100, .fd = 7, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = 41000, .peer_port = 5432, .peer0 = address("10.0.0.2"));
	/* A client: whichever port it has, it is the same one. */
	FEED(f, 1, 9, fd_socket, .pid = 100, .fd = 8, .family = AF_INET6, .type = SOCK_STREAM,
	     .local_port = 8080, .peer_port = 51234,
	     .peer1 = address("10.0.0.9") << 32 | 0xffff0000);
	FEED(f, 1, 9, fd_socket, .pid = 100, .fd = 9, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = 8080);
	FEED(f, 1, 10, syscall_io, .tid = 101, .nr = nr("read"), .fd = 7);
	leaves(f, 1, 11, 101, S, "read", 0, 0);
	feed_wake(f, 0, 12, 0, 101, 12);
	comes(f, 1, 13, 101);
	FEED(f, 1, 14, syscall_exit, .tid = 101, .nr = nr("read"));
	FEED(f, 1, 15, syscall_io, .tid = 101, .nr = nr("write"), .fd = 8);
	leaves(f, 1, 16, 101, S, "write", 0, 0);
	feed_wake(f, 0, 17, 0, 101, 17);
	comes(f, 1, 18, 101);
	FEED(f, 1, 19, syscall_exit, .tid = 101, .nr = nr("write"));
	FEED(f, 1, 20, syscall_io, .tid = 101, .nr = nr("accept4"), .fd = 9);
	leaves(f, 1, 21, 101, S, "accept4", 0, 0);
	feed_wake(f, 0, 22, 0, 101, 22);
	comes(f, 1, 23, 101);
	FEED(f, 1, 24, syscall_exit, .tid = 101, .nr = nr("accept4"));
	FEED(f, 1, 25, syscall_address, .tid = 101, .nr = nr("connect"), .fd = 10,
	     .family = AF_INET, .port = 80, .address0 = address("10.0.0.7"));
	leaves(f, 1, 26, 101, S, "connect", 0, 0);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "socket read fd 7 '10.0.0.2:5432' 11-12"));
	ck_assert_ptr_nonnull(
		strstr(reasons[1], "socket write fd 8 '10.0.0.9 to port 8080' 16-17"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "socket accept fd 9 'port 8080' 21-22"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "socket connect fd 10 '10.0.0.7:80' 26-1000"));
	feed_free(f);
}
END_TEST

START_TEST(without_records_of_calls_the_switch_names_the_call)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, S, "epoll_wait", NATIVE, RUNNABLE);
	feed_wake(f, 0, 20, 0, 101, 20);
	comes(f, 1, 20, 101);
	leaves(f, 1, 30, 101, D | JIS_TASK_IOWAIT, "read", NATIVE, RUNNABLE);
	feed_wake(f, 0, 40, 0, 101, 40);
	comes(f, 1, 40, 101);
	leaves(f, 1, 50, 101, S, "futex", NATIVE, RUNNABLE);
	feed_wake(f, 0, 60, 0, 101, 60);
	comes(f, 1, 60, 101);
	leaves(f, 1, 70, 101, JIS_TASK_STOPPED, NULL, NATIVE, RUNNABLE);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "poll 10-20"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "disk 30-40"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "futex 50-60"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "stopped 70-1000"));
	feed_free(f);
}
END_TEST

START_TEST(page_faults_and_disks)
{
	struct feed *f = why_new();

	why_start(f);
	PARK(f, 5, 2);
	FEED(f, 1, 10, page_fault, .tid = 101, .address = 0x7000, .since = 9);
	leaves(f, 1, 10, 101, D | JIS_TASK_IOWAIT, NULL, 0, 0);
	feed_wake(f, 0, 20, 0, 101, 20);
	comes(f, 1, 20, 101);
	leaves(f, 1, 25, 101, D, NULL, 0, 0);
	feed_wake(f, 0, 26, 0, 101, 26);
	comes(f, 1, 26, 101);
	FEED(f, 1, 30, block_rq_issue, .tid = 101, .dev = 8 << 20 | 1, .sector = 4, .bytes = 512);
	leaves(f, 1, 31, 101, D | JIS_TASK_IOWAIT, "ioctl", 0, 0);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "page fault 7000 10-20"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "page fault? 25-26"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "disk 800001 31-1000"));
	feed_free(f);
}
END_TEST

/* What the VM's words say inside of a park, and what is then told of the wait. */
static void parked(const char *call, uint32_t vm, uint32_t os, const char *expected, int conflict)
{
	struct feed *f = why_new();
	char text[128];

	why_start(f);
	writes(f, 5, 101);
	PARK(f, 5, 2);
	leaves(f, 1, 10, 101, S, call, vm, os);
	feed_wake(f, 2, 30, 103, 101, 30);
	feed_end(f);
	snprintf(text, sizeof(text), "%s 10-30", expected);
	ck_assert_msg(strstr(reasons[1], text), "%s is not in: %s", text, reasons[1]);
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++)
		ck_assert_uint_eq(f->counts.conflicts[i], i == conflict);
	feed_free(f);
}

START_TEST(what_is_inside_of_a_java_wait_wins)
{
	parked("futex", 0, 0, "park Sync@5", -1);
	parked("futex", BLOCKED, CONDITION, "park Sync@5", -1);
	parked("futex", NATIVE, RUNNABLE, "futex", -1); /* a lock of native code */
	parked("futex", BLOCKED, RUNNABLE, "lock of the VM", -1);
	parked("madvise", BLOCKED, CONDITION, "address space", -1);
	parked("epoll_wait", NATIVE, RUNNABLE, "poll", MODEL_CONFLICT_CALL);
	parked("futex", BLOCKED, MONITOR, "monitor?", MODEL_CONFLICT_WORDS);
	parked("futex", JAVA, RUNNABLE, "park Sync@5", MODEL_CONFLICT_IN_JAVA);
}
END_TEST

/* Java thread 2 has told of a wait of each kind, and leaves for one of which it tells nothing. */
static void untold(uint32_t os, const char *why, bool lost)
{
	struct feed *f = why_new();

	why_start(f);
	feed_packet(f, SLOT, 2, 9, 0, 0, 101);
	PARK(f, 2, 2);
	FEED(f, SLOT, 3, park_end, .java_tid = 2);
	FEED(f, SLOT, 4, monitor_wait, .java_tid = 2, .class_name = NAME_LOCK, .hash = 0x1);
	FEED(f, SLOT, 5, monitor_waited, .java_tid = 2, .class_name = NAME_LOCK, .hash = 0x1);
	if (lost)
		feed_packet(f, SLOT, 9, 50, 7, 0, 101);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, os);
	feed_wake(f, 0, 30, 100, 101, 30);
	comes(f, 1, 30, 101);
	feed_end(f);
	ck_assert_msg(strstr(reasons[1], why), "%s instead of %s", reasons[1], why);
	no_conflicts(f);
	feed_free(f);
}

START_TEST(what_a_thread_that_tells_its_waits_does_not_tell_is_the_vms)
{
	/* A VM operation it has asked for; a class that another thread initialises. */
	untold(CONDITION, "lock of the VM? 10-30", false);
	untold(OBJECT, "lock of the VM? 'class initialisation' 10-30", false);
	/* The record may be among those that are missing. */
	untold(CONDITION, "park? 10-30", true);
	untold(OBJECT, "Object.wait? 10-30", true);
}
END_TEST

START_TEST(whom_a_compiler_wakes_waited_for_a_lock_of_the_vm)
{
	struct feed *f = why_new();

	why_thread(f, 106, "C2 CompilerThre", 0);
	why_start(f);
	comes(f, 2, 5, 106);
	/* Neither call nor words are told; then the call is. */
	feed_switch(f, 1, 10, 101, S, 0);
	feed_wake(f, 2, 20, 106, 101, 20);
	comes(f, 1, 20, 101);
	leaves(f, 1, 30, 101, S, "futex", 0, 0);
	feed_wake(f, 2, 40, 106, 101, 40);
	comes(f, 1, 40, 101);
	/* Woken by another Java thread it may be anything ... */
	writes(f, 42, 101);
	PARK(f, 42, 2);
	FEED(f, SLOT, 43, park_end, .java_tid = 2);
	feed_switch(f, 1, 50, 101, S, 0);
	feed_wake(f, 0, 60, 100, 101, 60);
	comes(f, 1, 60, 101);
	/* ... but one that had to wait for the lock itself. */
	feed_switch(f, 1, 70, 101, S, 0);
	feed_switch(f, 0, 71, 100, S, 0);
	feed_wake(f, 2, 80, 106, 100, 80);
	comes(f, 0, 80, 100);
	feed_wake(f, 0, 90, 100, 101, 90);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "lock of the VM 10-20"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "lock of the VM 30-40"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "not known 50-60"));
	ck_assert_ptr_nonnull(strstr(reasons[0], "lock of the VM 71-80"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "lock of the VM? 70-90"));
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(who_asks_for_a_stop_waits_for_it)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 2, 101);
	PARK(f, 2, 2);
	FEED(f, SLOT, 3, park_end, .java_tid = 2);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, CONDITION);
	comes(f, 2, 11, 102);
	writes(f, 15, 102);
	FEED(f, SLOT, 15, gc_start, .number = 1);
	FEED(f, SLOT, 25, gc_finish, .number = 1);
	feed_wake(f, 2, 30, 102, 101, 30);
	comes(f, 1, 30, 101);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "garbage collection? 10-30"));
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(a_backend_that_tells_no_calls_believes_the_java_thread)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 5, 101);
	PARK(f, 5, 2);
	feed_switch(f, 1, 10, 101, S, 0);
	feed_wake(f, 0, 20, 100, 101, 20);
	feed_switch(f, 1, 20, 0, R, 101);
	feed_switch(f, 1, 30, 101, D, 0); /* no park is uninterruptible */
	feed_end(f);
	ck_assert_str_eq(reasons[1], "running 0-10, park Sync@5 10-20, running 20-30, "
				     "not known 30-1000");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(collections_and_safepoints_stop_java_threads)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, RUNNABLE);
	comes(f, 2, 11, 102);
	writes(f, 15, 102);
	FEED(f, SLOT, 15, gc_start, .number = 1);
	FEED(f, SLOT, 25, gc_finish, .number = 1);
	feed_wake(f, 2, 30, 102, 101, 30);
	comes(f, 1, 30, 101);
	leaves(f, 1, 40, 101, S, "futex", BLOCKED, RUNNABLE);
	feed_wake(f, 2, 50, 102, 101, 50);
	comes(f, 1, 50, 101);
	leaves(f, 1, 60, 101, S, "futex", BLOCKED, RUNNABLE);
	feed_wake(f, 0, 70, 100, 101, 70);
	comes(f, 1, 70, 101);
	/* Without the VM's words the waker tells. */
	feed_switch(f, 1, 80, 101, S, 0);
	feed_wake(f, 2, 90, 102, 101, 90);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "garbage collection? 10-30"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "safepoint? 40-50"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "lock of the VM? 60-70"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "not known 80-90"));
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(who_has_waited_long_before_a_stop_waits_for_something_else)
{
	struct feed *f = why_new();

	f->man.end = 100000000;
	why_start(f);
	comes(f, 2, 5, 102);
	writes(f, 6, 102);
	/* It has waited for long, and gets what it waited for by a collection. */
	leaves(f, 1, 93, 101, S, "futex", BLOCKED, RUNNABLE);
	FEED(f, SLOT, 50000000, safepoint_begin, .operation = NAME_OTHER,
	     .source = JIS_SAFEPOINT_LOG);
	FEED(f, SLOT, 50000010, gc_start, .number = 2);
	FEED(f, SLOT, 50000080, gc_finish, .number = 2);
	feed_wake(f, 2, 50000090, 102, 101, 50000090);
	FEED(f, SLOT, 50000091, safepoint_end, .operation = NAME_OTHER,
	     .source = JIS_SAFEPOINT_LOG);
	comes(f, 1, 50000092, 101);
	/* It waits for the next collection, from before it was asked for. */
	leaves(f, 1, 50000100, 101, S, "futex", BLOCKED, RUNNABLE);
	FEED(f, SLOT, 50000110, gc_start, .number = 3);
	FEED(f, SLOT, 50000120, gc_finish, .number = 3);
	feed_wake(f, 2, 50000400, 102, 101, 50000400);
	comes(f, 1, 50000400, 101);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "lock of the VM? 93-50000090"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "garbage collection? 50000100-50000400"));
	no_conflicts(f);
	feed_free(f);
}
END_TEST

/* NAME_SYNC and NAME_OTHER are VM operations here. */
START_TEST(stops_have_the_name_of_the_vm_operation)
{
	struct feed *f = why_new();

	why_start(f);
	comes(f, 2, 5, 102);
	writes(f, 6, 102);
	FEED(f, SLOT, 8, safepoint_begin, .operation = NAME_SYNC, .source = JIS_SAFEPOINT_LOG);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, RUNNABLE);
	FEED(f, SLOT, 12, safepoint_reached, .operation = NAME_SYNC, .source = JIS_SAFEPOINT_LOG);
	feed_wake(f, 2, 30, 102, 101, 30); /* before the VM says that it is over */
	FEED(f, SLOT, 32, safepoint_end, .operation = NAME_SYNC, .source = JIS_SAFEPOINT_LOG);
	comes(f, 1, 33, 101);
	/* Again, as the VM's thread still holds the lock. */
	leaves(f, 1, 34, 101, S, "futex", BLOCKED, CONDITION);
	feed_wake(f, 2, 36, 102, 101, 36);
	comes(f, 1, 36, 101);
	leaves(f, 2, 37, 102, S, "futex", 0, 0);
	/* Let go by the VM's thread, but in no safepoint. */
	leaves(f, 1, 40, 101, S, "futex", BLOCKED, RUNNABLE);
	feed_wake(f, 0, 45, 100, 102, 45);
	comes(f, 2, 46, 102);
	feed_wake(f, 2, 50, 102, 101, 50);
	comes(f, 1, 50, 101);
	/* A collection, and neither words nor call. */
	FEED(f, SLOT, 58, safepoint_begin, .operation = NAME_OTHER, .source = JIS_SAFEPOINT_LOG);
	feed_switch(f, 1, 60, 101, S, 0);
	FEED(f, SLOT, 65, gc_start, .number = 1);
	FEED(f, SLOT, 85, gc_finish, .number = 1);
	feed_wake(f, 2, 90, 102, 101, 90);
	FEED(f, SLOT, 91, safepoint_end, .operation = NAME_OTHER, .source = JIS_SAFEPOINT_LOG);
	comes(f, 1, 92, 101);
	/* Somebody else wakes it. */
	FEED(f, SLOT, 95, safepoint_begin, .operation = NAME_SYNC, .source = JIS_SAFEPOINT_LOG);
	feed_switch(f, 1, 96, 101, S, 0);
	feed_wake(f, 0, 99, 100, 101, 99);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "safepoint? 'Sync' 10-30"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "safepoint? 'Sync' 34-36"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "safepoint? 40-50"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "garbage collection 'Other' 60-90"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "not known 96-99"));
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(names_that_are_defined_later_are_known_from_the_reading_before)
{
	struct jis_ev_string_def *def = calloc(1, sizeof(*def) + 16);
	struct feed *f = why_new();

	why_start(f);
	def->text_length = 8;
	strcpy(def->text, "Late");
	def->id = 9;
	string_ahead(f->m, 0, def);
	ck_assert_str_eq(model_name(f->m, string_name(f->m, 0, 9)), "Late");
	string_ahead(f->m, 0, def);
	ck_assert_str_eq(model_name(f->m, string_name(f->m, 0, 9)), "Late");
	/* Two meanings: which it has then is not known. */
	strcpy(def->text, "Later");
	string_ahead(f->m, 0, def);
	ck_assert_uint_eq(string_name(f->m, 0, 9), 0);
	strcpy(def->text, "Late");
	string_ahead(f->m, 0, def);
	ck_assert_uint_eq(string_name(f->m, 0, 9), 0);
	FEED_TEXT(f, DICT, 5, string_def, text, "Late", .id = 9);
	ck_assert_str_eq(model_name(f->m, string_name(f->m, 0, 9)), "Late");
	feed_end(f);
	feed_free(f);
	free(def);
}
END_TEST

/* What joins is Java code, that may load a class on its way to the wait. */
START_TEST(a_join_is_what_it_holds_and_a_wait_ends_by_entering)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 3, 101);
	FEED(f, SLOT, 3, join_begin, .java_tid = 2, .target_java_tid = 1, .timeout = -1);
	leaves(f, 1, 4, 101, D | JIS_TASK_IOWAIT, "read", NATIVE, RUNNABLE);
	feed_wake(f, 0, 5, 0, 101, 5);
	comes(f, 1, 5, 101);
	FEED(f, SLOT, 6, monitor_wait, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1,
	     .timeout = -1);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, OBJECT);
	feed_wake(f, 0, 20, 100, 101, 20);
	comes(f, 1, 20, 101);
	FEED(f, SLOT, 21, monitor_waited, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1);
	FEED(f, SLOT, 22, join_end, .java_tid = 2);
	FEED(f, SLOT, 30, monitor_wait, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1,
	     .timeout = 5000);
	leaves(f, 1, 31, 101, S, "futex", BLOCKED, OBJECT);
	feed_wake(f, 0, 40, 0, 101, 40);
	comes(f, 1, 40, 101);
	leaves(f, 1, 41, 101, S, "futex", BLOCKED, MONITOR);
	feed_wake(f, 0, 50, 100, 101, 50);
	comes(f, 1, 50, 101);
	FEED(f, SLOT, 51, monitor_waited, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1,
	     .timed_out = 1);
	FEED(f, SLOT, 60, sleep_begin, .java_tid = 2, .timeout = 7);
	leaves(f, 1, 61, 101, S, "futex", BLOCKED, SLEEPING);
	feed_end(f);
	ck_assert_str_eq(reasons[1],
			 "in native code? 0-4, disk 4-5, in the VM? 5-10, "
			 "join of T100 #1 10-20, in the VM? 20-31, "
			 "Object.wait Lock@1 31-40, in the VM? 40-41, monitor Lock@1 41-50, "
			 "in the VM? 50-61, sleep 61-1000");
	ck_assert_str_eq(java_waits, "T101 Object.wait Lock@1 6-21 inside, "
				     "T101 join of T100 #1 3-22 (10), "
				     "T101 Object.wait Lock@1 30-51 (18) timed out, "
				     "T101 sleep 60-1000... (939)");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

/* Who joins may be told of before whom it joins, who ends before the wait does. */
START_TEST(who_is_joined_may_begin_later)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 3, 101);
	FEED(f, SLOT, 3, join_begin, .java_tid = 2, .target_java_tid = 3, .timeout = -1);
	leaves(f, 1, 10, 101, S, "futex", BLOCKED, OBJECT);
	feed_wake(f, 0, 20, 100, 101, 20);
	comes(f, 1, 20, 101);
	java_starts(f, 25, 3, 103, 0);
	leaves(f, 1, 30, 101, S, "futex", BLOCKED, OBJECT);
	java_ends(f, 35, 3, 103);
	feed_wake(f, 0, 40, 100, 101, 40);
	comes(f, 1, 40, 101);
	FEED(f, SLOT, 41, join_end, .java_tid = 2);
	feed_end(f);
	ck_assert_ptr_nonnull(strstr(reasons[1], "join #3 10-20"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "join of T103 #3 30-40"));
	ck_assert_str_eq(java_waits, "T101 join of T103 #3 3-41 (20)");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(what_was_said_before_a_loss_is_not_believed)
{
	struct feed *f = why_new();

	why_start(f);
	feed_packet(f, SLOT, 5, 9, 0, 0, 101);
	PARK(f, 5, 2);
	feed_packet(f, SLOT, 40, 50, 7, 0, 101);
	leaves(f, 1, 10, 101, S, "futex", 0, 0);
	feed_wake(f, 0, 20, 100, 101, 20);
	comes(f, 1, 20, 101);
	/* Their begins are among the missing; but no sleep is around a join. */
	FEED(f, SLOT, 40, park_end, .java_tid = 2);
	FEED(f, SLOT, 41, join_end, .java_tid = 2);
	FEED(f, SLOT, 42, sleep_end, .java_tid = 2);
	PARK(f, 45, 2);
	leaves(f, 1, 46, 101, S, "futex", 0, 0);
	feed_end(f);
	ck_assert_str_eq(reasons[1], "running 0-10, futex 10-20, running 20-46, "
				     "park Sync@5 46-1000");
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_PARK_END], 0);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_JOIN_END], 0);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_SLEEP_END], 1);
	feed_free(f);
}
END_TEST

START_TEST(a_pause_makes_all_begins_unseen)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 5, 101);
	PARK(f, 5, 2);
	FEED(f, FEED_RECORDER, 6, session_mark, .mark = JIS_MARK_PAUSE);
	FEED(f, FEED_RECORDER, 30, session_mark, .mark = JIS_MARK_RESUME);
	FEED(f, SLOT, 31, park_end, .java_tid = 2);
	feed_end(f);
	ck_assert_str_eq(java_waits, "T101 park Sync@5 5-6...");
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(a_record_of_a_blocked_thread_is_a_conflict)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, S, "futex", 0, 0);
	writes(f, 20, 101);
	PARK(f, 20, 2);
	feed_end(f);
	ck_assert_uint_eq(f->counts.conflicts[MODEL_CONFLICT_OFF_CPU], 1);
	feed_free(f);
}
END_TEST

START_TEST(a_record_of_a_thread_that_is_being_woken_is_none)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, S, "futex", 0, 0);
	FEED(f, 0, 15, sched_waking, .tid = 101, .waker_tid = 0);
	writes(f, 20, 101);
	PARK(f, 20, 2);
	feed_end(f);
	no_conflicts(f);
	feed_free(f);
}
END_TEST

START_TEST(calls_do_not_nest)
{
	struct feed *f = why_new();

	why_start(f);
	FEED(f, 1, 10, syscall_enter, .tid = 101, .nr = nr("getpid"));
	FEED(f, 1, 11, syscall_enter, .tid = 101, .nr = nr("read"));
	FEED(f, 1, 12, syscall_exit, .tid = 101, .nr = nr("write"));
	FEED(f, 1, 13, syscall_exit, .tid = 101, .nr = nr("read")); /* maybe from before */
	FEED(f, 1, 14, syscall_enter, .tid = 101, .nr = nr("rt_sigreturn"));
	FEED(f, 1, 15, syscall_enter, .tid = 101, .nr = nr("execve"));
	FEED(f, 1, 16, syscall_exit, .tid = 101, .nr = nr("execveat"));
	feed_end(f);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_CALL_ENTER], 1);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_CALL_EXIT], 1);
	feed_free(f);
}
END_TEST

static void gc_over_a_loss(uint32_t writer, uint32_t finish, uint64_t unpaired, uint64_t time,
			   const char *reason)
{
	struct feed *f = why_new();
	struct report_run *rr = report_new();
	const struct report *r = report_get(rr);

	f->sinks[f->nr_sinks++] = report_sink(rr);
	why_start(f);
	feed_packet(f, SLOT, 0, 20, 0, 0, writer);
	FEED(f, SLOT, 15, gc_start, .number = 1);
	FEED(f, SLOT, 16, safepoint_begin, .source = 1);
	FEED(f, SLOT, 17, thread_bind, .tid = 102);
	/* What 102 wrote from 20 to 800 is lost. */
	feed_packet(f, SLOT, 800, 900, 2, 0, 102);
	leaves(f, 0, 300, 100, S, "futex", BLOCKED, RUNNABLE);
	feed_wake(f, 1, 400, 101, 100, 400);
	comes(f, 0, 400, 100);
	FEED(f, SLOT, 801, thread_bind, .tid = writer);
	FEED(f, SLOT, 804, safepoint_end, .source = 1);
	FEED(f, SLOT, 805, gc_finish, .number = finish);
	feed_end(f);
	ck_assert_uint_eq(r->processes[0].gc_count, 1);
	ck_assert_uint_eq(r->processes[0].gc_time, time);
	ck_assert_uint_eq(r->processes[0].gc_unpaired, unpaired);
	ck_assert_msg(strstr(reasons[0], reason) != NULL, "%s: %s", reason, reasons[0]);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_GC_FINISH], 0);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_SAFEPOINT_END], 0);
	report_free(rr);
	feed_free(f);
}

/* The end of 1 and the begin of 2 may be among what is missing. */
START_TEST(a_collection_goes_on_over_a_loss_only_where_its_number_says_so)
{
	gc_over_a_loss(102, 2, 2, 0, "lock of the VM? 300-400");
	gc_over_a_loss(102, 1, 0, 790, "lock of the VM? 300-400");
	/* Whoever tells of it has lost nothing. */
	gc_over_a_loss(101, 1, 0, 790, "garbage collection? 300-400");
}
END_TEST

/* docs/model.md says of each reason where it is known from, by its name in the first column. */
START_TEST(the_document_has_every_reason)
{
	bool told[MODEL_NR_REASONS] = {false}, in_table = false;
	FILE *in = fopen("docs/model.md", "r");
	char line[1024], name[64], *cell;

	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, "| reason | with the module |", 28) == 0)
			in_table = true;
		if (in_table && line[0] != '|')
			break;
		cell = in_table ? strchr(line + 1, '|') : NULL;
		if (!cell)
			continue;
		*cell = 0;
		for (int i = 0; i < MODEL_NR_REASONS; i++) {
			snprintf(name, sizeof(name), "`%s`", model_reason_name(i));
			told[i] |= strstr(line, name) != NULL;
		}
	}
	fclose(in);
	for (int i = 0; i < MODEL_NR_REASONS; i++)
		ck_assert_msg(told[i], "%s", model_reason_name(i));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_reason");
	TCase *t = tcase_create("model_reason");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_monitor_has_class_owner_and_waker);
	tcase_add_test(t, what_the_switch_says_of_a_running_thread_is_a_sample);
	tcase_add_test(t, threads_of_the_vm_run_what_their_name_says);
	tcase_add_test(t, system_calls_divide_running_time_and_say_what_for);
	tcase_add_test(t, descriptors_say_what_a_call_waits_for);
	tcase_add_test(t, sockets_have_peers);
	tcase_add_test(t, without_records_of_calls_the_switch_names_the_call);
	tcase_add_test(t, page_faults_and_disks);
	tcase_add_test(t, what_is_inside_of_a_java_wait_wins);
	tcase_add_test(t, what_a_thread_that_tells_its_waits_does_not_tell_is_the_vms);
	tcase_add_test(t, who_asks_for_a_stop_waits_for_it);
	tcase_add_test(t, whom_a_compiler_wakes_waited_for_a_lock_of_the_vm);
	tcase_add_test(t, a_backend_that_tells_no_calls_believes_the_java_thread);
	tcase_add_test(t, collections_and_safepoints_stop_java_threads);
	tcase_add_test(t, who_has_waited_long_before_a_stop_waits_for_something_else);
	tcase_add_test(t, stops_have_the_name_of_the_vm_operation);
	tcase_add_test(t, names_that_are_defined_later_are_known_from_the_reading_before);
	tcase_add_test(t, a_join_is_what_it_holds_and_a_wait_ends_by_entering);
	tcase_add_test(t, who_is_joined_may_begin_later);
	tcase_add_test(t, what_was_said_before_a_loss_is_not_believed);
	tcase_add_test(t, a_pause_makes_all_begins_unseen);
	tcase_add_test(t, a_record_of_a_blocked_thread_is_a_conflict);
	tcase_add_test(t, a_record_of_a_thread_that_is_being_woken_is_none);
	tcase_add_test(t, calls_do_not_nest);
	tcase_add_test(t, the_document_has_every_reason);
	tcase_add_test(t, a_collection_goes_on_over_a_loss_only_where_its_number_says_so);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
