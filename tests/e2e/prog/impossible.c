/* SPDX-License-Identifier: MIT */
/*
 * impossible NAME DIR: writes a session whose records cannot be in that order, but for one thing
 * all right; prints the time of the record that shows it, in s since the begin, as the tool has it.
 * impossible: lists all, a line each: NAME TIMES WHO WHAT, separated by tabs, as the tool should
 * tell it.
 *
 * Threads: main [77], Java thread 8, in slot 1; worker [78], Java thread 9, in slot 2. Each record
 * is a millisecond after the last.
 */
#include "tests/unit/test_trace_gen.h"

#define MS 1000000ull
#define MAIN_THREAD 77u
#define WORKER 78u
#define READ 0
#define WRITE 1
#define FUTEX 202
#define GETPID 39
#define GETPPID 110
/* HotSpot's words for a thread: _thread_in_Java, _thread_blocked; IN_OBJECT_WAIT */
#define VM_IN_JAVA 8
#define VM_BLOCKED 10
#define OS_OBJECT_WAIT 5

struct word_record {
	const char *word;
	uint32_t stream, id, len;
	const void *payload;
	const char *text;
};

#define RECORD(word, stream, event, ...)                                                           \
	{                                                                                          \
		word, stream, JIS_EV_##event, sizeof(struct jis_ev_##event),                       \
			&(const struct jis_ev_##event){__VA_ARGS__}, NULL                          \
	}
/* With a string, whose length word is not of the payload. */
#define NAMED(word, stream, event, name, ...)                                                      \
	{                                                                                          \
		word, stream, JIS_EV_##event, sizeof(struct jis_ev_##event) - 4,                   \
			&(const struct jis_ev_##event){__VA_ARGS__}, name                          \
	}
#define OBJECT .java_tid = 9, .class_name = 1, .hash = 7
#define SLEEPS .prev_tid = WORKER, .prev_state = JIS_TASK_INTERRUPTIBLE
#define NO_CALL .prev_syscall = JIS_SYSCALL_NONE

static const struct word_record records[] = {
	RECORD("runs-0", GEN_CPU0, sched_switch, .next_tid = WORKER, NO_CALL),
	RECORD("runs-1", GEN_CPU1, sched_switch, .next_tid = WORKER, NO_CALL),
	RECORD("sleeps-0", GEN_CPU0, sched_switch, SLEEPS, NO_CALL),
	RECORD("sleeps-1", GEN_CPU1, sched_switch, SLEEPS, NO_CALL),
	RECORD("dies-0", GEN_CPU0, sched_switch, .prev_tid = WORKER, .prev_state = JIS_TASK_DEAD,
	       NO_CALL),
	RECORD("main-sleeps-0", GEN_CPU0, sched_switch, .prev_tid = MAIN_THREAD,
	       .prev_state = JIS_TASK_INTERRUPTIBLE, NO_CALL),
	RECORD("waking", GEN_CPU1, sched_waking, .tid = WORKER, .context = JIS_WAKER_HARDIRQ),
	RECORD("wakeup", GEN_CPU1, sched_wakeup, .tid = WORKER),
	RECORD("wakes-main-0", GEN_CPU0, sched_waking, .tid = MAIN_THREAD, .waker_tid = WORKER),
	RECORD("reads-0", GEN_CPU0, sched_switch, SLEEPS, .prev_syscall = READ),
	RECORD("writes-0", GEN_CPU0, sched_switch, SLEEPS, .prev_syscall = WRITE),
	RECORD("in-object-wait-0", GEN_CPU0, sched_switch, SLEEPS, .prev_syscall = FUTEX,
	       .prev_vm_state = VM_BLOCKED, .prev_os_state = OS_OBJECT_WAIT),
	RECORD("in-java-0", GEN_CPU0, sched_switch, SLEEPS, .prev_syscall = FUTEX,
	       .prev_vm_state = VM_IN_JAVA),
	RECORD("enters-read-0", GEN_CPU0, syscall_io, .tid = WORKER, .nr = READ, .fd = -1),
	RECORD("enters-getpid-0", GEN_CPU0, syscall_enter, .tid = WORKER, .nr = GETPID),
	RECORD("leaves-getppid-0", GEN_CPU0, syscall_exit, .tid = WORKER, .nr = GETPPID),
	RECORD("contended", GEN_SLOT2, monitor_contended_enter, OBJECT),
	RECORD("entered", GEN_SLOT2, monitor_contended_entered, OBJECT),
	RECORD("entered-other", GEN_SLOT2, monitor_contended_entered, .java_tid = 9,
	       .class_name = 2, .hash = 8),
	RECORD("wait", GEN_SLOT2, monitor_wait, OBJECT),
	RECORD("waited", GEN_SLOT2, monitor_waited, OBJECT),
	RECORD("park", GEN_SLOT2, park_begin, .java_tid = 9),
	RECORD("parked", GEN_SLOT2, park_end, .java_tid = 9),
	RECORD("park-on-main", GEN_SLOT1, park_begin, .java_tid = 9),
	RECORD("sleep", GEN_SLOT2, sleep_begin, .java_tid = 9),
	RECORD("slept", GEN_SLOT2, sleep_end, .java_tid = 9),
	RECORD("join", GEN_SLOT2, join_begin, .java_tid = 9, .target_java_tid = 8),
	RECORD("joined", GEN_SLOT2, join_end, .java_tid = 9),
	RECORD("watch", GEN_SLOT2, descriptor_begin, .java_tid = 9, .fd = 5),
	RECORD("watched", GEN_SLOT2, descriptor_end, .java_tid = 9),
	RECORD("stack", GEN_SLOT2, wait_stack, .java_tid = 9, .stack = 1),
	RECORD("task", GEN_SLOT2, task_begin, OBJECT, .queued = -1),
	RECORD("task-done", GEN_SLOT2, task_end, OBJECT),
	NAMED("starts", GEN_DICT, java_thread_start, "worker", .java_tid = 9, .tid = WORKER),
	RECORD("ends", GEN_DICT, java_thread_end, .java_tid = 9, .tid = WORKER),
	NAMED("v-starts", GEN_DICT, java_thread_start, "handler", .java_tid = 50,
	      .flags = JIS_JTHREAD_VIRTUAL),
	RECORD("v-mounted", GEN_SLOT2, vthread_mount, .java_tid = 50),
	RECORD("v-unmounted", GEN_SLOT2, vthread_unmount, .java_tid = 50),
	RECORD("v-mounted-on-main", GEN_SLOT1, vthread_mount, .java_tid = 50),
	NAMED("u-starts", GEN_DICT, java_thread_start, "other", .java_tid = 51,
	      .flags = JIS_JTHREAD_VIRTUAL),
	RECORD("u-mounted", GEN_SLOT2, vthread_mount, .java_tid = 51),
	RECORD("collects", GEN_SLOT1, gc_start, .number = 1),
	RECORD("collected", GEN_SLOT1, gc_finish, .number = 1),
	RECORD("safepoint", GEN_SLOT1, safepoint_begin, .source = JIS_SAFEPOINT_PROBE),
	RECORD("safepoint-over", GEN_SLOT1, safepoint_end, .source = JIS_SAFEPOINT_PROBE),
	RECORD("calls-1", GEN_SLOT2, method_enter, .method = 1),
	RECORD("calls-2", GEN_SLOT2, method_enter, .method = 2),
	RECORD("returns-1", GEN_SLOT2, method_exit, .method = 1),
	RECORD("returns-2", GEN_SLOT2, method_exit, .method = 2),
};

#define BY_WORKER "worker [78]"
#define BY_MAIN "main [77]"

/* story: words; "!" before the record that shows it. */
static const struct plant {
	const char *name, *what, *who;
	int times;
	const char *story;
} plants[] = {
	{"monitor-end", "monitor entered without contended enter", BY_WORKER, 2,
	 "contended entered !entered entered"},
	{"wait-end", "Object.wait ends without begin", BY_WORKER, 1, "wait waited !waited"},
	{"park-end", "park ends without begin", BY_WORKER, 3, "park parked !parked parked parked"},
	{"sleep-end", "sleep ends without begin", BY_WORKER, 1, "sleep slept !slept"},
	{"join-end", "join ends without begin", BY_WORKER, 1, "join park parked joined !joined"},
	{"watch-end", "wait for a descriptor ends without begin", BY_WORKER, 1,
	 "watch park parked watched !watched"},
	{"nested", "wait inside of a wait that can hold none such", BY_WORKER, 1,
	 "park !wait waited parked"},
	{"unended", "wait ends while one inside of it goes on", BY_WORKER, 1, "join wait !joined"},
	{"object", "wait ends on another object than it began on", BY_WORKER, 1,
	 "contended !entered-other"},
	{"died", "thread ends inside of a wait", BY_WORKER, 1, "contended !ends"},
	{"started", "thread starts twice", BY_WORKER, 1, "park parked !starts"},
	{"wrong-thread", "Java thread writes on another's kernel thread", BY_WORKER, 1,
	 "park parked !park-on-main"},
	{"mounted", "mounted virtual thread is mounted", "handler", 1,
	 "v-starts v-mounted !v-mounted-on-main"},
	{"taken", "virtual thread is mounted on a taken carrier", "other", 1,
	 "v-starts u-starts v-mounted !u-mounted"},
	{"not-mounted", "virtual thread is active where it is not mounted", "handler", 1,
	 "v-starts v-mounted v-unmounted !v-unmounted"},
	{"task-end", "task ends without begin", BY_WORKER, 1, "task task-done !task-done"},
	{"stack", "stack of a wait outside of a wait", BY_WORKER, 1, "park stack parked !stack"},
	{"gc-start", "collection inside of a collection", BY_MAIN, 1, "collects !collects"},
	{"gc-finish", "collection ends without begin", BY_MAIN, 1, "collects collected !collected"},
	{"safepoint-begin", "safepoint inside of a safepoint", BY_MAIN, 1, "safepoint !safepoint"},
	{"safepoint-end", "safepoint is reached or ends without begin", BY_MAIN, 1,
	 "safepoint safepoint-over !safepoint-over"},
	{"call-enter", "system call inside of a system call", BY_WORKER, 1,
	 "runs-0 enters-getpid-0 !enters-getpid-0"},
	{"call-exit", "another system call ends than began", BY_WORKER, 1,
	 "runs-0 enters-getpid-0 !leaves-getppid-0"},
	{"method-exit", "method ends without begin", BY_WORKER, 1, "calls-1 !returns-2 returns-1"},
	{"method-unended", "method ends while one inside of it goes on", BY_WORKER, 1,
	 "calls-1 calls-2 !returns-1"},
	{"not-there", "thread leaves a CPU that it was not on", BY_WORKER, 1, "runs-0 !sleeps-1"},
	{"cpu-taken", "thread leaves a CPU that another one was on", BY_MAIN, 1,
	 "runs-0 !main-sleeps-0"},
	{"not-ready", "thread gets a CPU that waited, unwoken, or has ended", BY_WORKER, 1,
	 "runs-0 sleeps-0 !runs-1"},
	{"elsewhere", "thread gets a CPU while it runs on another", BY_WORKER, 1, "runs-0 !runs-1"},
	{"waker", "thread wakes another where it does not run", BY_WORKER, 1,
	 "runs-0 sleeps-0 !wakes-main-0"},
	{"woken", "thread is woken that has ended, or that was not made", BY_WORKER, 1,
	 "runs-0 dies-0 !wakeup"},
	{"call", "Java waits, the kernel sees an unrelated system call", BY_WORKER, 1,
	 "runs-0 park reads-0 waking !wakeup runs-0 parked"},
	{"words", "Java and the VM's words name different waits", BY_WORKER, 1,
	 "runs-0 park in-object-wait-0 waking !wakeup runs-0 parked"},
	{"in-java", "blocked in a futex while the VM's words say in Java", BY_WORKER, 1,
	 "runs-0 park in-java-0 waking !wakeup runs-0 parked"},
	{"off-cpu", "record of a blocked thread", BY_WORKER, 2,
	 "runs-0 sleeps-0 !park parked waking wakeup"},
	{"other-call", "another system call at the switch than was entered", BY_WORKER, 1,
	 "runs-0 enters-read-0 writes-0 waking !wakeup"},
};

/* Appends the record @word of @n characters to @g. */
static void write_word(struct gen *g, const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct word_record *r = &records[i];

		if (strlen(r->word) != n || memcmp(r->word, word, n) != 0)
			continue;
		gen_emit(g, r->stream, r->id, r->payload, r->len, r->text);
		return;
	}
	fprintf(stderr, "impossible: no record \"%.*s\"\n", (int)n, word);
	exit(1);
}

static void write_begin(struct gen *g)
{
	static const char *const names[] = {"main", "worker"}, *const strings[] = {"Lock", "Other"};

	for (uint32_t i = 0; i < 2; i++) {
		g->s[GEN_SLOT1 + i].b.proto.owner = MAIN_THREAD + i;
		GEN_EMIT(g, GEN_CPU0, thread_state, names[i], .tid = MAIN_THREAD + i,
			 .pid = GEN_PID, .ns_tid = MAIN_THREAD + i, .state = JIS_TASK_RUNNING,
			 .start_time = 5 + i);
		GEN_EMIT(g, GEN_DICT, java_thread_start, names[i], .java_tid = 8 + i,
			 .tid = MAIN_THREAD + i);
		GEN_EMIT(g, GEN_DICT, string_def, strings[i], .id = 1 + i);
		GEN_EMIT(g, GEN_DICT, traced_method, NULL, .id = 1 + i);
	}
}

static void write_session(const struct plant *p, const char *path)
{
	struct gen *g = gen_begin(path, 1);
	const char *word = p->story;
	uint64_t shown = 0;
	struct manifest *m;

	write_begin(g);
	while (*word) {
		size_t n = strcspn(word, " ");

		g->now += MS;
		if (*word == '!')
			shown = g->now;
		write_word(g, word + (*word == '!'), n - (*word == '!'));
		word += n + (word[n] == ' ');
	}
	g->now += MS;
	gen_end(g);
	m = gen_manifest(g, true);
	m->machine = strdup("x86_64");
	m->processes[0].vm_version = 21;
	GEN_CHECK(!manifest_save(g->dirfd, m));
	printf("%.6f\n", (double)(shown - m->begin) / 1e9);
	manifest_free(m);
	gen_drop(g);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		const struct plant *p = &plants[i];

		if (argc < 2) {
			printf("%s\t%d\t%s\t%s\n", p->name, p->times, p->who, p->what);
		} else if (argc == 3 && !strcmp(argv[1], p->name)) {
			write_session(p, argv[2]);
			return 0;
		}
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "usage: impossible [NAME DIR]\n");
	return 1;
}
